#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Two hosts (`uroce fabric`), a uroce device on each, and Debian's own RDMA programs
# between them, with the packets that crossed.
# Root; installs what it needs, builds, runs, and leaves nothing behind.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

if [ "$(id -u)" != 0 ]; then
	echo "This demonstration installs packages, so it needs root: sudo $0" >&2
	exit 1
fi
say "packages and build"
tests/install-deps.sh demo
cmake -S . -B build -G Ninja >/dev/null
cmake --build build | tail -1

PATH=$top/build/bin:$PATH
fabric() { # fabric VERB [WORD...]
	local verb=$1
	shift
	uroce fabric "$verb" --name "demo-$$" "$@"
}
on() { # on HOST CMD...: run with that host's device present
	fabric run "$1" -- "${@:2}"
}
tmp=$(mktemp -d)
cleanup() {
	fabric down >/dev/null 2>&1 || true
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say "two hosts, a device each, a switch between them: uroce fabric up 2"
fabric up 2
# One packet at a time while we look, instead of bursts that leave as one.
bursts() {
	for host in node1 node2; do
		on $host ethtool -K eth0 gso "$1" gro "$1" tx-udp-segmentation "$1" >/dev/null
	done
}
bursts off
on node1 tcpdump -q -U -c 10 -i eth0 -w "$tmp/wire.pcap" udp port 4791 2>"$tmp/tcpdump" &
dump=$!
until grep -q listening "$tmp/tcpdump"; do sleep 0.05; done

pair() { # pair PORT CMD...: the same program as server on node1 and client on node2
	local port=$1
	shift
	say "$* | $* node1"
	on node1 "$@" >"$tmp/server" 2>&1 &
	local s=$!
	for _ in $(seq 200); do
		on node1 ss -Hltn "sport = :$port" | grep -q . && break
		kill -0 $s 2>/dev/null || break
		sleep 0.05
	done
	on node2 "$@" node1
	wait $s
}
say "what a program sees on node1"
on node1 ibv_devinfo
pair 18515 ibv_rc_pingpong -d uroce0 -g 0 -n 1000
wait $dump
bursts on
pair 18515 ib_write_bw -d uroce0 -x 0 -F --report_gbits -D 2

say "first packets on the cable, as Wireshark decodes them"
tshark -r "$tmp/wire.pcap" 2>/dev/null
tshark -r "$tmp/wire.pcap" -c 1 -O infiniband 2>/dev/null | grep -E 'Opcode|Destination Queue|Packet Seq|Partition|Invariant' || true
say "done"
