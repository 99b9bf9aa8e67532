#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Run inside a guest, as lag.sh MODE: two namespaces, A and B, joined by two
# cables, a bond of MODE over both at either end, and a uroced on each bond.
# A program that verifies its data goes on while one cable after the other is
# out; then, where the mode spreads, what 16 queue pairs send on each.
# Prints "out CABLE" for each cable that was, and "spread BYTES BYTES".
set -e
mode=$1 bin=/uroce/build/bin
SECONDS=0
trap 'end $?' EXIT

end() {
	trap - EXIT
	[ "$1" = 0 ] || tail -n 30 /tmp/log.[AB]
	for n in A B; do
		# shellcheck disable=SC2046  # a word for each process
		kill $(ip netns pids $n) 2>/dev/null || true
		while [ "$(ip netns pids $n)" ]; do sleep 0.05; done
		ip netns del $n
	done
	exit $1
}

in_() { ip netns exec "$@"; }
on() { local n=$1; shift; in_ $n $bin/uroce run --run-dir /run/$n -- "$@"; }
sent() { in_ A cat /sys/class/net/$1/statistics/tx_bytes; }
bond() { in_ A cat /sys/class/net/bond0/bonding/$1; }

# until WHAT COMMAND...: repeat it until it succeeds
until_() {
	local i what=$1; shift
	for i in {1..200}; do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
	echo "waited for $what"; exit 1
}

modprobe bonding max_bonds=0
for n in A B; do ip netns add $n; ip -n $n link set lo up; done
for i in 0 1; do ip link add v$i netns A type veth peer name v$i netns B; done
k=1
for n in A B; do
	ip -n $n link add bond0 type bond miimon 50 mode $mode
	[ $mode = active-backup ] ||
		ip -n $n link set bond0 type bond xmit_hash_policy layer3+4 lacp_rate fast
	for i in 0 1; do ip -n $n link set v$i master bond0; done
	ip -n $n addr add 10.90.0.$k/24 dev bond0
	ip -n $n link set bond0 up
	in_ $n setsid $bin/uroced --netdev bond0 --run-dir /run/$n \
		>/tmp/ready.$n 2>/tmp/log.$n </dev/null &
	k=$((k + 1))
done
until_ uroced grep -q ready /tmp/ready.A
until_ uroced grep -q ready /tmp/ready.B
until_ "the bond" in_ A ping -c1 -W1 10.90.0.2
# Where each end of each cable sends and is heard: 63 is all of LACP's flags.
both() {
	[ $mode = active-backup ] && return
	for n in A B; do
		[ "$(in_ $n grep -c 'port state: 63' /proc/net/bonding/bond0)" = 4 ] || return
	done
}
until_ "both cables" both

echo bonded at $SECONDS s
# rping -V compares each message, and ends at the first difference.
on B rping -s -a 10.90.0.2 -V -S 5000 &
listens() { $bin/uroce cm --run-dir /run/B | grep -q LISTEN; }
until_ "the server" listens
echo listening at $SECONDS s
on A rping -c -a 10.90.0.2 -V -S 5000 & client=$!
more() { [ "$(sent "$1")" -gt "$2" ]; }
moves() { until_ "data on $1" more $1 $(($(sent $1) + 200000)); kill -0 $client; }
for down in v0 v1; do
	[ $mode = active-backup ] && down=$(bond active_slave) && moves $down
	other=$([ $down = v0 ] && echo v1 || echo v0)
	ip -n A link set $down down
	moves $other
	ip -n A link set $down up
	until_ "both cables" both
	echo out $down at $SECONDS s
done
pings() {
	for p in $(ip netns pids A; ip netns pids B); do
		[ "$(cat /proc/$p/comm 2>/dev/null)" = rping ] && echo $p
	done
}
# shellcheck disable=SC2046  # a word for each process
kill $(pings)
until_ "the end of rping" eval '[ -z "$(pings)" ]'

[ $mode = active-backup ] && exit 0
write="ib_write_bw -F -d uroce0 -x 0 -q 16 -n 20 -s 4096"
on B $write & server=$!
port() { in_ B ss -Hltn 'sport = :18515' | grep -q .; }
until_ "the server" port
v0=$(sent v0) v1=$(sent v1)
on A $write 10.90.0.2
wait $server
echo spread $(($(sent v0) - v0)) $(($(sent v1) - v1))
echo "done at $SECONDS s"
