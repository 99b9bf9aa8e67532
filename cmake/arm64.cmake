# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# To build for arm64 on another Debian, in a root of its own, since arm64's
# libraries are not all installable beside the host's (tests/install-deps.sh
# cross; tests/all.sh arm64 does it all):
#   cmake -S . -B build/arm64 -DCMAKE_TOOLCHAIN_FILE=cmake/arm64.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR}
  /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
