# fenix_warnings: what the library, its tests and its examples are compiled with. Not part of what users inherit.
add_library(fenix_warnings INTERFACE)
target_compile_options(
  fenix_warnings
  INTERFACE -Wall
            -Wextra
            -Wpedantic
            -Wconversion
            $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow>
            $<$<COMPILE_LANGUAGE:Fortran>:-std=f2018>
            $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
            # GCC 12 sees overlaps in additions of strings where there are none (GCC bug 105651).
            $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
            $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>
            $<$<BOOL:${FENIX_WERROR}>:-Werror>)

# A fenix::CommException may travel through C code of the application's tests and examples.
add_compile_options($<$<COMPILE_LANGUAGE:C>:-fexceptions>)

if(FENIX_COVERAGE)
  add_link_options(--coverage)
endif()
if(FENIX_SANITIZE)
  add_compile_options(-fsanitize=${FENIX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FENIX_SANITIZE})
  if(FENIX_FUZZ)
    # Half of the time that clang takes for large units. Sanitized tests, which read the corpus too, do check additions to pointers.
    add_compile_options(-fno-sanitize=pointer-overflow)
  endif()
  if(FENIX_SANITIZE STREQUAL thread)
    # GCC says that its thread sanitizer does not know fences. Where they are used, what they order is atomic as well.
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()
