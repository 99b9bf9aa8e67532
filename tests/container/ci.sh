#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 600
# ci.sh RESULT.xml: containers of Debian's Podman, as an ordinary user, with images
# made here and no registry. Nothing is done in the host's network: Podman runs in
# a network namespace of this stage. It, the user, mounts and processes go at the end.
# shellcheck disable=SC2034  # what tests/fresh/root.sh reads
set -u
cd "$(dirname "$0")/../.." || exit 1
out=$1 release=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck source=tests/fresh/root.sh
. tests/fresh/root.sh
# What a container's programs need: extracted, not configured, and kept in
# build/roots (UROCE_ROOTS: in another folder).
packages=base-files,base-passwd,dash,coreutils,libc-bin,libibverbs1,librdmacm1,libnl-3-200
packages+=,libnl-route-3-200,libisal2,libjson-c5,libseccomp2,libsystemd0,ibverbs-utils
packages+=,rdmacm-utils
build=${UROCE_BUILD:-$PWD/build}
skip() {
	echo "$1"
	echo "<testsuites><testsuite name='container' tests='1' skipped='1'><testcase classname='container' name='podman'><skipped message='$1'/></testcase></testsuite></testsuites>" >"$out"
	exit 0
}
if [ "$(id -u)" != 0 ]; then skip "needs root, to make a user, a root and a network namespace"; fi
if ! reason=$(setpriv --reuid 65534 --regid 65534 --clear-groups unshare -Urm true 2>&1); then
	skip "no user namespaces here: $reason"
fi
new_root() { # new_root FOLDER
	local sources
	sources=$(tests/apt_sources.sh "$release") || return 1
	rm -rf --one-file-system "${roots:?}/container-$release"-*
	# Without the lock: mmdebstrap has a shell that knows file numbers of a digit only.
	mmdebstrap --mode=root --variant=extract --components=main \
		--aptopt='Acquire::Check-Valid-Until "false"' --include="$packages" \
		"$release" "$1.new" - <<<"$sources" 9>&- 2>&1 | tail -n 20
	[ "${PIPESTATUS[0]}" = 0 ] &&
		cp "$1.new/usr/share/base-passwd/passwd.master" "$1.new/etc/passwd" &&
		mv "$1.new" "$1"
}
for tool in podman mmdebstrap newuidmap slirp4netns; do
	command -v $tool >/dev/null || {
		echo "no $tool (tests/install-deps.sh container)"
		exit 1
	}
done
roots=$(realpath -m "${UROCE_ROOTS:-build/roots}")
kept=$roots/container-$release-$(echo "$packages" | sha256sum | cut -c1-12)
mkdir -p "$roots"
exec 9>"$roots/container.lock"
flock 9
[ -n "$UROCE_FULL" ] && rm -rf --one-file-system "$kept"
[ -d "$kept" ] || new_root "$kept" || exit 1
work=$(mktemp -d /var/tmp/uroce-container.XXXXXX) || exit 1
user=urocect$$
child=
clean() {
	trap '' INT TERM
	[ -n "$child" ] && kill -KILL "$child" 2>/dev/null && wait "$child"
	rm -f "/run/cdi/uroce-test-$user.json"
	rmdir /run/cdi 2>/dev/null
	userdel -f "$user" 2>/dev/null
	ip netns del "$user" 2>/dev/null
	rm -rf --one-file-system "$work" "$kept.new"
}
trap clean EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
useradd --no-create-home --home-dir "$work/home" --shell /bin/sh "$user" || exit 1
grep -q "^$user:" /etc/subuid || usermod --add-subuids 2000000-2065535 \
	--add-subgids 2000000-2065535 "$user" || exit 1
install -d -o "$user" -m 700 "$work/home" "$work/run"
ip netns add "$user" && ip -n "$user" link set lo up || exit 1
ip -n "$user" link add eth0 type veth peer name far0 &&
	ip -n "$user" link set far0 up && ip -n "$user" link set eth0 up &&
	ip -n "$user" addr add 192.0.2.1/24 dev eth0 &&
	ip -n "$user" route add default dev eth0 || exit 1
# Not by ip netns exec, whose /sys has no control groups. All that Podman starts
# is in here; the shell reaps what nobody waits for.
UROCE_CT_WORK=$work UROCE_CT_ROOT=$kept UROCE_CT_USER=$user UROCE_BUILD=$build \
	nsenter --net="/run/netns/$user" unshare --pid --mount --fork --kill-child=KILL --mount-proc \
	bash -c '"$@"; exit $?' - tests/pytest.sh "$out" --durations 8 tests/container &
child=$!
wait "$child"
rc=$?
child=
exit $rc
