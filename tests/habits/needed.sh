#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# needed.sh: a machine without the libraries gets one message, which names each of
# them and says what to type (cmake/Needed.cmake).
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
rc=0
wants() { # wants WORDS: they are in the message, however it is broken into lines
	tr -s ' \n' ' ' <"$dir/said" | grep -qF -- "$1" && return
	echo "not said: $1"
	rc=1
}
if PKG_CONFIG_LIBDIR=$dir PKG_CONFIG_PATH='' cmake -S . -B "$dir/build" >"$dir/said" 2>&1; then
	echo "configured without a library"
	rc=1
fi
wants "libibverbs, librdmacm, libdw, libnl-3.0, libnl-route-3.0, libisal, json-c, libseccomp, libsystemd"
wants "tests/install-deps.sh build"
wants "apt-get install --no-install-recommends $(tests/install-deps.sh --list build)"
wants "dnf builddep redhat/uroce.spec"
# All modules that the build asks for are in there.
for module in $(grep -rhoE 'pkg_check_modules\([^)]*\)' CMakeLists.txt */CMakeLists.txt |
	tr '() ' '\n\n\n' | grep -E '^lib|^json-c$'); do
	wants "$module"
done
[ $rc = 0 ] || cat "$dir/said"
exit $rc
