#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fetch the kernel that runs as a process (User-mode Linux), once per build folder:
# $UROCE_GUEST_DIR/uml. Nothing is installed.
set -e
cd "$(dirname "$0")/../../.."
D=${UROCE_GUEST_DIR:-$PWD/build/guest}
mkdir -p "$D"
exec 9>"$D/lock"
flock 9
[ -e "$D/uml/usr/bin/linux.uml" ] && exit
rm -rf "$D/uml.new"
mkdir "$D/uml.new"
cd "$D/uml.new"
apt-get -o APT::Sandbox::User=root download user-mode-linux
dpkg -x user-mode-linux_*.deb .
rm -rf user-mode-linux_*.deb ../uml
mv "$D/uml.new" "$D/uml"
