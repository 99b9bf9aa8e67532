#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: style.sh format|shell|spelling|licence
# Tools that read every file of the project, and what to type when they find
# something. Exits with 77 where the tool is missing.
set -u
cd "$(dirname "$0")/../.." || exit 1

need() {
	command -v "$1" >/dev/null && return
	echo "skipped: no $1 (tests/install-deps.sh quick)"
	exit 77
}
# What git has, or would have; in an unpacked release whatever is there.
if git rev-parse --git-dir >/dev/null 2>&1; then
	mapfile -t all < <(git ls-files --cached --others --exclude-standard |
		while read -r f; do [ -f "$f" ] && echo "$f"; done)
else
	mapfile -t all < <(find . -type f -not -path './build*' -printf '%P\n')
fi
some() { # some PATTERN: of them, without data
	printf '%s\n' "${all[@]}" | grep -Ev '^tests/fuzz/corpus/|\.pcap$|^LICENSES/' |
		grep -E "$1"
}

case ${1:-} in
format)
	need clang-format
	if [[ $(clang-format --version) != *"version 14."* ]]; then
		echo "skipped: clang-format is not version 14, which decides"
		exit 77
	fi
	mapfile -t files < <(some '\.[ch]$')
	if ! clang-format --dry-run -Werror "${files[@]}"; then
		echo "to mend: clang-format -i FILE..."
		exit 1
	fi
	;;
shell)
	need shellcheck
	mapfile -t files < <(some . | xargs -d '\n' awk '
		FNR == 1 && /^#!.*[\/ ](ba|da)?sh( |$)/ { print FILENAME } { nextfile }')
	shellcheck --severity=warning "${files[@]}" || exit 1
	;;
spelling)
	need codespell
	mapfile -t files < <(some .)
	codespell --ignore-words tests/habits/words "${files[@]}" || {
		echo "a word that is right goes into tests/habits/words"
		exit 1
	}
	;;
licence)
	need reuse
	# Quiet unless something is wrong; then the part that says what.
	reuse lint >/tmp/uroce-reuse.$$ 2>&1 || {
		grep -v '^$' /tmp/uroce-reuse.$$ | head -n 60
		rm -f /tmp/uroce-reuse.$$
		echo "each file begins with its licence, as its neighbours do: GPL-2.0-only OR Linux-OpenIB"
		exit 1
	}
	rm -f /tmp/uroce-reuse.$$
	files=("${all[@]}")
	;;
*)
	echo "usage: $0 format|shell|spelling|licence" >&2
	exit 2
	;;
esac
echo "${#files[@]} files"
[ ${#files[@]} -gt 10 ]
