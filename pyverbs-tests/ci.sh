#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# limit: 900, full 1800 seconds for this stage
# ci.sh RESULT.xml: the suite on one device, then with the two players of each
# test on two devices, and on two hosts with packets lost between them;
# RESULT-MODE.xml for these. With UROCE_FULL also on two devices over IPv4, and
# on two hosts without loss. The players' engines are where programs have them by
# themselves, in some of it the device's; in all of it with UROCE_FULL.
here=$(dirname "$0")
rc=0
/usr/bin/python3 "$here/suite.py" --xml "$1" || rc=1
modes="wire6 hosts-loss"
[ -n "${UROCE_FULL:-}" ] && modes="wire wire6 hosts hosts-loss"
for mode in $modes; do
	/usr/bin/python3 "$here/suite.py" --mode "$mode" --xml "${1%.xml}-$mode.xml" || rc=1
done
some=--some
[ -n "${UROCE_FULL:-}" ] && some=
/usr/bin/python3 "$here/suite.py" --mode device $some --xml "${1%.xml}-device.xml" || rc=1
# Traffic with a hostile card (UROCE_ADVERSE: SEED:MASK of doc/adverse.md, here
# all but limits and rest), which changes no outcome.
modules="test_qpex test_cqex test_cq_events test_atomic"
seeds="1 2"
[ -n "${UROCE_FULL:-}" ] && seeds=$(seq 20)
for seed in $seeds; do
	UROCE_ADVERSE=$seed:fd /usr/bin/python3 "$here/suite.py" \
		--xml "${1%.xml}-adverse-$seed.xml" $modules || rc=1
done
# With engines in engine processes; with UROCE_FULL all of it, and between hosts.
modules="test_qpex test_qp test_cq_events test_flow test_rss_traffic test_mr"
[ -n "${UROCE_FULL:-}" ] && modules=
/usr/bin/python3 "$here/suite.py" --mode device \
	--xml "${1%.xml}-engines.xml" $modules || rc=1
[ -z "${UROCE_FULL:-}" ] || UROCE_ENGINE=device /usr/bin/python3 "$here/suite.py" \
	--mode hosts-loss --xml "${1%.xml}-engines-hosts-loss.xml" || rc=1
exit $rc
