#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# deb_cflags.sh [ARCHITECTURE]: prints what Debian's packages of it are compiled with. A build that has
# CFLAGS of this, and CMAKE_BUILD_TYPE=None, leaves in ccache what they consist of.
cd "$(dirname "$0")/.." || exit 1
export DEB_BUILD_MAINT_OPTIONS=hardening=+all
# shellcheck disable=SC2016  # expanded by the shell inside
exec dpkg-architecture ${1:+-a"$1"} -f -c \
	sh -c 'echo $(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS)'
