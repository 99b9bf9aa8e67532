#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""spent.py RESULT.xml...: seconds by test function, the longest first; then those of
a processor, where the file says them.

As a pytest plugin it writes these into the file, a property `processor` of each test:
user and system time of pytest and of the programs that ended meanwhile. A device that
several tests share is in the last of them."""
import collections
import resource
import sys
import xml.etree.ElementTree as ET

PROPERTY = "processor"


def spent():
    return sum(u.ru_utime + u.ru_stime for u in map(
        resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def pytest_runtest_logstart(nodeid, location):
    pytest_runtest_logstart.before = spent()


def pytest_runtest_makereport(item, call):
    if call.when == "teardown":
        item.user_properties.append(
            (PROPERTY, f"{spent() - pytest_runtest_logstart.before:.2f}"))


def main(paths):
    seconds, processor, times = (collections.Counter() for _ in range(3))
    for path in paths:
        for case in ET.parse(path).getroot().iter("testcase"):
            name = f"{case.get('classname', '')}.{case.get('name', '')}".split("[")[0]
            seconds[name] += float(case.get("time") or 0)
            times[name] += 1
            for p in case.iter("property"):
                if p.get("name") == PROPERTY:
                    processor[name] += float(p.get("value"))
    print("seconds processor times test")
    for name, s in seconds.most_common():
        print(f"{s:7.1f} {processor[name]:9.1f} {times[name]:5} {name}")
    print(f"{sum(seconds.values()):7.1f} {sum(processor.values()):9.1f} "
          f"{sum(times.values()):5} all")


if __name__ == "__main__":
    main(sys.argv[1:])
