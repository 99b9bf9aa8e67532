# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A representative part of long test matrices, as a pytest plugin.

A test function with many parameter sets runs a part of them, in which each value
of each parameter comes at least once (each program, transport, topology, fault),
but not each combination. A function whose attribute `shows` is another function,
of its parameters as a dict, runs as many as bring each element of what that
returns once. The choice is always the same. `tests/all.sh full`, which sets UROCE_FULL, runs all,
and so does a run that names its tests (-k, or FILE::TEST)."""
import collections
import itertools
import os

LONG = 6  # parameter sets; fewer are run as they are


def values_of(item):
    """What an item shows: the value of each of its parameters, or what its
    function says of them."""
    shows = getattr(item.function, "shows", dict.items)
    return {(name, repr(value)) for name, value in shows(item.callspec.params)}


def pairs(values):
    return itertools.combinations(sorted(values), 2)


def representatives(items):
    """As few as suffice for each value that any has. Among equals the one whose
    values came together least often, so that the others take turns."""
    shows = {item: values_of(item) for item in items}
    missing = set().union(*shows.values())
    came = collections.Counter()
    chosen = set()
    while missing:
        best = max(items, key=lambda item: (len(shows[item] & missing),
                                            -sum(came[p] for p in pairs(shows[item]))))
        chosen.add(best)
        missing -= shows[best]
        came.update(pairs(shows[best]))
    return chosen


def pytest_collection_modifyitems(config, items):
    named = config.option.keyword or any("::" in arg for arg in config.args)
    if os.environ.get("UROCE_FULL") or named:
        return
    by_function = {}
    for item in items:
        if hasattr(item, "callspec"):
            by_function.setdefault((item.fspath, item.function), []).append(item)
    left = set()
    for group in by_function.values():
        if len(group) >= LONG or hasattr(group[0].function, "shows"):
            left |= set(group) - representatives(group)
    if left:
        config.hook.pytest_deselected(items=list(left))
        items[:] = [item for item in items if item not in left]
