#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Run a command in a QEMU (TCG) guest with Debian's stock kernel and Soft-RoCE (rxe0 on eth0).
#   run.sh [options] 'command'      boot, run, print its output at its end, power off; exit status is the command's
#   run.sh -k -N a [options] [cmd]  the same, but leave guest "a" running
#   run.sh -N a 'command'           run in the running guest "a" (calls may overlap)
#   run.sh -s -N a                  power guest "a" off
# options when booting:
#   -N NAME   guest name (vm<pid>; 11 letters) -a IP/LEN  eth0 address (10.77.0.2/24)
#   -n NETNS  join bridge br0 (10.77.0.1/24) in network namespace NETNS through tap "tap-NAME";
#             both are made when missing. Without -n, eth0 is up but connected to nothing.
#   -M MTU    eth0/tap/bridge MTU (1500)       -c CPUS (2)   -m MEMORY_MB (1024)
#   -v HOSTDIR:GUESTDIR  share a folder over 9p (may repeat); share/ is always at /host
#   -A 'ARGS' extra kernel arguments (vm.norxe=1: do not load rxe)    -Q 'ARGS' extra qemu arguments
#   -t SECS   give up on the command after SECS (600); 0: it needs no limit, nor a process of its own
V=${UROCE_GUEST_DIR:-$PWD/build/guest}; mkdir -p "$V/share"; N=vm$$ NS='' IP=10.77.0.2/24 MTU=1500 C=2 M=1024 T=600 KEEP='' STOP='' KA='' QA='' VOL=("$V/share:/host")
while getopts N:n:a:M:c:m:v:A:Q:t:ks o; do case $o in
  N) N=$OPTARG;; n) NS=$OPTARG;; a) IP=$OPTARG;; M) MTU=$OPTARG;; c) C=$OPTARG;; m) M=$OPTARG;;
  v) VOL+=("$OPTARG");; A) KA=$OPTARG;; Q) QA=$OPTARG;; t) T=$OPTARG;; k) KEEP=1;; s) STOP=1;; *) exit 2;; esac; done
shift $((OPTIND-1)); CMD=$*; R=$V/run/$N
alive() { [ -s $R/pid ] && kill -0 "$(<$R/pid)" 2>/dev/null && grep -qa "$R/" "/proc/$(<$R/pid)/cmdline"; }
ends() { for _ in {1..100}; do kill -0 $1 2>/dev/null || return 0; sleep 0.05; done; return 1; }
stop() {
  alive || return 0
  local p; p=$(<$R/pid); timeout 2 sh -c "echo poweroff > $R/port.in"
  ends $p || { kill -9 $p 2>/dev/null; ends $p; }
  [ -s $R/tap ] && ip netns exec "$(<$R/tap)" ip link del tap-$N 2>/dev/null
  rm -f $R/pid $R/tap
}
boot() {
  rm -rf $R; mkdir -p $R/q; mkfifo $R/port.in $R/port.out
  local i=0 v mnt='' net=() pre='' oct=${IP%/*}; oct=${oct##*.}
  for v in "${VOL[@]}"; do
    net+=(-virtfs "local,path=${v%%:*},mount_tag=m$i,security_model=none,multidevs=remap"); mnt+=" vm.mnt=m$i:${v#*:}"; i=$((i+1)); done
  if [ -n "$NS" ]; then
    exec 7>"$V/net.lock"; flock 7                # another guest may boot beside this one
    ip netns list | grep -qw "^$NS" || ip netns add $NS
    pre="ip netns exec $NS"
    $pre sh -ec "[ -d /sys/class/net/br0 ] || { ip link set lo up; ip link add br0 type bridge mcast_snooping 0 forward_delay 0
        ip addr add 10.77.0.1/24 dev br0; ip link set br0 up mtu $MTU; }
      ip link del tap-$N 2>/dev/null || true; ip tuntap add tap-$N mode tap
      ip link set tap-$N mtu $MTU txqueuelen 20000 master br0 up"
    exec 7>&-
    echo $NS > $R/tap
    net+=(-netdev "tap,id=n0,ifname=tap-$N,script=no,downscript=no,vnet_hdr=off")
  else net+=(-netdev "hubport,id=n0,hubid=0"); fi
  exec 9<> $R/port.in 8<> $R/port.out         # keep both FIFO ends open while qemu starts
  $pre setsid qemu-system-x86_64 -name $N -machine q35 -accel tcg,thread=multi,tb-size=256 -cpu max -smp $C -m $M \
    -nodefaults -no-user-config -display none -no-reboot -pidfile $R/pid -serial file:$R/console.log \
    -kernel $V/vmlinux -initrd $V/initramfs.cpio \
    -append "console=ttyS0 quiet loglevel=5 panic=-1 mitigations=off audit=0 nokaslr cryptomgr.notests vm.name=$N vm.ip=$IP vm.mtu=$MTU$mnt $KA" \
    -drive file=$V/rootfs.img,if=virtio,format=raw,readonly=on,file.locking=off -device virtio-rng-pci \
    -virtfs local,path=$R,mount_tag=ctl,security_model=none,multidevs=remap \
    -device virtio-serial-pci -chardev pipe,id=cmd,path=$R/port -device virtserialport,chardev=cmd,name=cmd \
    "${net[@]}" -device virtio-net-pci,netdev=n0,mac=52:54:00:77:00:"$(printf %02x $oct)",csum=off,guest_csum=off,gso=off,host_mtu=$MTU,romfile= \
    $QA > $R/qemu.log 2>&1 < /dev/null &
  local q=$!; disown $q
  for i in $(seq 3000); do [ -s $R/ready ] && return 0; kill -0 $q 2>/dev/null || break; sleep 0.05; done
  echo "guest $N did not boot:" >&2; tail -5 $R/qemu.log $R/console.log >&2; kill $q 2>/dev/null; exit 125
}
[ -n "$STOP" ] && { stop; exit; }
if ! alive; then
  boot; FRESH=1
  [ -z "$KEEP" ] && trap 'stop; rm -rf $R; exit 130' INT TERM
fi
rc=0
if [ -n "$CMD" ]; then
  id=$$-$RANDOM; f=$R/q/$id; : > $f.out
  # Each process costs an emulated machine some 0.1 s.
  if [ "$T" = 0 ]; then echo "$CMD"
  elif [[ $CMD =~ ^[a-z/][A-Za-z0-9_/.:,@%+-]*(\ [A-Za-z0-9_/.:,@%+-]+)*$ ]]; then echo "exec timeout -k 5 $T $CMD"
  else printf 'exec timeout -k 5 %s bash -c %q\n' "$T" "$CMD"; fi > $f.cmd
  echo $id > $R/port.in
  until [ -s $f.rc ]; do alive || { echo "guest $N died" >&2; rc=125; break; }; sleep 0.02; done
  [ -s $f.rc ] && rc=$(<$f.rc)
  cat $f.out
  rm -f $f.*
fi
[ -n "$FRESH" ] && [ -z "$KEEP" ] && { stop; rm -rf $R; }
exit $rc
