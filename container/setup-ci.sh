#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# RDMA devices for the steps of a CI job, or for a shell. What action.yml,
# container/gitlab-ci.yml and doc/containers.md call.
#   setup-ci.sh install     uroce itself: packages, or built from this tree
#   setup-ci.sh start       the devices; leaves the environment for what follows
#   setup-ci.sh report      what one wants to know after a failure
#   setup-ci.sh stop        devices and interfaces away (a runner that stays)
# Settings, from the environment; each has a default:
#   UROCE_CI_PACKAGES  .deb files to install, names or a pattern; without any,
#                      what is installed is used, else this tree is built
#   UROCE_CI_NETDEV    the interface; default: new ones, with addresses
#                      198.18.I.1/24, where one may make them, else the one of
#                      the default route
#   UROCE_CI_NAME      what the device is called (uroce0)
#   UROCE_CI_DEVICES   how many, names counting up from that one (1)
#   UROCE_CI_ONLY      hide the RDMA devices that the host has: true or false (true)
#   UROCE_CI_DIR       where it all lies ($RUNNER_TEMP or /tmp, uroce-ci)
# Afterwards LD_PRELOAD, UROCE_RUN_DIR and PATH are in $GITHUB_ENV and
# $GITHUB_PATH where there are such files, and always in UROCE_CI_DIR/env.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
netdev=${UROCE_CI_NETDEV:-} name=${UROCE_CI_NAME:-uroce0} count=${UROCE_CI_DEVICES:-1}
dir=${UROCE_CI_DIR:-${RUNNER_TEMP:-/tmp}/uroce-ci}
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
	group "uroce: devices" uroce link --run-dir "$dir/run"
	group "uroce: doctor" uroce doctor --run-dir "$dir/run"
	group "uroce: open" uroce res --run-dir "$dir/run" session
	group "uroce: counters" uroce stat --run-dir "$dir/run"
	group "uroce: interfaces" ip -br addr
	group "uroce: log of the device" tail -n 100 "$dir/uroced.log"
}

install() {
	mkdir -p "$dir/bin"
	if [ -n "${UROCE_CI_PACKAGES:-}" ]; then
		local deb debs=()
		# shellcheck disable=SC2086  # names and patterns
		for deb in $UROCE_CI_PACKAGES; do debs+=("$(realpath "$deb")"); done
		# What is installed already needs no lists.
		root apt-get -q update || true
		root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y "${debs[@]}"
	elif command -v uroce >/dev/null && [ ! -e "$dir/bin/uroce" ]; then
		say "$(uroce --version) is installed"
	else
		root "$top/tests/install-deps.sh" build
		cmake -S "$top" -B "$dir/build" -G Ninja -DUROCE_TESTS=OFF
		cmake --build "$dir/build"
		ln -sf "$dir/build/bin/"{uroce,uroced} "$dir/bin/"
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
	local t0 i args=()
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
	setsid uroced --run-dir "$dir/run" --ready-fd 3 "${args[@]}" 3<>"$dir/ready" \
		>"$dir/uroced.log" 2>&1 </dev/null &
	echo $! >"$dir/pid"
	exec 4<>"$dir/ready"
	until read -r -t 0.1 _ <&4; do
		kill -0 "$(cat "$dir/pid")" 2>/dev/null || fail "the device did not start"
		[ $((($(date +%s%N) - t0) / 1000000000)) -lt 30 ] || fail "the device is not ready"
	done
	exec 4>&-
	uroce link --run-dir "$dir/run" | grep -q 'gid 0' || fail "the device has no address"
	# What uroce run would set, for programs that it does not start.
	# shellcheck disable=SC2016  # expanded by that shell
	put LD_PRELOAD "$(uroce run --run-dir "$dir/run" -- sh -c 'echo "$LD_PRELOAD"')"
	put UROCE_RUN_DIR "$dir/run"
	put UROCE_CI "$here/setup-ci.sh"
	put UROCE_CI_DIR "$dir"
	# shellcheck disable=SC2016  # expanded by who reads it
	if [ -d "$dir/bin" ]; then printf 'export PATH=%q:$PATH\n' "$dir/bin" >>"$dir/env.sh"; fi
	if [ -n "${GITHUB_PATH:-}" ]; then echo "$dir/bin" >>"$GITHUB_PATH"; fi
	if [ -n "${GITHUB_OUTPUT:-}" ]; then
		{ echo "run-dir=$dir/run" && echo "report=bash $here/setup-ci.sh report"; } >>"$GITHUB_OUTPUT"
	fi
	uroce link --run-dir "$dir/run"
	say "ready after $((($(date +%s%N) - t0) / 1000000)) ms; environment in $dir/env.sh"
}

serves() { # serves PID: a uroced that has not ended (in a container nobody may reap it)
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" = uroced ] &&
		! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

stop() {
	local pid dev i=0
	pid=$(cat "$dir/pid" 2>/dev/null) || pid=
	if [ -n "$pid" ] && serves "$pid"; then
		kill "$pid"
		while serves "$pid"; do
			[ $((i += 1)) -lt 500 ] || { kill -KILL "$pid" && break; }
			sleep 0.02
		done
	fi
	while read -r dev; do
		root ip link del "$dev" || true
	done < <(cat "$dir/netdevs" 2>/dev/null)
	rm -rf "$dir/pid" "$dir/netdevs" "$dir/env.sh" "$dir/run"
}

case ${1:-} in
install | start | report | stop) "$1" ;;
*)
	sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
	exit 2
	;;
esac
