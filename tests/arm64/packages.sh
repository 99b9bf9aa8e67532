#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# packages.sh FOLDER: Debian's packages for arm64 of the tree that this is in,
# made on another machine, into FOLDER; what they hold is looked at.
set -eu
cd "$(dirname "$0")/../.."
folder=$(realpath -m "$1") version=$(dpkg-parsechangelog -S Version)
source=$folder/uroce-$version
rm -rf "$folder"
mkdir -p "$source"
git ls-files -z | tar --null -T - -cf - | tar -C "$source" -xf -
(cd "$source" && UROCE_WERROR=ON dpkg-buildpackage -aarm64 -Pcross,nocheck -b -uc -us)
rm -rf "$source"
# All programs and libraries in there are arm64's.
mkdir "$folder/all"
for file in "$folder"/*_arm64.deb; do
	dpkg-deb -x "$file" "$folder/all"
done
find "$folder/all" -type f -exec readelf -h {} + 2>/dev/null |
	sed -n 's/^ *Machine: *//p' | sort | uniq -c | tee "$folder/machines"
[ "$(awk '{ print $2 }' "$folder/machines")" = AArch64 ]
# And they hold what those of every architecture do.
for file in "$folder"/*_arm64.deb; do
	[[ $file == *-dbgsym_* ]] || tests/package/contents.sh "$file"
done | diff <(grep -v '^#' tests/package/contents) -
echo "as tests/package/contents"
