#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# limit: 900 seconds for this stage
# ci.sh RESULT.xml: the suite on one device, then with the two players of each
# test on two devices and on two hosts, at last with packets lost between
# those; RESULT-MODE.xml for them.
here=$(dirname "$0")
rc=0
/usr/bin/python3 "$here/suite.py" --xml "$1" || rc=1
for mode in wire wire6 hosts hosts-loss; do
	/usr/bin/python3 "$here/suite.py" --mode $mode --xml "${1%.xml}-$mode.xml" || rc=1
done
exit $rc
