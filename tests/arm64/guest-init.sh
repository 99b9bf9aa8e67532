#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# PID 1 of the guest: two network namespaces, a uroced on each, and Debian's own
# programs between them, and rdma-core's pyverbs suite. Which of the two the kernel's
# command line says. Says `pass NAME` or `FAIL NAME` for each on the console,
# and `done`, and powers off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LC_ALL=C
exec </dev/console >/dev/console 2>&1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/shm /run /tmp
for d in /dev/shm /run /tmp; do mount -t tmpfs tmpfs $d; done
ulimit -l unlimited
echo "kernel $(uname -mr)"
echo "pass pages_of_$(/usr/bin/python3 -c 'import os; print(os.sysconf("SC_PAGESIZE"))')_bytes"
modprobe veth
off() { echo "done"; busybox sync; busybox poweroff -f; }
fail() { echo "FAIL $1"; cat /tmp/log.* 2>/dev/null | tail -n 20; }

pyverbs() { # pyverbs MODULE...: as the stage conformance; each test a line
	UROCE_BUILD=/uroce UROCE_MODULE_SECONDS=1200 timeout 3000 /usr/bin/python3 \
		/uroce/pyverbs-tests/suite.py --xml /tmp/pyverbs.xml "$@" >/tmp/log.suite 2>&1 || fail pyverbs
	/usr/bin/python3 - <<'END'
import xml.etree.ElementTree as tree
kinds = {"skipped": "skip", "failure": "FAIL"}
for case in tree.parse("/tmp/pyverbs.xml").iter("testcase"):
    kind = [kinds[k.tag] for k in case if k.tag in kinds] or ["pass"]
    print(kind[0], "pyverbs." + case.get("classname") + "." + case.get("name"))
END
	tail -n 30 /tmp/log.suite
}
read -ra words </proc/cmdline
for word in "${words[@]}"; do
	case $word in
	pyverbs=*) IFS=, read -ra modules <<<"${word#*=}" && pyverbs "${modules[@]}" ;;
	esac
done
[[ " ${words[*]} " == *" pairs "* ]] || off

n=1
for h in A B; do ip netns add $h && ip -n $h link set lo up; done
ip link add v netns A type veth peer name v netns B || { fail veth; off; }
for h in A B; do
	ip -n $h addr add 10.9.0.$n/24 dev v
	ip -n $h link set v up
	ip netns exec $h uroced --netdev v --run-dir /run/$h >/tmp/ready.$h 2>/tmp/log.$h &
	n=$((n + 1))
done
for h in A B; do
	for _ in {1..600}; do grep -q ready /tmp/ready.$h && break; sleep 0.1; done
	grep -q ready /tmp/ready.$h || { fail "uroced on $h"; off; }
done
echo "pass uroced"
on() { local h=$1; shift; ip netns exec $h uroce run --run-dir /run/$h -- timeout 120 "$@"; }
heard() { [ "$(ip netns exec A ss -Hltn "sport = :$1")" ]; }
served() { uroce cm --run-dir /run/A | grep -q LISTEN; }
pair() { # pair NAME 'WAIT' 'SERVER' 'CLIENT'
	on A $3 >/tmp/server 2>&1 &
	local s=$! _
	for _ in {1..600}; do $2 && break; kill -0 $s 2>/dev/null || break; sleep 0.1; done
	if on B $4 >/tmp/client 2>&1 && wait $s; then
		echo "pass $1"
	else
		echo "FAIL $1"
		tail -n 8 /tmp/server /tmp/client
	fi
	kill $s 2>/dev/null
	wait $s 2>/dev/null
}
for p in rc uc ud srq; do
	c="ibv_${p}_pingpong -d uroce0 -g 0 -n 200"
	pair ibv_${p}_pingpong "heard 18515" "$c" "$c 10.9.0.1"
done
for op in send write read; do
	c="ib_${op}_bw -d uroce0 -x 0 -F -n 200 -s 8192"
	pair ib_${op}_bw "heard 18515" "$c" "$c 10.9.0.1"
done
c="ib_atomic_lat -d uroce0 -x 0 -F -n 100"
pair ib_atomic_lat "heard 18515" "$c" "$c 10.9.0.1"
pair rping served "rping -s -a 10.9.0.1 -C 20 -V" "rping -c -a 10.9.0.1 -C 20 -V"
c="rstream -p 7471 -S 4096 -I 20 -C 20 -T v"
pair rstream served "$c -b 10.9.0.1" "$c -s 10.9.0.1"
off
