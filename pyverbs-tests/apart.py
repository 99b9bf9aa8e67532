# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The two players of a test apart, without editing the suite.

In every test the first player (an object of the suite's BaseResources) stays
where it is. The second one is put
  wire   on the second device of the same uroced, or
  hosts  in another process, on another host with a uroced of its own (far.py).
Addresses are exchanged: the suite connects each player to its own GID."""
import ctypes
import functools
import importlib
import json
import mmap
import subprocess
import sys
import types

import far


def substitute(*news):
    """Wherever a module of the suite has a name for something old, the new."""
    new = {k: v for n in news for k, v in n.items()}
    for name, module in list(sys.modules.items()):
        if name.startswith("tests."):
            for attr, value in list(vars(module).items()):
                if isinstance(value, (type, types.FunctionType)) and value in new:
                    setattr(module, attr, new[value])


class Apart:
    def __init__(self, conf):
        self.conf = conf
        self.mode = conf["mode"]
        self.players = 0
        far.hosts.update(conf)
        self.before = None
        import tests.base as base
        import tests.utils as utils
        self.patch_addresses(base, utils)
        self.patch_cm(base)
        if self.mode == "wire":
            self.patch_device(base)
        else:
            self.patch_process(base)
            if "own" not in conf:
                self.patch_memory()
            substitute(self.remembering(), self.helpers(base, utils))

    def start_test(self):
        self.players = 0
        self.before = self.read()

    def read(self):
        """[sent, received, delivered to itself] of each player's device."""
        found = []
        for d in {self.conf["run_dir"]: 0, self.conf["far_run_dir"]: 0}:
            out = subprocess.check_output([self.conf["uroce"], "stat", "--json", "--run-dir", d])
            for dev in json.loads(out):
                c = dev["counters"]
                found.append([c[n] for n in ("sent_pkts", "rcvd_pkts", "loop_msgs")])
        return found

    def stop_test(self):
        far.stop_all()

    def carried(self):
        """Did packets go from one device to the other, and nothing to itself?"""
        (sent, got, loop), (sent2, got2, loop2) = (
            [y > x for x, y in zip(*both)] for both in zip(self.before, self.read()))
        return (sent and got2 or sent2 and got) and not loop and not loop2

    def remembering(self):
        """Classes whose objects the suite hands from one player to the other's."""
        new = {}
        for module, names in {
                "pyverbs.wr": {"SGE": (), "RecvWR": (), "SendWR": ("set_bind_wr",)},
                "pyverbs.qp": {"QPAttr": ()},
                "pyverbs.cq": {"PollCqAttr": ()},
                "pyverbs.pd": {"PD": ()},
                "pyverbs.mr": {"MR": (), "MW": (), "MWBindInfo": (), "MWBind": ()},
                "pyverbs.addr": {"AH": (), "AHAttr": ()}}.items():
            m = importlib.import_module(module)
            for name, binders in names.items():
                old = getattr(m, name)
                new[old] = far.remember(old, binders)
                setattr(m, name, new[old])
        return new

    def helpers(self, base, utils):
        """The suite's helpers, which run where their player is."""
        local = base.BaseResources, base.RDMATestCase
        return {fn: far.helper(fn, local) for fn in vars(utils).values()
                if isinstance(fn, types.FunctionType) and fn.__module__ == "tests.utils"}

    def patch_addresses(self, base, utils):
        from pyverbs.addr import GID
        route = base.GlobalRoute
        a, b = self.conf["gids"]
        other = {a: b, b: a}

        def global_route(dgid=None, **kw):
            if dgid is not None and str(dgid.gid) in other:
                dgid = GID(other[str(dgid.gid)])
            return route(dgid=dgid, **kw)

        base.GlobalRoute = utils.GlobalRoute = global_route

    def patch_device(self, base):
        apart = self

        def create_context(self):
            apart.players += 1
            self.dev_name = ("uroce1", "uroce0")[apart.players % 2]
            self.ctx = base.Context(name=self.dev_name)

        base.BaseResources.create_context = create_context

    def patch_process(self, base):
        apart = self

        create_context = base.BaseResources.create_context

        def new(cls, *args, **kw):
            if cls.create_context is not create_context:
                return object.__new__(cls)  # somebody else's context
            apart.players += 1
            if apart.players % 2 or far.inside:
                return object.__new__(cls)
            return far.Far(cls).ask("player", args, kw)

        base.BaseResources.__new__ = new

    def patch_memory(self):
        """test_mr_rereg_addr gives the far player an address of memory that it has
        itself. The far process is forked from this one: what is mapped here by now, and
        nobody else's, is there as well."""
        import tests.test_mr as test_mr
        self.memory = mmap.mmap(-1, 1 << 20)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

        def posix_memalign(size, alignment=4096):
            assert size <= len(self.memory) and alignment <= 4096
            return start

        test_mr.posix_memalign, test_mr.free = posix_memalign, lambda address: None

    def patch_cm(self, base):
        """The suite's CM tests are two processes already."""
        import tests.base_rdmacm as cm
        import tests.rdmacm_utils as cm_utils
        mine, theirs = self.conf["addrs"]
        info = cm.AddrInfo
        group = f"{base.MC_IP_PREFIX}{mine[mine.find('.'):]}"
        hosts = self.mode == "hosts"

        def addr_info(src=None, dst=None, **kw):
            return info(src=src, dst=theirs if dst == mine else mine if dst == theirs else dst,
                        **kw)

        def apart(flow):
            @functools.wraps(flow)
            def run(self, passive=None, **kw):
                if passive:
                    if hosts:
                        far.enter()
                    self.ip_addr = theirs
                return flow(self, passive=passive, **kw)
            return run

        def one_group(method):
            @functools.wraps(method)
            def run(self, mc_addr=None, **kw):
                return method(self, mc_addr=group, **kw)
            return run

        cm.AddrInfo = addr_info
        for name in "rdmacm_traffic", "rdmacm_multicast_traffic", "rdmacm_remote_traffic":
            setattr(base.RDMACMBaseTest, name, apart(getattr(base.RDMACMBaseTest, name)))
        for name in "join_to_multicast", "leave_multicast":
            cls = cm_utils.CMAsyncConnection
            setattr(cls, name, one_group(getattr(cls, name)))
