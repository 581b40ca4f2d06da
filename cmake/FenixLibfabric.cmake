# libfabric, for the path between nodes. FENIX_WITH_LIBFABRIC: AUTO takes it if it is there, ON must have it.
#
# It is not linked, but loaded when it is first used (src/rma/fabric/library.hpp). FENIX_LIBFABRIC_VERSIONS: definitions of the
# symbol versions that linking would have chosen, since they belong to the headers.
set(FENIX_WITH_LIBFABRIC AUTO CACHE STRING "The fabric path, with libfabric: AUTO, ON or OFF")
set_property(CACHE FENIX_WITH_LIBFABRIC PROPERTY STRINGS AUTO ON OFF)
set(FENIX_HAVE_LIBFABRIC OFF)
set(FENIX_LIBFABRIC_VERSIONS)

if(FENIX_WITH_LIBFABRIC)
  pkg_check_modules(LIBFABRIC libfabric>=1.14)
  if(LIBFABRIC_FOUND)
    list(GET LIBFABRIC_LINK_LIBRARIES 0 fenix_libfabric)
    execute_process(COMMAND ${CMAKE_NM} -D ${fenix_libfabric} OUTPUT_VARIABLE fenix_symbols ERROR_QUIET)
    set(FENIX_HAVE_LIBFABRIC ON)
    foreach(function fi_getinfo fi_freeinfo fi_dupinfo fi_fabric fi_strerror)
      if(fenix_symbols MATCHES " ${function}@@(FABRIC_[0-9.]+)")
        list(APPEND FENIX_LIBFABRIC_VERSIONS "FENIX_VERSION_OF_${function}=\"${CMAKE_MATCH_1}\"")
      else()
        set(FENIX_HAVE_LIBFABRIC OFF)
      endif()
    endforeach()
  endif()
  if(FENIX_HAVE_LIBFABRIC)
    message(STATUS "Fabric path: libfabric ${LIBFABRIC_VERSION}")
  elseif(FENIX_WITH_LIBFABRIC STREQUAL "AUTO")
    message(STATUS "Fabric path: none, for want of libfabric 1.14 or later (shared library and headers)")
  else()
    message(FATAL_ERROR "FENIX_WITH_LIBFABRIC is ${FENIX_WITH_LIBFABRIC}, but there is no libfabric 1.14 or later, as a shared "
                        "library with its headers (Debian: libfabric-dev)")
  endif()
endif()
