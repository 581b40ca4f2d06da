# Wrappers and tables of MPI's functions, written when the build is configured: FENIX_MPI_GENERATED is their folder.
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

find_path(FENIX_MPI_HEADER_DIR mpi.h PATHS ${MPI_C_HEADER_DIR} ${MPI_C_INCLUDE_DIRS} NO_DEFAULT_PATH REQUIRED)
file(GLOB extensions ${FENIX_MPI_HEADER_DIR}/openmpi/mpiext/*_c.h)
set(FENIX_MPI_HEADERS ${FENIX_MPI_HEADER_DIR}/mpi.h ${extensions})
set(FENIX_MPI_GENERATED ${PROJECT_BINARY_DIR}/generated)
set(FENIX_MPI_GENERATE ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/generate ${FENIX_MPI_HEADERS} --table
                       ${CMAKE_CURRENT_LIST_DIR}/functions.txt CACHE INTERNAL "The generator and what it reads")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FENIX_MPI_HEADERS} ${CMAKE_CURRENT_LIST_DIR}/generate
                                       ${CMAKE_CURRENT_LIST_DIR}/functions.txt)
execute_process(COMMAND ${FENIX_MPI_GENERATE} --out ${FENIX_MPI_GENERATED} COMMAND_ERROR_IS_FATAL ANY)
