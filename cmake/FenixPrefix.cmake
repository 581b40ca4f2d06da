# What an installed prefix has besides libraries, headers and tools: fenix-env, fenix-bench, fenix-demo, manual pages, modulefiles, pkg-config, job
# scripts and examples. All of it finds the rest by its own place, so that the prefix may be moved.
set(fenix_share ${CMAKE_INSTALL_DATADIR}/fenix)
set(fenix_modules ${fenix_share}/modulefiles)
set(prefix_sources ${PROJECT_SOURCE_DIR}/tools/prefix)
set(prefix_build ${PROJECT_BINARY_DIR}/tools)
file(RELATIVE_PATH FENIX_PREFIX_FROM_BIN /p/${CMAKE_INSTALL_BINDIR} /p)
file(RELATIVE_PATH FENIX_PREFIX_FROM_PC /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
# From the file itself: its name counts as a folder.
file(RELATIVE_PATH FENIX_PREFIX_FROM_MODULE /p/${fenix_modules}/fenix/version /p)
set(FENIX_MODULE_FROM_PREFIX ${fenix_modules})
file(RELATIVE_PATH fenix_lib_from_bin /p/${CMAKE_INSTALL_BINDIR} /p/${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH fenix_lib_from_libexec /p/${CMAKE_INSTALL_LIBEXECDIR}/fenix /p/${CMAKE_INSTALL_LIBDIR})

# ------------------------------------------------------------------------------------------------------------------ programs

configure_file(${prefix_sources}/fenix-env.in ${prefix_build}/fenix-env @ONLY USE_SOURCE_PERMISSIONS)
install(PROGRAMS ${prefix_build}/fenix-env TYPE BIN)
install(FILES ${PROJECT_SOURCE_DIR}/scripts/env.sh DESTINATION ${fenix_share})

if(TARGET fenix_bench)
  set_target_properties(fenix_bench PROPERTIES INSTALL_RPATH $ORIGIN/${fenix_lib_from_bin})
  install(TARGETS fenix_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The program that scripts/demo runs is made of the same modules.
set(harness ${PROJECT_SOURCE_DIR}/tests/harness)
if(TARGET heat2d AND EXISTS ${harness})
  set_target_properties(heat2d PROPERTIES INSTALL_RPATH $ORIGIN/${fenix_lib_from_libexec})
  install(TARGETS heat2d RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/fenix)
  foreach(module __init__ environment job nodes processes progress shared_memory programs/__init__ programs/demo programs/demo_relaunch)
    configure_file(${harness}/${module}.py ${prefix_build}/demo/harness/${module}.py COPYONLY)
  endforeach()
  install(DIRECTORY ${prefix_build}/demo DESTINATION ${fenix_share} PATTERN __pycache__ EXCLUDE)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/nodes DESTINATION ${fenix_share})
  configure_file(${prefix_sources}/fenix-demo.in ${prefix_build}/fenix-demo @ONLY USE_SOURCE_PERMISSIONS)
  install(PROGRAMS ${prefix_build}/fenix-demo TYPE BIN)
  set(fenix_has_demo ON)
endif()

# ------------------------------------------------------------------------------------------- for compilers, shells and jobs

configure_file(${prefix_sources}/fenix.pc.in ${prefix_build}/fenix.pc @ONLY)
install(FILES ${prefix_build}/fenix.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_file(${prefix_sources}/modulefile.tcl.in ${prefix_build}/modulefile.tcl @ONLY)
configure_file(${prefix_sources}/modulefile.lua.in ${prefix_build}/modulefile.lua @ONLY)
install(FILES ${prefix_build}/modulefile.tcl DESTINATION ${fenix_modules}/fenix RENAME ${PROJECT_VERSION})
install(FILES ${prefix_build}/modulefile.lua DESTINATION ${fenix_modules}/fenix RENAME ${PROJECT_VERSION}.lua)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/slurm DESTINATION ${fenix_share} USE_SOURCE_PERMISSIONS)
if(EXISTS ${PROJECT_SOURCE_DIR}/examples)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${fenix_share} PATTERN __pycache__ EXCLUDE)
endif()

# -------------------------------------------------------------------------------------------------------------- manual pages

# fenix_man(<name> <what it does> <program or target> <command that prints its help>…)
function(fenix_man name what program)
  set(page ${PROJECT_BINARY_DIR}/man/${name}.1)
  add_custom_command(
    OUTPUT ${page}
    COMMAND ${Python3_EXECUTABLE} ${prefix_sources}/make-man ${page} ${name} ${PROJECT_VERSION} ${what} ${ARGN}
    DEPENDS ${prefix_sources}/make-man ${program}
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY FENIX_MAN_PAGES ${page})
endfunction()

# Generators of src/ need it as well.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
# Programs for another kind of machine do not print their help here.
if(fenix_has_programs AND NOT CMAKE_CROSSCOMPILING)
  fenix_man(fenix-env "sets what programs under mpirun need" ${prefix_build}/fenix-env ${prefix_build}/fenix-env --help)
  fenix_man(fenix-info "tells what the library finds on this machine" fenix-info $<TARGET_FILE:fenix-info> --help)
  fenix_man(fenix-run "runs an MPI program, and starts it again" ${PROJECT_SOURCE_DIR}/tools/fenix-run ${prefix_build}/fenix-run --help)
  if(TARGET fenix-index)
    fenix_man(fenix-index "looks after the datasets of a store" fenix-index $<TARGET_FILE:fenix-index> --help)
    fenix_man(fenix-halt "asks a job to end by itself" fenix-halt $<TARGET_FILE:fenix-halt> --help)
  endif()
  if(TARGET fenix_bench)
    fenix_man(fenix-bench "measures what it costs to protect data" fenix_bench $<TARGET_FILE:fenix_bench> --help)
  endif()
  if(fenix_has_demo)
    fenix_man(fenix-demo "shows that a program survives the death of ranks" ${prefix_build}/demo/harness/programs/demo.py ${CMAKE_COMMAND} -E env
              PYTHONPATH=${prefix_build}/demo PYTHONDONTWRITEBYTECODE=1 COLUMNS=100 ${Python3_EXECUTABLE} -m harness.programs.demo --help)
  endif()
  if(FENIX_BUILD_SCR)
    fenix_man(scr_run "runs a program for SCR by fenix-run" ${PROJECT_SOURCE_DIR}/tools/scr_run ${prefix_build}/scr_run --help)
    fenix_man(scr_index "looks after the datasets of a program for SCR" ${PROJECT_SOURCE_DIR}/tools/scr_index ${prefix_build}/scr_index --help)
    fenix_man(scr_halt "asks a job of a program for SCR to end by itself" ${PROJECT_SOURCE_DIR}/tools/scr_halt ${prefix_build}/scr_halt --help)
  endif()
  get_property(pages GLOBAL PROPERTY FENIX_MAN_PAGES)
  add_custom_target(fenix_man ALL DEPENDS ${pages})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
