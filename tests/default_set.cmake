# Runs of full products (form of the program × policy × path × kill point × victim): those that tests/default-set does not choose
# get the label "nightly".

# fenix_product_run(<test> <cost> <dimension=value>…): cost is what the run takes, compared with others.
function(fenix_product_run test cost)
  string(REPLACE ";" " " values "${ARGN}")
  set_property(DIRECTORY APPEND PROPERTY FENIX_PRODUCT_RUNS "${test} ${cost} ${values}")
endfunction()

# To be called at the end of a folder with such runs: cmake_language(DEFER CALL fenix_choose_default_set)
function(fenix_choose_default_set)
  get_property(runs DIRECTORY PROPERTY FENIX_PRODUCT_RUNS)
  if(NOT runs)
    return()
  endif()
  list(JOIN runs "\n" lines)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/product-runs.txt)
  file(WRITE ${file} "${lines}\n")
  execute_process(COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/default-set choose ${file}
                  OUTPUT_VARIABLE nightly COMMAND_ERROR_IS_FATAL ANY)
  set_property(TEST ${nightly} APPEND PROPERTY LABELS nightly)
endfunction()
