# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The matrix on dma-bufs of real drivers: guest.sh."""
import os
import shutil
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize("driver", os.environ.get("UROCE_GPU_DRIVERS", "udmabuf vgem").split())
def test_driver(driver):
    if os.geteuid() or not shutil.which("qemu-system-x86_64"):
        pytest.skip("needs root and QEMU")
    r = subprocess.run([os.path.join(HERE, "guest.sh"), driver], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, check=False)
    assert r.returncode == 0 and f"{driver}: passed" in r.stdout, r.stdout
