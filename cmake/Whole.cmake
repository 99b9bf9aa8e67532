# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Where packets go, small functions of many files call each other. What runs them
# is optimized as a whole when it is linked (-flto): its libraries have code for that beside the
# ordinary one, which the tests link. So with gcc, and without sanitizers; not where a
# distribution's flags say -flto, or -fno-lto, for everything.
option(UROCE_WHOLE "optimize uroced, the engine and the provider as a whole" ON)
# That takes half of the time of a build with a cache. OFF: all is compiled for it, as a cache has it of another
# build, and linked from the ordinary code.
option(UROCE_LINK_WHOLE "with UROCE_WHOLE: also when they are linked" ON)
set(UROCE_IS_WHOLE OFF)
if(UROCE_WHOLE AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT UROCE_SANITIZE AND
   NOT UROCE_FUZZ AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND
   NOT CMAKE_C_FLAGS MATCHES "-f(no-)?lto")
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS "-flto=auto -ffat-lto-objects")
  check_c_source_compiles("int main(void) { return 0; }" UROCE_HAVE_LTO)
  unset(CMAKE_REQUIRED_FLAGS)
  set(UROCE_IS_WHOLE ${UROCE_HAVE_LTO})
endif()
set(UROCE_IS_LINKED_WHOLE OFF)
if(UROCE_IS_WHOLE AND UROCE_LINK_WHOLE)
  set(UROCE_IS_LINKED_WHOLE ON)
endif()
# The linker would optimize whatever has that code; -flto takes this back, and -flto=auto alone does not.
if(UROCE_IS_WHOLE)
  add_link_options(-fno-lto)
endif()

# The library gets the code for it.
function(ur_part_of_whole library)
  if(UROCE_IS_WHOLE)
    target_compile_options(${library} PRIVATE -flto=auto -ffat-lto-objects)
  endif()
endfunction()

# The program, or plugin, is linked so. Where a package's flags take the build's folder out of
# what is compiled (-ffile-prefix-map), it is still in the ordinary code of these libraries, as
# the assembler's: a program of a package is linked so, too, if it has but one file of them.
function(ur_whole target)
  if(UROCE_IS_LINKED_WHOLE)
    target_link_options(${target} PRIVATE -flto -flto=auto)
  endif()
endfunction()
