#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Two hosts (network namespaces joined by a veth pair), a uroce device on each,
# and Debian's own RDMA programs between them, with the packets that crossed.
# Root; installs what it needs, builds, runs, and leaves nothing behind.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top"
say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

if [ "$(id -u)" != 0 ]; then
	echo "This demonstration makes network namespaces, so it needs root: sudo $0" >&2
	exit 1
fi
say "packages and build"
tests/install-deps.sh demo
cmake -S . -B build -G Ninja >/dev/null
cmake --build build | tail -1

a=uroce-demo-a-$$ b=uroce-demo-b-$$
tmp=$(mktemp -d)
pids=()
cleanup() {
	for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done
	for p in "${pids[@]}"; do wait "$p" 2>/dev/null || true; done
	ip netns del "$a" 2>/dev/null || true
	ip netns del "$b" 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say "two hosts: $a 10.99.0.1 and $b 10.99.0.2, one veth cable"
ip netns add "$a"
ip netns add "$b"
ip -n "$a" link add eth0 type veth peer name eth0 netns "$b"
for h in "$a 1" "$b 2"; do
	set -- $h
	ip -n "$1" link set lo up
	ip -n "$1" addr add "10.99.0.$2/24" dev eth0
	ip -n "$1" link set eth0 up
done
for h in "$a" "$b"; do
	mkfifo "$tmp/ready-$h"
	ip netns exec "$h" build/bin/uroced --netdev eth0 --run-dir "$tmp/$h" \
		>"$tmp/ready-$h" 2>"$tmp/log-$h" &
	pids+=($!)
	if ! timeout 10 grep -q -m1 ready "$tmp/ready-$h"; then
		cat "$tmp/log-$h" >&2
		exit 1
	fi
done
# One packet at a time while we look, instead of bursts that leave as one.
ip netns exec "$a" ethtool -K eth0 gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec "$b" ethtool -K eth0 gso off gro off tx-udp-segmentation off >/dev/null
ip netns exec "$a" tcpdump -q -U -i eth0 -w "$tmp/wire.pcap" udp port 4791 \
	2>"$tmp/tcpdump" &
dump=$!
pids+=("$dump")
until grep -q listening "$tmp/tcpdump"; do sleep 0.05; done

on() { # on HOST CMD...: run with that host's device present
	local h=$1
	shift
	ip netns exec "$h" build/bin/uroce run --run-dir "$tmp/$h" -- "$@"
}
pair() { # pair PORT CMD...: the same program as server on a and client on b
	local port=$1
	shift
	say "$* | $* 10.99.0.1"
	on "$a" "$@" >"$tmp/server" 2>&1 &
	local s=$!
	for _ in $(seq 200); do
		ip netns exec "$a" ss -Hltn "sport = :$port" | grep -q . && break
		kill -0 $s 2>/dev/null || break
		sleep 0.05
	done
	on "$b" "$@" 10.99.0.1
	wait $s
}
say "what a program sees on $a"
on "$a" ibv_devinfo
pair 18515 ibv_rc_pingpong -d uroce0 -g 0 -n 1000
kill -INT $dump
wait $dump || true
ip netns exec "$a" ethtool -K eth0 gso on gro on tx-udp-segmentation on >/dev/null
ip netns exec "$b" ethtool -K eth0 gso on gro on tx-udp-segmentation on >/dev/null
pair 18515 ib_write_bw -d uroce0 -x 0 -F --report_gbits -D 2

say "first packets on the cable, as Wireshark decodes them"
tshark -r "$tmp/wire.pcap" -c 10 2>/dev/null
tshark -r "$tmp/wire.pcap" -c 1 -O infiniband 2>/dev/null | grep -E 'Opcode|Destination Queue|Packet Seq|Partition|Invariant' || true
say "done"
