# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
pytest_plugins = ["uroce_fabric"]
