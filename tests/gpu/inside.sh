#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# inside.sh BUILD DRIVER...: what guest.sh runs in its guest. Of its files /run alone can be written.
set -u
build=$1 gid=0000:0000:0000:0000:0000:ffff:7f00:0001 port=20777
shift
export TMPDIR=/run UROCE_ENGINE=process PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run
ip link set lo up
ulimit -l unlimited
"$build/bin/uroced" --run-dir /run/uroce --netdev lo --engine-opt guests=1 >/run/log 2>&1 &
for _ in {1..600}; do grep -q ready /run/log && break; sleep 0.1; done
run() { "$build/bin/uroce" run --run-dir /run/uroce -- "$build/bin/gpu_matrix" dmabuf 0 $gid $port "$@"; }
status=0
for driver; do
	case $driver in
	udmabuf) device=/dev/udmabuf ;;
	vgem) device=/dev/dri/card0 && rm -f /dev/udmabuf ;;
	esac
	[ -c "$device" ] || { echo "failed: no $device" && exit 1; }
	run &
	until ss -Htln "sport = $port" | grep -q .; do sleep 0.1; done
	run 127.0.0.1 || status=1
	wait $! || status=1
	echo "$driver: $([ $status = 0 ] && echo passed || echo failed)"
	port=$((port + 1))
done
[ $status = 0 ] || cat /run/log
exit $status
