# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Every library that the build needs, looked for before anything else, so that
# a machine without them gets one message that says what to type.
find_package(PkgConfig QUIET)
set(missing "")
if(NOT PKG_CONFIG_FOUND)
  list(APPEND missing pkg-config)
else()
  foreach(module libibverbs librdmacm libdw libnl-3.0 libnl-route-3.0 libisal json-c
      libseccomp libsystemd)
    # Who names a libibverbs of his own may have none installed.
    if(module STREQUAL "libibverbs" AND IBVERBS_LIBRARY AND IBVERBS_INCLUDE)
      continue()
    endif()
    pkg_check_modules(UR_HAVE_${module} QUIET ${module})
    if(NOT UR_HAVE_${module}_FOUND)
      list(APPEND missing ${module})
    endif()
  endforeach()
endif()
if(missing)
  string(REPLACE ";" ", " missing "${missing}")
  execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tests/install-deps.sh --list build
    OUTPUT_VARIABLE packages OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  message(FATAL_ERROR "uroce needs, and this machine has not: ${missing}\n"
    "On Debian or Ubuntu, as root:\n"
    "  tests/install-deps.sh build\n"
    "which is\n"
    "  apt-get install --no-install-recommends ${packages}\n"
    "On Fedora:\n"
    "  dnf builddep redhat/uroce.spec")
endif()
