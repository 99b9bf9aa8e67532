#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# tests/apt_sources.sh on made-up machines, whose sources are of one format, of
# the other, and of both.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! command -v apt-get >/dev/null; then
	echo "no apt-get"
	exit 77
fi
own=$(. /etc/os-release && echo "$VERSION_CODENAME")
work=$(mktemp -d) failed=0
trap 'rm -rf "$work"' EXIT
etc=$work/etc lists=$work/lists
export APT_CONFIG=$work/apt.conf
cat >"$APT_CONFIG" <<-END
	Dir::Etc::sourcelist "$etc/sources.list";
	Dir::Etc::sourceparts "$etc/sources.list.d";
	Dir::State::lists "$lists";
END

machine() { # machine: with no sources yet
	rm -rf "$etc" "$lists"
	mkdir -p "$etc/sources.list.d" "$lists/partial"
}
lines() { # of Debian's archive, then of a made-up release
	local uri=$1
	cat <<-END
		deb $uri $own main contrib
		# deb $uri $own-backports main
		deb [arch=amd64] $uri $own-updates main
		deb-src $uri $own main
		deb $uri-security $own-security main
	END
}
paragraphs() {
	local uri=$1
	cat <<-END
		# a comment
		Types: deb deb-src
		URIs: $uri
		Suites: $own $own-updates
		Components: main
		 non-free-firmware
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

		Types: deb
		URIs: $uri-security
		Suites: $own-security
		Components: main
	END
}
strangers() { # as the sources of Docker, Microsoft and others look
	cat >"$etc/sources.list.d/docker.list" <<-END
		deb [arch=amd64 signed-by=/etc/apt/keyrings/docker.asc] https://docker.test/linux/debian $own stable
		deb https://vendor.test/debian/12/prod $own main
	END
	cat >"$etc/sources.list.d/other.sources" <<-END
		Types: deb
		URIs: https://other.test/node_20.x
		Suites: nodistro
		Components: main
		Signed-By:
		 -----BEGIN PGP PUBLIC KEY BLOCK-----
		 .
		 mQINBFit
		 -----END PGP PUBLIC KEY BLOCK-----

		Types: deb
		URIs: https://off.test/debian
		Suites: $own
		Components: main
		Enabled: no
	END
}
expect() { # expect NAME STATUS: and on standard input the lines, without the keys
	local name=$1 want got rc
	want=$(sort)
	got=$(tests/apt_sources.sh newer 2>"$work/err")
	rc=$?
	got=$(sed 's/ \[signed-by=[^]]*debian-archive-keyring.gpg\]//' <<<"$got" | sort)
	[ $rc = "$2" ] && [ "$got" = "$want" ] && return
	failed=1
	printf '%s: status %s, not %s\n' "$name" $rc "$2"
	diff <(echo "$want") <(echo "$got")
	cat "$work/err"
}
three() { # three URI
	echo "deb $1/ newer main"
	echo "deb $1/ newer-updates main"
	echo "deb $1-security/ newer-security main"
}

here=http://mirror.test/debian
machine
lines $here >"$etc/sources.list"
expect "lines" 0 < <(three $here)

machine
paragraphs $here >"$etc/sources.list.d/debian.sources"
expect "paragraphs" 0 < <(three $here)

# The file of Debian's archive may have any name.
machine
paragraphs $here >"$etc/sources.list.d/00-main.sources"
strangers
expect "paragraphs among strangers" 0 < <(three $here)

machine
lines $here >"$etc/sources.list"
strangers
expect "lines among strangers" 0 < <(three $here)

machine
lines http://one.test/debian >"$etc/sources.list"
paragraphs $here >"$etc/sources.list.d/debian.sources"
strangers
expect "both, two mirrors" 0 < <(three http://one.test/debian && three $here)

# By the name of its place in Debian's history, and a snapshot.
machine
cat >"$etc/sources.list" <<-END
	deb http://snapshot.test/archive/debian/20250520T000000Z oldstable main
	deb http://snapshot.test/archive/debian/20250520T000000Z stable-updates main
END
expect "stable" 0 <<-END
	deb http://snapshot.test/archive/debian/20250520T000000Z/ newer main
	deb http://snapshot.test/archive/debian/20250520T000000Z/ newer-updates main
END

# Once the archives have been asked, what they say counts, and not their path.
release() { # release FILE ORIGIN
	cat >"$lists/$1_dists_${own}_Release" <<-END
		Origin: $2
		Suite: oldstable
		Codename: $own
		Components: main
	END
	: >"$lists/$1_dists_${own}_main_binary-$(dpkg --print-architecture)_Packages"
}
machine
cat >"$etc/sources.list" <<-END
	deb http://mirror.test/deb-remote $own main
	deb http://vendor.test/debian $own main
END
release mirror.test_deb-remote Debian
release vendor.test_debian Vendor
expect "as they say" 0 <<-END
	deb http://mirror.test/deb-remote/ newer main
END

machine
strangers
expect "strangers only" 1 </dev/null
grep -q "no archive of Debian's for $own is" "$work/err" || failed=1
exit $failed
