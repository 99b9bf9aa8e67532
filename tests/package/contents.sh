#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# contents.sh FILE.deb...: which files each package has, with TRIPLET for the
# name of the architecture. tests/package/contents is what this should print, but
# for its first lines.
for deb in "$@"; do
	arch=$(dpkg-deb -f "$deb" Architecture)
	triplet=$(dpkg-architecture -a "$arch" -q DEB_HOST_MULTIARCH 2>/dev/null)
	dpkg-deb -f "$deb" Package
	dpkg-deb -c "$deb" | awk '{ print $6 }' | grep -v '/$' |
		sed "s/$triplet/TRIPLET/; s/^\./ /" | LC_ALL=C sort
done
