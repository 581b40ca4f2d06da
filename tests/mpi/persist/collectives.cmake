# Collective functions on persistent communicators.
add_executable(persist_collectives collectives.cpp collective_cases.cpp)
add_executable(persist_collective_rules collective_rules.cpp)
add_executable(persist_restart_collectives restart_collectives.cpp collective_cases.cpp)
foreach(program persist_collectives persist_collective_rules persist_restart_collectives)
  target_link_libraries(${program} PRIVATE fenix::mpi fenix::fenix fenix_warnings)
endforeach()

fenix_mpi_test(NAME persist.collective_rules PROGRAM persist_collective_rules RANKS 4 KILLED 1 LABELS sanitize)

# No death, each form; then each rank dies when it has stored everything, and its replacement restores all.
set(forms blocking immediate started)
foreach(form IN LISTS forms)
  fenix_mpi_test(NAME persist.collectives.${form} PROGRAM persist_collectives RANKS 4 ARGS jump 0 ${form} --turns)
endforeach()
foreach(victim 0 1 2 3)
  foreach(mode jump return)
    foreach(form IN LISTS forms)
      fenix_mpi_test(NAME persist.collectives.${mode}.${form}.rank${victim} PROGRAM persist_collectives RANKS 5 KILLED 1
                     ARGS ${mode} 1 ${form} --kill ${victim} VALUES mode=${mode} call=${form} victim=${victim})
    endforeach()
  endforeach()
endforeach()
foreach(path fabric window)
  fenix_mpi_test(NAME persist.collectives.${path} PROGRAM persist_collectives RANKS 5 KILLED 1 ARGS jump 1 immediate --kill 2
                 ENV FENIX_PATH=${path})
endforeach()
fenix_mpi_test(NAME persist.collectives.late PROGRAM persist_collectives RANKS 5 KILLED 1 ARGS jump 1 blocking --kill 1 --late 3
               LABELS sanitize)
fenix_mpi_test(NAME persist.collectives.again PROGRAM persist_collectives RANKS 7 KILLED 3
               ARGS return 3 started --kill 1 --kill 0 --kill 1)
# The whole job dies, and later ones restore from files.
add_test(NAME mpi.persist.restart.collectives
         COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check-restart-collectives $<TARGET_FILE:persist_restart_collectives>
                 ${PROJECT_BINARY_DIR}/mpi-tests/restart_collectives)
set_tests_properties(mpi.persist.restart.collectives PROPERTIES TIMEOUT 300 LABELS mpi ENVIRONMENT
                                                                "FENIX_MPI_HOME=${FENIX_MPI_PREFIX};${FENIX_TEST_ENVIRONMENT};FENIX_WARM_REPLACEMENT=off")
if(FENIX_FAULT_INJECTION)
  # A rank dies while it stores, or its replacement, process 4, while it restores.
  foreach(fault persist.copied:1:20 persist.held:2:60 persist.copies_sealed:0:33 persist.sealed:3:80)
    string(REPLACE ":" "." name ${fault})
    fenix_mpi_test(NAME persist.collectives.${name} PROGRAM persist_collectives RANKS 5 KILLED 1
                   ARGS jump 1 blocking --deaths 1 ENV FENIX_FAULT=${fault})
  endforeach()
  foreach(when 1 50 400)
    fenix_mpi_test(NAME persist.collectives.restoring.${when} PROGRAM persist_collectives RANKS 6 KILLED 2
                   ARGS return 2 blocking --kill 2 --deaths 2 ENV FENIX_FAULT=persist.taken:4:${when})
  endforeach()
endif()
