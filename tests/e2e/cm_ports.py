# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""usage: cm_ports.py ADDR4 ADDR6 wildcards | range FIRST LAST | low ERRNO |
    another
Which ports an rdma_cm id gets, as Linux' cma gives them: wildcards beside one
another, out of net.ipv4.ip_local_port_range, and
those that take a right; and none for another user than the one who opened the file."""
import errno
import os
import struct
import sys

from ucma_abi import (ADDR4, ADDR6, File, bind, check, query, resolve, set_option,
                      sin, sin6)

AFONLY = 2


def wildcards():
    """:: has IPv4 too, unless it says that it has not, or Linux' bindv6only."""
    f = File()

    def ident(only):
        i = f.create()
        if only is not None:
            check(set_option(f, i, 0, AFONLY, struct.pack("=i", only)) == 0, "option")
        return i
    both, v4, v6 = sin6("::", 0), sin("0.0.0.0", 0), sin6(ADDR6, 0)
    one = sin(ADDR4, 0)
    avail, used = errno.EADDRNOTAVAIL, errno.EADDRINUSE
    for port, (first, only, second, only2, err) in enumerate([
            (both, 1, v4, None, 0), (v4, None, both, 1, 0),
            (both, 1, one, None, 0), (one, None, both, 1, 0),
            (both, None, v4, None, avail), (v4, None, both, None, avail),
            (both, 0, one, None, avail), (one, None, both, 0, avail),
            (both, 1, v6, None, avail), (v4, None, one, None, avail),
            (v4, 0, both, 1, avail), (one, None, one, None, used),
            (v6, None, v6, None, used)], 6001):
        def at(sa):
            return sa[:2] + struct.pack(">H", port) + sa[4:]
        check(bind(f, ident(only), at(first)) == 0, f"{port}: the first")
        got = bind(f, ident(only2), at(second))
        check(got == err, f"{port}: {got}, not {err}")
    with open("/proc/sys/net/ipv6/bindv6only", "w", encoding="ascii") as ctl:
        ctl.write("1")
        ctl.flush()
        try:
            check(bind(f, ident(None), sin6("::", 6100)) == 0, "bindv6only")
            check(bind(f, ident(None), sin("0.0.0.0", 6100)) == 0, "both")
        finally:
            ctl.write("0")
    os.close(f.fd)


def in_range(first, last):
    """All of it, and then none."""
    f = File()
    ports = set()
    for _ in range(last - first + 1):
        i = f.create()
        check(bind(f, i, sin(ADDR4, 0)) == 0, "a port")
        ports.add(struct.unpack_from(">H", query(f, i, 0, 280)[1], 18)[0])
    check(ports == set(range(first, last + 1)), f"{sorted(ports)}")
    check(bind(f, f.create(), sin(ADDR4, 0)) == errno.EADDRNOTAVAIL, "no more")
    os.close(f.fd)


def low(err):
    """cma_use_port(): EACCES without CAP_NET_BIND_SERVICE."""
    f = File()
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start",
              encoding="ascii") as ctl:
        first = int(ctl.read())
    for sa in sin(ADDR4, first - 1), sin("0.0.0.0", 1), sin6(ADDR6, 80):
        i = f.create()
        got = bind(f, i, sa)
        check(got == err, f"{got}, not {err}")
        check(bind(f, i, sin(ADDR4, 0)) == (errno.EINVAL if not err else 0),
              "nothing was changed")
    check(resolve(f, f.create(), sin(ADDR4, 7000), sin(ADDR4, 81)) == err, "source")
    check(bind(f, f.create(), sin(ADDR4, first)) == 0, "the first of all")
    os.close(f.fd)


def another():
    """ucma_write(): EACCES once the credentials are not those of open()."""
    f = File()
    i = f.create()
    os.setegid(65534)
    check(bind(f, i, sin(ADDR4, 0)) == errno.EACCES, "another group")
    os.setegid(0)
    check(bind(f, i, sin(ADDR4, 0)) == 0, "as it was")
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    check(query(f, i, 0, 280)[0] == errno.EACCES, "another user")
    check(f.event() == errno.EACCES, "another user's event")
    os.close(f.fd)


def main():
    what, *numbers = sys.argv[3:]
    {"wildcards": wildcards, "range": in_range, "low": low,
     "another": another}[what](*[int(n) for n in numbers])
    print("ok")


main()
