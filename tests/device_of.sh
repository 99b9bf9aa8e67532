#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# device_of.sh BUILD FOLDER: makes FOLDER like build/, with the uroced of BUILD,
# which has a sanitizer, as most programs cannot.
top=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$2/bin" || exit 1
for entry in "$top"/build/*; do
	[ "${entry##*/}" = bin ] || ln -s "$entry" "$2/" || exit 1
done
ln -s "$top"/build/bin/* "$2/bin" && ln -sf "$top/$1/bin/uroced" "$2/bin/uroced"
