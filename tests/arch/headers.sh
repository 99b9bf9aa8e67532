#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: headers.sh SOURCE_DIR C_COMPILER
# Every header compiles alone as C; those of kernel-abi, which other people's
# programs may include, also as C++.
set -u
cd "$1" || exit 1
cc=$2
status=0
count=0
flags="-I. $(pkg-config --cflags libnl-3.0 2>/dev/null)"
for header in $(find util transport cm kernel-abi engine device providers preload check cli \
		-name '*.h' 2>/dev/null | sort); do
	count=$((count + 1))
	echo "#include \"$header\"" | $cc -std=gnu11 -D_GNU_SOURCE -Wall -Werror \
		-fsyntax-only $flags -xc - || {
		echo "$header does not compile alone"
		status=1
	}
done
cxx=$(command -v c++ || command -v g++ || command -v clang++)
for header in kernel-abi/*.h; do
	[ -e "$header" ] || continue
	if [ -z "$cxx" ]; then
		echo "no C++ compiler: $header tried as C only"
		continue
	fi
	echo "#include \"$header\"" | $cxx -std=c++11 -Wall -Werror \
		-fsyntax-only $flags -xc++ - || {
		echo "$header does not compile as C++"
		status=1
	}
done
echo "$count headers"
[ "$count" -gt 0 ] || status=1
exit $status
