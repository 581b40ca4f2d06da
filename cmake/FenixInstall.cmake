# Install and export: find_package(fenix) gives fenix, fenix::fenix, fenix::static, fenix::mpi and fenix::fortran.
include(CMakePackageConfigHelpers)
set(fenix_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fenix)

install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING
  PATTERN "*.h"
  PATTERN "*.hpp"
  PATTERN "scr" EXCLUDE)

install(TARGETS fenix fenix_mpi EXPORT fenixSharedTargets)
install(EXPORT fenixSharedTargets NAMESPACE fenix:: DESTINATION ${fenix_package_dir})
# Its own file: only the static library asks its users for spdlog, xxHash and ISA-L.
install(TARGETS fenix_static EXPORT fenixStaticTargets)
install(EXPORT fenixStaticTargets NAMESPACE fenix:: DESTINATION ${fenix_package_dir})

if(FENIX_HAVE_FORTRAN)
  install(TARGETS fenix_fortran EXPORT fenixFortranTargets)
  install(EXPORT fenixFortranTargets NAMESPACE fenix:: DESTINATION ${fenix_package_dir})
endif()

# Its own package: programs for SCR look for it, and find fenix by it.
if(FENIX_BUILD_SCR)
  set(scr_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/scr)
  install(FILES ${PROJECT_SOURCE_DIR}/include/scr/scr.h ${PROJECT_SOURCE_DIR}/include/scr/scrf.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS scr scrf EXPORT scrTargets)
  install(EXPORT scrTargets NAMESPACE scr:: DESTINATION ${scr_package_dir})
  configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/scrConfig.cmake.in ${PROJECT_BINARY_DIR}/scrConfig.cmake
                                INSTALL_DESTINATION ${scr_package_dir})
  # That of the interface.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/scrConfigVersion.cmake VERSION 3.1.0 COMPATIBILITY SameMajorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/scrConfig.cmake ${PROJECT_BINARY_DIR}/scrConfigVersion.cmake DESTINATION ${scr_package_dir})
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/fenixConfig.cmake.in ${PROJECT_BINARY_DIR}/fenixConfig.cmake
                              INSTALL_DESTINATION ${fenix_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fenixConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fenixConfig.cmake ${PROJECT_BINARY_DIR}/fenixConfigVersion.cmake
        DESTINATION ${fenix_package_dir})
