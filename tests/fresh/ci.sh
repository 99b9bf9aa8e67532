#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 1200, full 3600
# ci.sh RESULT.xml: what the README says of a fresh machine. In a new minimal
# Debian 12 root, entered in namespaces of its own: the install script, the
# build, the quick tests and the making of the packages; with UROCE_FULL the
# whole of the stages fast and package. A package that the install script
# forgets is missed here. RESULT.xml says how each step went, RESULT-STAGE.xml
# are those of the stages inside.
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$PWD out=${1:-$PWD/build/results/fresh.xml}
release=bookworm
stages="quick package"
# Those that enter a clean root of their own show the same here as outside.
packages="not ordinary_user and not autopkgtest and not service"
[ -n "${UROCE_FULL:-}" ] && stages="fast package" packages=
if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
	echo "needs root and mmdebstrap (tests/install-deps.sh fresh)"
	exit 1
fi
root=$(mktemp -d /var/tmp/uroce-fresh.XXXXXX) || exit 1
child=
clean() {
	# Its mounts go with its namespaces, and those with the child.
	[ -n "$child" ] && kill -KILL -- "-$child" 2>/dev/null && wait "$child"
	rm -rf --one-file-system "$root"
}
trap clean EXIT
trap 'exit 130' INT TERM
wait_for() { # wait_for CMD...: in a process group that a signal can end
	set -m
	"$@" </dev/null &
	child=$!
	set +m
	wait "$child"
	local rc=$?
	child=
	return $rc
}
apart() { # apart CMD...: with mounts and processes of its own
	unshare --mount --pid --ipc --uts --fork --kill-child=KILL "$@"
}

cases=() failed=0
step() { # step NAME CMD...: one test case of the result
	local name=$1 t0=$SECONDS bad=
	shift
	[ $failed = 0 ] || return 1
	echo "== $name"
	wait_for "$@" || { failed=1 && bad="<failure message='see the log'/>"; }
	cases+=("<testcase classname='fresh.$release' name='$name' time='$((SECONDS - t0))'>$bad</testcase>")
	return $failed
}
debootstrap() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*debian*.sources 2>/dev/null |
		apart mmdebstrap --mode=root --variant=minbase --components=main \
			--aptopt='Acquire::Check-Valid-Until "false"' \
			"$release" "$root" - 2>&1 | tail -n 20
	[ "${PIPESTATUS[1]}" = 0 ]
}
sources() { # what a clone of the tree as it is would have
	mkdir "$root/src" &&
		git -c "safe.directory=$top" ls-files -z --cached --others --exclude-standard |
		tar --null -T - --ignore-failed-read -cf - | tar -C "$root/src" -xf - &&
		git -C "$root/src" -c init.defaultBranch=main init -q &&
		git -C "$root/src" add -A
}
inside() { # inside CMD...: in the root, as its root
	# shellcheck disable=SC2016  # expanded by the shell inside
	apart bash -c '
		root=$1 && shift
		mount -t proc proc "$root/proc" && mount -t sysfs sysfs "$root/sys" &&
			mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" &&
			mount -t tmpfs tmpfs "$root/run" || exit 1
		cp /etc/resolv.conf "$root/etc/resolv.conf"
		exec chroot "$root" env -i HOME=/root TERM=dumb TAIL=200 \
			UROCE_FULL="$UROCE_FULL" UROCE_PACKAGE_TESTS="$packages" \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			sh -c "cd /src && exec \"\$@\"" - "$@"' - "$root" "$@"
}
export UROCE_FULL=${UROCE_FULL:-} packages

step minimal_root debootstrap
step clone sources
# shellcheck disable=SC2086  # names of stages
step all.sh inside tests/all.sh $stages
for stage in $stages; do
	for xml in "$root/src/build/results/$stage"*.xml; do
		[ -s "$xml" ] && cp "$xml" "${out%.xml}-$(basename "$xml")"
	done
done
{
	echo "<testsuites><testsuite name='fresh' tests='${#cases[@]}' failures='$failed'>"
	printf '%s\n' "${cases[@]}"
	echo "</testsuite></testsuites>"
} >"$out"
exit $failed
