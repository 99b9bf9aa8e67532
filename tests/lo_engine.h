/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The settings of a small engine on the loopback interface, for an initializer of struct
 * ur_engine_config. */
#ifndef UR_TESTS_LO_ENGINE_H
#define UR_TESTS_LO_ENGINE_H

#define LO_ENGINE                                                      \
	.netdev = "lo", .ifindex = 1, .mtu_bytes = 1024, .max_qp = 16, \
	.max_mr = 16, .seed = 1

#endif
