#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# RDMA devices for the steps of a CI job, or for a shell. What action.yml,
# container/gitlab-ci.yml and doc/containers.md call.
#   setup-ci.sh install     uroce itself: packages, or built from this tree
#   setup-ci.sh start       the devices; leaves the environment for what follows
#   setup-ci.sh report      what one wants to know after a failure
#   setup-ci.sh stop        devices and interfaces away (a runner that stays)
# Settings, from the environment; each has a default:
#   UROCE_CI_PACKAGES  .deb files to install, names or a pattern, of which those for
#                      this machine are taken (debian/release.sh makes some for each
#                      release and architecture); without any, what is installed is
#                      used, else this tree is built
#   UROCE_CI_NETDEV    the interface; default: new ones, with addresses
#                      198.18.I.1/24, where one may make them, else the one of
#                      the default route
#   UROCE_CI_NAME      what the device is called (uroce0)
#   UROCE_CI_DEVICES   how many, names counting up from that one (1)
#   UROCE_CI_ONLY      hide the RDMA devices that the host has: true or false (true)
#   UROCE_CI_HOST      for every program of this machine, not just those with the
#                      environment: true or false (false). Takes root or sudo; the
#                      device's directory is /run/uroce. `stop` undoes it
#   UROCE_CI_DIR       where it all lies ($RUNNER_TEMP or /tmp, uroce-ci)
# Afterwards LD_PRELOAD, UROCE_RUN_DIR and PATH are in $GITHUB_ENV and
# $GITHUB_PATH where there are such files, and always in UROCE_CI_DIR/env.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
netdev=${UROCE_CI_NETDEV:-} name=${UROCE_CI_NAME:-uroce0} count=${UROCE_CI_DEVICES:-1}
dir=${UROCE_CI_DIR:-${RUNNER_TEMP:-/tmp}/uroce-ci} host=${UROCE_CI_HOST:-false}
run=$dir/run
[ "$host" = true ] && run=/run/uroce
# The tools below are none of the programs under test.
unset LD_PRELOAD

say() { echo "uroce: $*"; }
# Others make directories in /tmp, too, and what is in this one is run. Nobody but
# its owner, who runs this, can write in it or put another in its place.
owner_and_mode() { stat -c '%u %a' "$1" 2>/dev/null; }
is_ours() { # is_ours: $dir may be trusted
	local uid mode
	[ -d "$dir" ] && [ ! -L "$dir" ] || return 1
	read -r uid mode < <(owner_and_mode "$dir") || return 1
	[ "$uid" = "$(id -u)" ] && ((!(0$mode & 022))) || return 1
	read -r uid mode < <(owner_and_mode "$(dirname "$dir")") || return 1
	[ "$uid" = "$(id -u)" ] || [ "$uid" = 0 ] || return 1
	((!(0$mode & 002) || (0$mode & 01000)))
}
if [ "${1:-}" = install ] || [ "${1:-}" = start ]; then
	mkdir -p "$(dirname "$dir")"
	(umask 022 && mkdir "$dir") 2>/dev/null || true
fi
if [ -e "$dir" ] || [ -L "$dir" ]; then
	if ! is_ours; then
		say "$dir is not $(id -un)'s alone: remove it, or choose another (UROCE_CI_DIR)" >&2
		exit 1
	fi
fi
if [ -d "$dir/bin" ]; then PATH=$dir/bin:$PATH; fi

root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }
may() { root true 2>/dev/null; }
fail() {
	[ -n "${GITHUB_ACTIONS:-}" ] && echo "::error title=uroce::$*"
	say "$*" >&2
	report >&2 || true
	exit 1
}
group() { # group TITLE CMD...: folded in GitHub's log; its failure is no failure
	if [ -n "${GITHUB_ACTIONS:-}" ]; then echo "::group::$1"; else echo "== $1"; fi
	"${@:2}" 2>&1 || true
	if [ -n "${GITHUB_ACTIONS:-}" ]; then echo "::endgroup::"; fi
}

report() {
	group "uroce: system" sh -c 'uname -a; grep PRETTY_NAME /etc/os-release; id; ulimit -l; uroce --version'
	group "uroce: devices" uroce link --run-dir "$run"
	group "uroce: doctor" uroce doctor --run-dir "$run"
	group "uroce: open" uroce res --run-dir "$run" session
	group "uroce: counters" uroce stat --run-dir "$run"
	group "uroce: interfaces" ip -br addr
	group "uroce: log of the device" tail -n 100 "$dir/uroced.log"
}

for_here() { # for_here DEB...: the files among these that are for this machine
	local deb libc here version release
	local -A of=()
	libc=$(dpkg-query -W -f '${Version}\n' libc6 | head -n 1)
	here=$(dpkg --print-architecture)
	for deb; do
		[ "$(dpkg-deb -f "$deb" Architecture)" = "$here" ] || continue
		version=$(dpkg-deb -f "$deb" Version)
		release=any
		[[ $version == *~deb* ]] && release=${version##*~deb}
		of[$release]+=$(realpath "$deb")$'\n'
	done
	printf '%s' "${of[any]:-}"
	# Those for Debian 13 want its glibc; those for 12 do there as well.
	for release in 13 12; do
		[ $release = 13 ] && dpkg --compare-versions "$libc" lt 2.41 && continue
		printf '%s' "${of[$release]:-}"
		[ -z "${of[$release]:-}" ] || break
	done
}

install() {
	mkdir -p "$dir/bin"
	if [ -n "${UROCE_CI_PACKAGES:-}" ]; then
		local debs
		# shellcheck disable=SC2086  # names and patterns
		mapfile -t debs < <(for_here $UROCE_CI_PACKAGES)
		[ ${#debs[@]} != 0 ] || fail "no package for this machine: $UROCE_CI_PACKAGES"
		set -- root env DEBIAN_FRONTEND=noninteractive \
			apt-get -q install -y --no-install-recommends "${debs[@]}"
		# The lists of a runner's image are some days old, which may do.
		"$@" || { root apt-get -q update && "$@"; }
	elif command -v uroce >/dev/null && [ ! -e "$dir/bin/uroce" ]; then
		say "$(uroce --version) is installed"
	else
		root "$top/tests/install-deps.sh" build
		cmake -S "$top" -B "$dir/build" -G Ninja -DUROCE_TESTS=OFF \
			-DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_SYSCONFDIR=/etc
		cmake --build "$dir/build"
		if [ "$host" = true ]; then # every program's: nobody but root can write there
			root cmake --install "$dir/build" --strip
		else
			ln -sf "$dir/build/bin/"{uroce,uroced} "$dir/bin/"
		fi
	fi
}

new_netdev() { # new_netdev I: sets netdev; false where one may not
	netdev=roce$1
	ip link show "$netdev" >/dev/null 2>&1 && return 0
	may || return 1
	root ip link add "$netdev" type dummy 2>/dev/null ||
		root ip link add "$netdev" type veth peer name "far$1" 2>/dev/null || return 1
	if ip link show "far$1" >/dev/null 2>&1; then root ip link set "far$1" mtu 9000 up; fi
	root ip link set "$netdev" mtu 9000 up &&
		root ip addr add "198.18.$1.1/24" dev "$netdev" &&
		echo "$netdev" >>"$dir/netdevs"
}

as_owner() { # as_owner CMD...: as the user whose the device is
	if [ "$host" = true ]; then root "$@"; else "$@"; fi
}

nth() { # nth I: the name of device I, counting up from $name
	local number=${name##*[!0-9]}
	if [ "$count" = 1 ]; then echo "$name" && return; fi
	echo "${name%"$number"}$((10#${number:-0} + $1))"
}

put() { # put NAME VALUE: into the environment of what follows
	printf 'export %s=%q\n' "$1" "$2" >>"$dir/env.sh"
	if [ -n "${GITHUB_ENV:-}" ]; then echo "$1=$2" >>"$GITHUB_ENV"; fi
}

start() {
	local t0 i preload args=()
	t0=$(date +%s%N)
	mkdir -p "$dir"
	command -v uroced >/dev/null || PATH=$PATH:/usr/sbin:/sbin
	command -v uroce >/dev/null || fail "no uroce here: first '$0 install'"
	case $count in '' | *[!0-9]* | 0) fail "$count devices" ;; esac
	[ -n "$netdev" ] && [ "$count" != 1 ] && fail "one interface, $netdev, for $count devices"
	if [ -n "$netdev" ]; then
		ip link show "$netdev" >/dev/null 2>&1 || fail "no interface $netdev"
		args+=(--netdev "$netdev" --name "$name")
	else
		for ((i = 0; i < count; i++)); do
			if ! new_netdev "$i"; then
				[ "$count" = 1 ] || fail "no right to make $count interfaces"
				say "no right to make an interface: the default route's is taken"
				args+=(--name "$name")
				break
			fi
			args+=(--netdev "$netdev" --name "$(nth "$i")")
		done
	fi
	[ "${UROCE_CI_ONLY:-true}" = true ] && args+=(--only)
	rm -f "$dir/ready" "$dir/env.sh"
	mkfifo "$dir/ready"
	: >"$dir/uroced.log"
	# shellcheck disable=SC2016  # expanded by that shell
	as_owner sh -c 'cd "$1" && shift && exec 3<>ready >>uroced.log 2>&1 </dev/null &&
		{ setsid "$@" & echo $! >pid; }' - "$dir" uroced --run-dir "$run" --ready-fd 3 "${args[@]}"
	exec 4<>"$dir/ready"
	until read -r -t 0.1 _ <&4; do
		lives "$(cat "$dir/pid")" || fail "the device did not start"
		[ $((($(date +%s%N) - t0) / 1000000000)) -lt 30 ] || fail "the device is not ready"
	done
	exec 4>&-
	uroce link --run-dir "$run" | grep -q 'gid 0' || fail "the device has no address"
	if [ "$host" = true ]; then
		: >"$dir/host"
		root uroce enable --host --mount || fail "not for every program"
	else # what uroce run would set, for programs that it does not start
		# shellcheck disable=SC2016  # expanded by that shell
		preload=$(uroce run --run-dir "$run" -- sh -c 'echo "$LD_PRELOAD"') ||
			fail "no program sees the device"
		put LD_PRELOAD "$preload"
	fi
	put UROCE_RUN_DIR "$run"
	put UROCE_CI "$here/setup-ci.sh"
	put UROCE_CI_DIR "$dir"
	# shellcheck disable=SC2016  # expanded by who reads it
	if [ -d "$dir/bin" ]; then printf 'export PATH=%q:$PATH\n' "$dir/bin" >>"$dir/env.sh"; fi
	if [ -n "${GITHUB_PATH:-}" ]; then echo "$dir/bin" >>"$GITHUB_PATH"; fi
	if [ -n "${GITHUB_OUTPUT:-}" ]; then
		{ echo "run-dir=$run" && echo "report=bash $here/setup-ci.sh report"; } >>"$GITHUB_OUTPUT"
	fi
	uroce link --run-dir "$run"
	say "ready after $((($(date +%s%N) - t0) / 1000000)) ms; environment in $dir/env.sh"
}

lives() { # lives PID: has not ended (in a container nobody may reap it)
	grep -q '^State:.[^Z]' "/proc/$1/status" 2>/dev/null
}
serves() { # serves PID: a uroced that lives
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" = uroced ] && lives "$1"
}

stop() {
	local pid dev i=0
	if [ -e "$dir/host" ]; then
		host=true run=/run/uroce
		root uroce disable --host
	fi
	pid=$(cat "$dir/pid" 2>/dev/null) || pid=
	if [ -n "$pid" ] && serves "$pid"; then
		as_owner sh -c "kill $pid" # a small system has no other kill
		while serves "$pid"; do
			[ $((i += 1)) -lt 500 ] || { as_owner sh -c "kill -KILL $pid" && break; }
			sleep 0.02
		done
	fi
	while read -r dev; do
		root ip link del "$dev" || true
	done < <(cat "$dir/netdevs" 2>/dev/null)
	if [ -e "$dir/build/install_manifest.txt" ]; then
		root xargs -a "$dir/build/install_manifest.txt" -d '\n' rm -f
		root rm "$dir/build/install_manifest.txt"
		root find /usr/local /etc -xdev -depth -type d -empty \
			\( -name uroce -o -name rdma-check \) -delete
	fi
	as_owner rm -rf "$run" "$dir/pid"
	rm -rf "$dir/netdevs" "$dir/env.sh" "$dir/host" "$dir/ready"
}

case ${1:-} in
install | start | report | stop) "$1" ;;
*)
	sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
	exit 2
	;;
esac
