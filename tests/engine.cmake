# fenix_engine: the layers that can be tested in one process, without those above them. Some builds for tests are made of it
# alone, so that they are soon done.
set(engine_objects)
foreach(layer core rma keeper store parity base)
  list(APPEND engine_objects $<TARGET_OBJECTS:fenix_${layer}>)
endforeach()
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/recovery/groups/rejoin/*.cpp ${PROJECT_SOURCE_DIR}/src/messages/journal/*.cpp)
list(APPEND sources ${PROJECT_SOURCE_DIR}/src/checkpoint/line_record.cpp ${PROJECT_SOURCE_DIR}/src/checkpoint/trace.cpp)
add_library(fenix_engine STATIC EXCLUDE_FROM_ALL ${engine_objects} ${sources})
set_target_properties(fenix_engine PROPERTIES UNITY_BUILD ${FENIX_QUICK_BUILD})
target_include_directories(fenix_engine INTERFACE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(fenix_engine PUBLIC fenix_internal MPI::MPI_CXX)
