#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# musl.sh: what compiles and links against Debian 12's musl, as doc/containers.md
# says ("musl"): the whole provider, and the front-end without the files whose
# wrappers are of glibc's own entry points. Those must still not compile, or the document
# is out of date. 77: no musl-gcc.
set -u
cd "$(dirname "$0")/../.." || exit 1
command -v musl-gcc >/dev/null || { echo "no musl-gcc (musl-tools)" && exit 77; }
# A newer one has more of glibc's entry points.
version=$(dpkg-query -W -f '${Version}' musl-dev)
[[ $version == 1.2.3-* ]] || { echo "musl $version; the document is of Debian 12's 1.2.3" && exit 77; }
out=$(mktemp -d /tmp/uroce-musl.XXXXXX) || exit 1
trap 'rm -rf "$out"' EXIT
# The kernel's and libibverbs' headers, without glibc's beside them.
mkdir "$out/include"
for name in linux asm-generic rdma infiniband; do
	ln -s "/usr/include/$name" "$out/include/$name"
done
ln -s "/usr/include/$(gcc -print-multiarch)/asm" "$out/include/asm"
compile() { # compile FILE
	musl-gcc -std=gnu11 -D_GNU_SOURCE -DUR_GLUE=59 -fPIC -O0 -Wall -Wno-unused-parameter -I. \
		-Iproviders/uroce -idirafter "$out/include" -c "$1" \
		-o "$out/$(basename "$1" .c).o" 2>"$out/errors"
}
glibc="dir dup io open stat"
bad=0
for file in providers/uroce/*.c preload/*.c util/os/rundir.c util/os/clock.c util/os/private_abi.c util/os/proof.c util/os/high_fd.c util/os/scm.c; do
	name=$(basename "$file" .c)
	if [[ $file == preload/* && " $glibc " == *" $name "* ]]; then
		compile "$file" || continue
		echo "$file compiles now: say so in doc/containers.md"
	else
		compile "$file" && continue
		cat "$out/errors"
	fi
	bad=1
done
[ $bad = 0 ] || exit 1
# What the objects want and neither musl nor libibverbs has: no more, no less.
libc=$(echo /usr/lib/*-linux-musl/libc.so)
have() { nm -g --defined-only "$@" 2>/dev/null | awk 'NF > 2 { print $3 }'; }
missing=$(nm -u "$out"/*.o | awk '$1 == "U" { print $2 }' | sort -u |
	grep -vxFf <(have "$out"/*.o && have -D "$libc") |
	grep -vE '^(_?(ibv|verbs)_.*|execute_ioctl|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail)$' | xargs)
[ "$missing" = "dlvsym on_exit" ] || { echo "not in musl: $missing" && exit 1; }
