#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: layers.sh README C_COMPILER "OBJECT..."
# The files of a library call each other without a cycle and downwards only, by
# the table under "## Layers" of the folder's README: rows from the highest to
# the lowest, in each the files between backquotes. Then a call upwards and a
# cycle are planted in copies of the objects, and must be found.
set -eu
readme=$1
cc=$2
objects=$3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# "FILE LAYER" from the table.
awk '/^## /{on = $0 == "## Layers"}
on && /^\| *[0-9]+ *\|/ {
	n = split($0, part, "`")
	split($0, cell, "|")
	for (i = 2; i <= n; i += 2)
		print part[i], cell[2] + 0
}' "$readme" >"$tmp/layers"

# The default target of nm: the machine's code in an object, not what it has for the whole
# (cmake/Whole.cmake), where names of gcc's own, as malloc, are missing.
# "CALLER CALLEE FUNCTION" for each function of another file that a file needs.
calls()
{
	nm --target=default -A "$@" | sed 's,^[^:]*/,,; s/\.o[^:]*:/ /' | awk '
		$2 == "U" { needed[$1 " " $3] }
		NF == 4 && $3 ~ /^[A-TV-Z]$/ { defined[$4] = $1 }
		END {
			for (pair in needed) {
				split(pair, p, " ")
				if (p[2] in defined && defined[p[2]] != p[1])
					print p[1], defined[p[2]], p[2]
			}
		}' | sort
}

# Prints what is wrong with these objects; nothing when all is well.
judge()
{
	calls "$@" >"$tmp/calls"
	[ -s "$tmp/calls" ] || echo "no calls between files"
	for object in "$@"; do
		file=$(basename "$object")
		grep -q "^${file%.o*} " "$tmp/layers" ||
			echo "${file%.o*} is in no layer of $readme"
	done
	awk 'NR == FNR { layer[$1] = $2; next }
		layer[$1] <= layer[$2] {
			print $1 " (layer " layer[$1] ") calls " $3 " of " $2 \
				" (layer " layer[$2] ")"
		}' "$tmp/layers" "$tmp/calls"
	awk '{ print $1, $2 }' "$tmp/calls" | sort -u | tsort 2>&1 >/dev/null |
		sed 's/^tsort: -:/a cycle:/; s/^tsort:/ /'
}

names=" $(for o in $objects; do echo "${o##*/}"; done | tr '\n' ' ')"
for file in $(awk '{ print $1 }' "$tmp/layers"); do
	case $names in
	*" $file.o"*) ;;
	*)
		# The build may leave it out (cmake/Parts.cmake).
		[ -e "$(dirname "$readme")/$file" ] || {
			echo "$readme names $file, which is not there"
			exit 1
		}
		;;
	esac
done
# shellcheck disable=SC2086 # a list of objects
wrong=$(judge $objects)
if [ -n "$wrong" ]; then
	echo "$wrong"
	exit 1
fi
wc -l <"$tmp/calls" | sed 's/$/ calls between files, all downwards/'

# Plant: the lowest file that is called calls back its highest caller.
low=$(awk 'NR == FNR { layer[$1] = $2; next } { print layer[$2], $2 }' \
	"$tmp/layers" "$tmp/calls" | sort -n | awk 'NR == 1 { print $2 }')
high=$(awk -v low="$low" 'NR == FNR { layer[$1] = $2; next }
	$2 == low { print layer[$1], $1 }' "$tmp/layers" "$tmp/calls" |
	sort -n | awk 'END { print $2 }')
mkdir "$tmp/copy"
# shellcheck disable=SC2086
cp $objects "$tmp/copy"
high_object=$(ls "$tmp/copy/$high".o*)
low_object=$(ls "$tmp/copy/$low".o*)
function=$(nm --target=default "$high_object" | awk '$2 == "T" { print $3; exit }')
echo "void $function(void); void ur_planted(void); void ur_planted(void) { $function(); }" |
	$cc -xc -c -o "$tmp/planted.o" -
mv "$low_object" "$tmp/low.o"
ld -r "$tmp/low.o" "$tmp/planted.o" -o "$low_object"
wrong=$(judge "$tmp"/copy/*)
echo "planted: $low calls $function of $high"
for sign in "^$low .* calls $function of $high" '^a cycle:'; do
	echo "$wrong" | grep -q "$sign" || {
		echo "planted and not found ($sign):"
		echo "$wrong"
		exit 1
	}
done
