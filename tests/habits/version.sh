#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: version.sh [BUILD]
# The version stands in CMakeLists.txt; what else must say it says the same, and
# nothing else says one. So do the programs in BUILD.
set -u
cd "$(dirname "$0")/../.." || exit 1
version=$(sed -n 's/^project(uroce VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
status=0
is() { # is WHAT VALUE
	[ "$2" = "$version" ] && return
	echo "$1 says '$2', CMakeLists.txt '$version'"
	status=1
}
[ -n "$version" ] || { echo "no version in CMakeLists.txt"; exit 1; }
is debian/changelog "$(sed -n '1s/^uroce (\([0-9.]*\).*/\1/p' debian/changelog)"
is redhat/uroce.spec "$(sed -n 's/^Version: *//p' redhat/uroce.spec)"
is "redhat/uroce.spec's %changelog" \
	"$(sed -n '/^%changelog/{n;s/.* - \([0-9.]*\)-.*/\1/p}' redhat/uroce.spec)"
is CHANGELOG.md "$(sed -n 's/^## \([0-9.]*\) (.*/\1/p' CHANGELOG.md | head -n 1)"
for tag in $(git tag --points-at HEAD 'v*' 2>/dev/null); do
	is "this commit's tag" "${tag#v}"
done
for program in uroce rdma-check; do
	[ $# -gt 0 ] && is "$program --version" "$("$1/bin/$program" --version | sed "s/^$program //")"
done
# Nothing else knows it: only changelogs, and the three above.
others=$(grep -rlwF --exclude-dir='build*' --exclude-dir=.git --exclude-dir=corpus \
	--exclude='*.pcap' "$version" . | grep -Ev \
	'^\./(CMakeLists.txt|debian/changelog|redhat/uroce.spec|CHANGELOG.md)$')
if [ -n "$others" ]; then
	echo "these say $version too, and would have to be changed with it:"
	echo "$others"
	status=1
fi
echo "version $version"
exit $status
