# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What nftables does to RoCEv2's packets on their way out of a host or into it."""


def leaving(table, what):
    """A table of the family netdev with this for all that leaves eth0, bursts as
    they are handed down."""
    return _table("netdev", table, "egress device eth0", what)


def sent(table, what):
    """A table of the family inet with this for all that the host sends."""
    return _table("inet", table, "output", what)


def arriving(table, what):
    """A table of the family inet with this for all that comes."""
    return _table("inet", table, "input", what)


def _table(family, table, hook, what):
    return (f"table {family} {table} {{ chain rules {{ type filter hook {hook} priority 0; "
            f"udp dport 4791 {what}; }}; }}")


def some(percent):
    """One packet in so many, by chance."""
    return f"numgen random mod 100 < {percent}"


def drop(percent):
    return arriving("bad", f"{some(percent)} counter drop")
