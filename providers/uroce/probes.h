/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Static probes (USDT) of what programs post and poll, with the names that
 * rdma-core's providers give theirs; doc/record.md lists them. Each is one nop.
 * Its arguments are values at hand, so that nothing is computed for them.
 */
#ifndef UR_PROVIDERS_UROCE_PROBES_H
#define UR_PROVIDERS_UROCE_PROBES_H

#ifdef UROCE_PROBES
#include <sys/sdt.h>
#define UR_PROBE3(name, a, b, c) STAP_PROBE3(rdma_core_uroce, name, a, b, c)
#define UR_PROBE5(name, a, b, c, d, e) \
	STAP_PROBE5(rdma_core_uroce, name, a, b, c, d, e)
#else
#define UR_PROBE3(name, a, b, c)       ((void)0)
#define UR_PROBE5(name, a, b, c, d, e) ((void)0)
#endif

#endif
