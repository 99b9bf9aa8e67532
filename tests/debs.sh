#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# debs.sh FOLDER: Debian's packages of the tree as it is, in FOLDER. Several stages install them:
# the first makes them, and they are kept in build/debs until the tree is another. With
# UROCE_FULL they are made each time, linked as a whole, without what ccache has: it names sources by another path.
set -eu
out=$(realpath "$1")
cd "$(dirname "$0")/.."
mkdir -p build
kept=$PWD/build/debs made=
trap 'rm -rf --one-file-system "$made"' EXIT
exec 9>build/debs.lock
flock 9
made=$(mktemp -d)
chmod 755 "$made"
git -c "safe.directory=$PWD" ls-files -z --cached --others --exclude-standard |
	tar --null -T - --ignore-failed-read --sort=name -cf "$made/tree.tar"
tree=$(sha256sum <"$made/tree.tar")
if [ -n "${UROCE_FULL:-}" ] || [ "$(cat "$kept/tree" 2>/dev/null)" != "$tree" ]; then
	rm -rf "$kept"
	mkdir "$made/src" "$made/debs"
	tar -C "$made/src" -xf "$made/tree.tar"
	# The folder has another name each time: what was compiled there is found again.
	export UROCE_WERROR=ON CCACHE_BASEDIR=$made UROCE_LINK_WHOLE=OFF
	[ -z "${UROCE_FULL:-}" ] || export UROCE_LINK_WHOLE=ON CCACHE_DISABLE=1
	(cd "$made/src" && dpkg-buildpackage -b -uc -us 9>&-)
	mv "$made"/*.deb "$made/debs"
	echo "$tree" >"$made/debs/tree"
	mv "$made/debs" "$kept"
fi
cp "$kept"/*.deb "$out"
