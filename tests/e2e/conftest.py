# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
import os
import sys

sys.path[:0] = [os.path.dirname(__file__),
                os.path.dirname(os.path.dirname(__file__))]
from fixtures import *  # noqa: E402,F401,F403
from representative import pytest_collection_modifyitems  # noqa: E402,F401
