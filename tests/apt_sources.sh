#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# apt_sources.sh RELEASE: the lines of a sources.list for a root of that release
# of Debian, from where this machine's own packages come. apt reads this
# machine's sources, so that their format does not matter. Left out are other
# archives with their keys, other components and what is disabled.
#
# An archive says in its Release file whose it is; before apt has asked for that
# (`apt-get update`) its path has to tell.
set -u
release=$1
own=$(. /etc/os-release && echo "$VERSION_CODENAME")
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# shellcheck disable=SC2016  # expanded by apt
format='$(REPO_URI)dists/$(RELEASE)|$(ORIGIN)|$(CODENAME)'
declare -A origin=() codename=()
while IFS='|' read -r place o c; do
	origin[$place]=$o codename[$place]=$c
done < <(apt-get indextargets --format "$format" 'Created-By: Packages')
lines=$(apt-get update --print-uris |
	sed -nE "s,^'(https?://.*/dists/[^ ]*)/main/binary-[^/]*/Packages[.'].*,\1,p" |
	awk '!seen[$0]++' | while read -r place; do
	uri=${place%/dists/*}/ suite=${place##*/dists/}
	if [ -n "${origin[$place]-}" ]; then
		[ "${origin[$place]}" = Debian ] || continue
		suite=${codename[$place]:-$suite}
	elif ! [[ $uri =~ /debian(-security)?/([0-9]{8}T[0-9]{6}Z/)?$ ]]; then
		continue
	fi
	[[ $suite =~ ^(old)*stable ]] && suite=$own${suite#"${BASH_REMATCH[0]}"}
	case $suite in
	"$own" | "$own-updates" | "$own-security")
		# Unstable has no updates of its own.
		[[ $release == sid && $suite != "$own" ]] ||
			echo "deb [signed-by=$keys] $uri $release${suite#"$own"} main"
		;;
	esac
done)
if ! grep -q " $release main$" <<<"$lines"; then
	echo "apt_sources.sh: no archive of Debian's for $own is among this machine's" \
		"apt sources, or only apt-get update can tell which it is" >&2
	exit 1
fi
echo "$lines"
