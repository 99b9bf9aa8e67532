# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Half of a test in another process: objects that live there, and references
to them that the suite uses as if they were its own.

A player is made in a child forked for it, so that classes of all kinds are
there already. The child enters the other host before it touches verbs: another
network namespace, and another device's run directory in the place of ours. Where
the other host is of another architecture, the child is a program of its own, the
runner again, which says `player` and does what serve() does.
Reading an attribute, calling a method and calling one of the suite's helpers on
a reference happen over there. Requests that the suite builds here (a work
request, QP attributes) are built again over there when they are handed over."""
import contextlib
import ctypes
import functools
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from multiprocessing import Pipe
from multiprocessing.connection import Connection

CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PLAIN = (int, float, str, bytes, bool, type(None))


def plain(v):
    # Members of pyverbs' enums cannot be pickled.
    return int(v) if isinstance(v, int) and type(v) is not bool else v


libc = ctypes.CDLL(None, use_errno=True)
hosts = {}      # netns, run_dir, far_run_dir: set by the runner
running = []    # the far processes of this test
inside = False  # is this one?


def check(ret):
    if ret:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def enter():
    """Move this process to the other host."""
    fd = os.open(f"/run/netns/{hosts['netns']}", os.O_RDONLY)
    check(libc.setns(fd, CLONE_NEWNET))
    os.close(fd)
    check(libc.unshare(CLONE_NEWNS))
    check(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    check(libc.mount(hosts["far_run_dir"].encode(), hosts["run_dir"].encode(), None,
                     MS_BIND, None))


class Ref:
    """An object of the far process."""

    def __init__(self, far, number, cls):
        self.__dict__.update(_far=far, _number=number, _cls=cls)

    # isinstance() asks this when the type itself does not match.
    __class__ = property(lambda self: self._cls or Ref)

    def __getattr__(self, name):
        return self._far.ask("get", self._number, name)

    def __setattr__(self, name, value):
        self._far.ask("set", self._number, name, value)


class Method:
    """A method of an object of the far process."""

    def __init__(self, far, number, name):
        self.far, self.number, self.name = far, number, name

    def __call__(self, *args, **kw):
        return self.far.ask("call", self.number, self.name, args, kw)


def is_ref(value):
    return type(value) is Ref or type(getattr(value, "_moved", None)) is Ref


def name_of(thing):
    return thing.__module__, thing.__qualname__


def by_name(module, qualname):
    return functools.reduce(getattr, qualname.split("."), importlib.import_module(module))


class Far:
    """The far process, seen from here."""

    def __init__(self, player):
        self.conn, theirs = Pipe()
        if "own" in hosts:
            self.pid = start(theirs, player)
        else:
            self.pid = os.fork()
            if not self.pid:
                self.conn.close()
                serve(theirs, player)
        theirs.close()
        running.append(self)

    def encode(self, v):
        if type(v) is Ref:
            assert v._far is self, "an object of one far process in another"
            return "ref", v._number
        if isinstance(v, PLAIN):
            return "plain", plain(v)
        if isinstance(v, (list, tuple)):
            return type(v).__name__, [self.encode(x) for x in v]
        if isinstance(v, dict):
            return "dict", {k: self.encode(x) for k, x in v.items()}
        if type(getattr(v, "_moved", None)) is Ref:
            return self.encode(v._moved)
        if hasattr(v, "_made"):
            cls, args, kw, later = v._made
            return ("make", name_of(cls), self.encode(list(args)), self.encode(kw),
                    self.encode(later))
        if callable(v) and hasattr(v, "__qualname__"):
            return "name", name_of(v)
        raise TypeError(f"the test hands a {type(v).__name__} made here to the other process")

    def decode(self, v):
        kind, *rest = v
        if kind == "plain":
            return rest[0]
        if kind in ("list", "tuple"):
            items = [self.decode(x) for x in rest[0]]
            return items if kind == "list" else tuple(items)
        if kind == "method":
            return Method(self, *rest)
        number, cls = rest
        try:
            return Ref(self, number, by_name(*cls))
        except (AttributeError, ImportError):
            return Ref(self, number, None)

    def ask(self, what, *args):
        self.conn.send((what, self.encode(list(args))))
        try:
            ok, value = self.conn.recv()
        except EOFError:
            raise RuntimeError("the far process ended") from None
        if ok:
            return self.decode(value)
        cls, args, state = value
        err = by_name(*cls).__new__(by_name(*cls), *args)
        err.args = args
        err.__dict__.update(state)
        raise err

    def make(self, cls, args, kw):
        return self.ask("make", name_of(cls), args, kw)

    def stop(self):
        self.conn.close()
        os.waitpid(self.pid, 0)


class Server:
    """The far process itself."""

    def __init__(self, player):
        self.player = player
        self.objects, self.numbers = {}, {}

    def encode(self, v):
        if isinstance(v, PLAIN):
            return "plain", plain(v)
        if isinstance(v, (list, tuple)):
            return type(v).__name__, [self.encode(x) for x in v]
        # A reference of its own each time: the object lives as long as we do.
        number = self.numbers.setdefault(id(v), len(self.numbers))
        self.objects[number] = v
        return "ref", number, name_of(type(v))

    def decode(self, v):
        kind, *rest = v
        if kind == "plain":
            return rest[0]
        if kind == "ref":
            return self.objects[rest[0]]
        if kind in ("list", "tuple"):
            items = [self.decode(x) for x in rest[0]]
            return items if kind == "list" else tuple(items)
        if kind == "dict":
            return {k: self.decode(x) for k, x in rest[0].items()}
        if kind == "name":
            return by_name(*rest[0])
        cls, args, kw, later = rest
        made = by_name(*cls)(*self.decode(args), **self.decode(kw))
        for name, value in self.decode(later).items():
            setattr(made, name, value)
        return made

    def do(self, what, args):
        if what == "get":
            value = getattr(self.objects[args[0]], args[1])
            if callable(value):
                return "method", args[0], args[1]
            return self.encode(value)
        if what == "set":
            setattr(self.objects[args[0]], args[1], args[2])
            return self.encode(None)
        if what == "call":
            return self.encode(getattr(self.objects[args[0]], args[1])(*args[2], **args[3]))
        if what == "player":
            return self.encode(self.player(*args[0], **args[1]))
        return self.encode(by_name(*args[0])(*args[1], **args[2]))

    def loop(self, conn):
        while True:
            what, args = conn.recv()
            try:
                answer = True, self.do(what, self.decode(args))
            except Exception as e:
                state = {k: plain(v) for k, v in e.__dict__.items() if isinstance(v, PLAIN)}
                answer = False, (name_of(type(e)), tuple(str(a) for a in e.args), state)
            conn.send(answer)


def start(theirs, player):
    """The far process as a program of the other host; its pid."""
    conf = {k: v for k, v in hosts.items() if k != "own"}
    conf.update(player=name_of(player), fd=theirs.fileno())
    runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runner.py")
    args = [os.getcwd(), os.devnull, *hosts["options"], json.dumps(conf)]
    return subprocess.Popen([*hosts["own"], sys.executable, runner, *args],
                            pass_fds=[theirs.fileno()]).pid


@contextlib.contextmanager
def to_the_end():
    """What is served inside ends the process, and destroys nothing."""
    global inside
    inside = True
    try:
        yield
    except (EOFError, BrokenPipeError, ConnectionResetError):
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def play(conf):
    """What start() started. Never returns."""
    with to_the_end():
        Server(by_name(*conf["player"])).loop(Connection(conf["fd"]))


def serve(conn, player):
    """Never returns. What was inherited is left alone: it belongs to the
    parent's session."""
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with to_the_end():
        running.clear()
        enter()
        Server(player).loop(conn)


def stop_all():
    while running:
        running.pop().stop()


# ---- what the suite builds ----

def far_of(values):
    for v in values:
        if type(v) is Ref:
            return v._far
        if type(getattr(v, "_moved", None)) is Ref:
            return v._moved._far
        if isinstance(v, (list, tuple)):
            f = far_of(v)
            if f:
                return f
    return None


def remember(cls, binders=()):
    """A class of pyverbs that remembers how an object was made, and is made
    over there if it is made of something there. A binder is a method that may
    be given something that is there: then the object moves."""

    class Remembering(cls):
        def __new__(klass, *args, **kw):
            far = far_of(args) or far_of(kw.values())
            if far:
                return far.make(klass, args, kw)
            self = super().__new__(klass, *args, **kw)
            object.__setattr__(self, "_made", (klass, args, kw, {}))
            return self

        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            if "_made" in self.__dict__:
                self._made[3][name] = value

        def __getattribute__(self, name):
            own = object.__getattribute__(self, "__dict__")
            if "_moved" in own and name not in ("_moved", "_made"):
                return getattr(own["_moved"], name)
            return super().__getattribute__(name)

    def binder(name):
        def method(self, *args, **kw):
            far = far_of(args) or far_of(kw.values())
            if not far:
                return getattr(cls, name)(self, *args, **kw)
            klass, made, made_kw, later = self._made
            moved = far.make(klass, made, made_kw)
            for k, v in later.items():
                setattr(moved, k, v)
            object.__setattr__(self, "_moved", moved)
            return getattr(self._moved, name)(*args, **kw)
        return method

    for name in binders:
        setattr(Remembering, name, binder(name))
    Remembering.__name__, Remembering.__qualname__ = cls.__name__, cls.__qualname__
    Remembering.__module__ = cls.__module__
    return Remembering


def helper(fn, local):
    """A helper of the suite that runs where the player is that it is given.
    local: the classes of players; one of them among the arguments keeps it
    here."""

    @functools.wraps(fn)
    def run(*args, **kw):
        values = list(args) + list(kw.values())
        far = far_of(values)
        here = any(type(v) is not Ref and isinstance(v, local) for v in values)
        if far and not here:
            return far.ask("func", name_of(fn), args, kw)
        return fn(*args, **kw)
    return run
