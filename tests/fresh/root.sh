# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck disable=SC2154  # root, top, suite: of who sources this
# Debian roots of their own for stages: to be sourced in the tree's root by a
# script that sets `release` (bookworm or trixie) and `root` (a folder on disk),
# and that clean() is the end of. Packages come from where the host's do.

child=
end_child() {
	# Its mounts go with its namespaces, and those with the child.
	[ -n "$child" ] && kill -KILL -- "-$child" 2>/dev/null && wait "$child"
	child=
}
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
step() { # step NAME CMD...: one test case of the result; none after a failure
	local name=$1 t0=$SECONDS bad=
	shift
	[ $failed = 0 ] || return 1
	echo "== $name"
	wait_for "$@" || { failed=1 && bad="<failure message='see the log'/>"; }
	echo "== $name: $((SECONDS - t0)) s"
	cases+=("<testcase classname='$suite.$release' name='$name' time='$((SECONDS - t0))'>$bad</testcase>")
	return $failed
}
without() { # without REASON NAME...: steps that cannot be here
	local name reason=$1
	echo "== skipped: $*"
	for name in "${@:2}"; do
		cases+=("<testcase classname='$suite.$release' name='$name'><skipped message='$reason'/></testcase>")
	done
}
result() { # result FILE: the steps
	{
		echo "<testsuites><testsuite name='$suite' tests='${#cases[@]}' failures='$failed'>"
		printf '%s\n' "${cases[@]}"
		echo "</testsuite></testsuites>"
	} >"$1"
}

clone() { # what a clone of the tree as it is would have
	local src=$root${below:+.upper}/src
	mkdir "$src" &&
		git -c "safe.directory=$top" ls-files -z --cached --others --exclude-standard |
		tar --null -T - --ignore-failed-read -cf - | tar -C "$src" -xf - &&
		git -C "$src" -c init.defaultBranch=main init -q &&
		git -C "$src" add -A
}
inside() { # inside CMD...: in the root, as its root
	# shellcheck disable=SC2016  # expanded by the shell inside
	apart bash -c '
		root=$1 && shift
		if [ -n "$below" ]; then
			mount -t overlay overlay \
				-o "lowerdir=$below,upperdir=$root.upper,workdir=$root.work" "$root"
		else
			mount --bind "$root" "$root"
		fi || exit 1
		mount -t proc proc "$root/proc" && mount -t sysfs sysfs "$root/sys" &&
			mount --rbind /dev "$root/dev" && mount --make-rslave "$root/dev" &&
			mount -t tmpfs -o mode=755 tmpfs "$root/run" &&
			mount -t tmpfs -o mode=1777 tmpfs "$root/tmp" || exit 1
		cache=
		if [ -d "${CCACHE_DIR:-}" ]; then
			cache=/var/cache/ccache
			mkdir -p "$root$cache" && mount --bind "$CCACHE_DIR" "$root$cache" || exit 1
		fi
		cp /etc/resolv.conf "$root/etc/resolv.conf"
		# Who is in a chroot may not make user namespaces; only where the
		# machine is one itself, that is what is left.
		cd "$root" && mkdir -p .host || exit 1
		enter="chroot ."
		if pivot_root . .host; then
			cd / && umount -l .host || exit 1
			enter=
		fi
		rmdir .host
		exec $enter env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 TAIL=200 \
			UROCE_FULL="$UROCE_FULL" UROCE_TEST_KINDS="$test_kinds" UROCE_LINK_WHOLE="$link_whole" UROCE_PACKAGE_TESTS="$packages" \
			UROCE_PACKAGE_ROOT="$package_root" DEB_CFLAGS_STRIP="$no_flags" \
			${cache:+CCACHE_DIR=$cache CCACHE_BASEDIR=/src CCACHE_NOHASHDIR=1} \
			${cache:+CCACHE_SLOPPINESS=locale CCACHE_DEPEND=1 CMAKE_C_COMPILER_LAUNCHER=ccache} \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			sh -c "cd /src && exec \"\$@\"" - "$@"' - "$root" "$@"
}
test_kinds='' # the folders of tests/ that are compiled, if not all
no_flags='' # of the packages, which are compiled without them
# Linked whole (cmake/Whole.cmake) is the host's build, with UROCE_FULL each.
link_whole=${UROCE_FULL:+ON}
link_whole=${link_whole:-OFF}
tree='' # the sources in the root, as seen from outside
export test_kinds link_whole no_flags UROCE_FULL=${UROCE_FULL:-} packages='' package_root='' below=''

# ---- roots that are kept: a layer over one with what a kind of packages is ----

layers_end() {
	end_child
	rm -rf --one-file-system "${layer:-}" "${making:-}"
}
install_all() { # install_all KIND...: the script, in a new root that is kept
	local root=$making
	rm -rf --one-file-system "${roots:?}/$suite-$release"-*
	tests/fresh/minimal.sh "$release" "$root" && clone && inside tests/install-deps.sh "$@" &&
		rm -rf "$root/src" "$root"/var/cache/apt/archives/*.deb &&
		mv "$root" "$kept"
}
layers() { # layers KIND...: the root is set up, and locked for this run
	roots=$(realpath -m "${UROCE_ROOTS:-build/roots}")
	kept=$roots/$suite-$release-$(tests/install-deps.sh --list "$@" | sha256sum | cut -c1-12)
	making=$kept.new
	layer=$(mktemp -d "/var/tmp/uroce-$suite.XXXXXX") || exit 1
	root=$layer/root
	mkdir -p "$root"{,.upper,.work} "$roots"
	chmod 755 "$layer" "$root"*
	exec 9>"$roots/$suite.lock"
	flock 9
	[ -n "$UROCE_FULL" ] && rm -rf --one-file-system "$kept"
	[ -d "$kept" ] || step install install_all "$@" || return 1
	below=$kept
	tree=$root.upper/src
	if ! apart mount -t overlay overlay \
		-o "lowerdir=$below,upperdir=$root.upper,workdir=$root.work" "$root"; then
		# A folder that is itself an overlay cannot be above: a copy, then.
		cp -a "$below/." "$root" || exit 1
		below=
		tree=$root/src
	fi
}
