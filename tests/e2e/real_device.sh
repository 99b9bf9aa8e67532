#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# real_device.sh PROGRAM ARG...: run it where the host seems to have an RDMA
# device of its own, mlx5_0 with uverbs0, umad7 and rdma_cm, which takes GPUs' memory. Only the files
# are there.
# To be run in a mount namespace of its own (ip netns exec makes one).
set -e
at=$(mktemp -d /tmp/uroce-real.XXXXXX)
mount -t tmpfs tmpfs "$at"
mkdir "$at/class" "$at/dev"
# The classes that are there stay: their links lead up, out of the directory.
for class in /sys/class/*; do
	mkdir "$at/class/${class##*/}"
	mount --bind "$class" "$at/class/${class##*/}"
done
ca=$at/class/infiniband/mlx5_0
mkdir -p "$ca/ports/1/gids" "$ca/device" "$at/class/infiniband_mad/umad7"
echo 1: CA >"$ca/node_type"
echo 0002:c903:0000:0001 >"$ca/node_guid"
echo pci:v000015B3d00001017 >"$ca/device/modalias"
uverbs=$at/class/infiniband_verbs/uverbs0
mkdir -p "$uverbs"
echo mlx5_0 >"$uverbs/ibdev"
echo 231:192 >"$uverbs/dev"
echo 1 >"$uverbs/abi_version"
echo 6 >"$at/class/infiniband_verbs/abi_version"
mount --rbind "$at/class" /sys/class
for name in null zero random urandom shm; do
	if [ -d "/dev/$name" ]; then mkdir "$at/dev/$name"; else touch "$at/dev/$name"; fi
	mount --bind "/dev/$name" "$at/dev/$name"
done
mkdir "$at/dev/infiniband"
for name in uverbs0 umad7 rdma_cm; do
	echo real >"$at/dev/infiniband/$name"
done
mount --rbind "$at/dev" /dev
mkdir -p "$at/module/nvidia_peermem" "$at/module/nv_peer_mem" "$at/mm/memory_peers/nv_mem"
for name in module/nvidia_peermem module/nv_peer_mem mm/memory_peers/nv_mem; do
	echo 580.1 >"$at/$name/version"
done
for name in /sys/kernel/mm/*; do
	mkdir "$at/mm/${name##*/}"
	mount --bind "$name" "$at/mm/${name##*/}"
done
mount --rbind "$at/module" /sys/module
mount --rbind "$at/mm" /sys/kernel/mm
umount -l "$at"
rmdir "$at"
exec "$@"
