# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fixtures: two hosts with a device each, at either MTU. What a conftest.py
imports; this folder's modules are then found.

UROCE_BUILD or --build names the build tree (default: build)."""
import os
import shutil
import signal
import subprocess
import sys

import pytest

sys.path[:0] = [os.path.dirname(__file__),
                os.path.dirname(os.path.dirname(__file__))]
import hosts  # noqa: E402
from parts import pytest_runtest_setup  # noqa: E402,F401
from user_namespaces import user_namespaces  # noqa: E402,F401


def pytest_addoption(parser):
    parser.addoption("--build", default=os.environ.get(
        "UROCE_BUILD", os.path.join(hosts.TOP, "build")))
    parser.addoption("--engine", choices=("device", "process", "apart"), help="of "
                     "programs (default: what they have by themselves)")


def pytest_configure(config):
    if place := config.getoption("--engine"):
        os.environ["UROCE_ENGINE"] = place
    config.addinivalue_line("markers", "part(NAME): needs UROCE_WITH_NAME (parts.py)")

    def stop(sig, frame):
        raise KeyboardInterrupt
    # Finalizers run on SIGINT; let them on SIGTERM (a test runner's limit).
    signal.signal(signal.SIGTERM, stop)
    if os.geteuid() == 0:
        hosts.sweep()


@pytest.fixture(scope="session")
def build(request):
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    for program in "ip", "nft", "ibv_rc_pingpong", "ib_send_bw":
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    path = os.path.abspath(request.config.getoption("--build"))
    if os.path.exists(path + "/lib/liburoce-rdmav34.so") and b"libasan" in \
            open(path + "/lib/liburoce-rdmav34.so", "rb").read():
        # The provider brings the sanitizer into programs that have none;
        # those leak what they like.
        os.environ.setdefault("ASAN_OPTIONS",
                              "verify_asan_link_order=0:detect_leaks=0")
    for program in "uroced", "uroce":
        assert os.access(f"{path}/bin/{program}", os.X_OK), \
            f"{path}/bin/{program}: build first"
    return path


@pytest.fixture(scope="session")
def labs(build):
    """One lab for each MTU, made when first asked for."""
    made = {}

    def get(mtu):
        if mtu not in made:
            made[mtu] = lab = hosts.Lab(build, mtu)
            lab.serve()
        return made[mtu]
    yield get
    for lab in made.values():
        lab.close()


@pytest.fixture
def lab(build):
    """A lab for one test, to be broken. No device is started."""
    lab = hosts.Lab(build)
    yield lab
    lab.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What the devices said belongs to the report of a failure."""
    report = (yield).get_result()
    if report.when != "call" or not report.failed:
        return
    labs = [v for v in item.funcargs.values() if isinstance(v, hosts.Lab)]
    if "labs" in item.funcargs and "mtu" in item.funcargs:
        labs.append(item.funcargs["labs"](item.funcargs["mtu"]))
    for lab in labs:
        for host in lab.a, lab.b:
            if host.device and not host.device.out.closed:
                report.sections.append(
                    (f"uroced on {host.name}",
                     host.device.report()[-8000:]))


HUGE = "/proc/sys/vm/nr_hugepages"
POOL_PAGES = 16  # of 2 MiB: what a pool_sz_mb of 16 takes


@pytest.fixture
def huge_pages():
    """For tgtd, whose buffers are SysV memory of huge pages and no other, and
    whoever else wants some."""
    with open(HUGE) as f:
        before = int(f.read())
    try:
        with open(HUGE, "w") as f:
            f.write(str(before + POOL_PAGES))
    except OSError as e:
        pytest.skip(f"huge pages: {e}")
    with open(HUGE) as f:
        got = int(f.read())
    if got == before + POOL_PAGES:
        yield
    with open(HUGE, "w") as f:
        f.write(str(before))
    if got < before + POOL_PAGES:
        pytest.skip("no memory for huge pages")


TOPOLOGIES = {"one": lambda lab: (lab.a, lab.a),
              "two": lambda lab: (lab.a, lab.b)}


@pytest.fixture(params=TOPOLOGIES)
def topology(request):
    return TOPOLOGIES[request.param]
