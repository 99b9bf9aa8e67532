#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# usage: environment.sh LIBRARY...
# What is loaded into programs of others asks the environment by
# secure_getenv() alone: of a program with the rights of another user its
# caller has written it.
set -eu
asks=0
for library; do
	for symbol in $(nm --target=default -u "$library" | awk '{ print $NF }'); do
		case $symbol in
		secure_getenv*) asks=$((asks + 1)) ;;
		getenv | getenv@*)
			echo "$library uses $symbol"
			exit 1
			;;
		esac
	done
done
echo "secure_getenv: $asks"
[ $asks -ge $# ]
