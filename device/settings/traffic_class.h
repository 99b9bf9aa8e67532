/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The administrator's rules for the IP headers of connected queue pairs,
 * whatever their programs ask for: a traffic class for all, or by addresses,
 * and a hop limit. In the form of mlx5's tc/1/traffic_class and ttl/1/ttl. No
 * I/O.
 */
#ifndef UR_DEVICE_SETTINGS_TRAFFIC_CLASS_H
#define UR_DEVICE_SETTINGS_TRAFFIC_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include "util/bytes.h"

#define UR_TCLASS_RULES 40
/* The longest text of all rules, with the NUL. */
#define UR_TCLASS_TEXT (UR_TCLASS_RULES * 128)

struct ur_tclass_rule {
	bool used, v6, by_src, by_dst;
	u8 src[16], dst[16]; /* v4: the first four bytes */
	u8 prefix;	     /* bits of dst that count; v6: all 128 */
	u8 tclass;
};

struct ur_tclass {
	int global; /* -1: none */
	u8 ttl;	    /* 0: none */
	/* The rules in use come first, longer prefixes before shorter ones. */
	struct ur_tclass_rule rule[UR_TCLASS_RULES];
};

/* Makes an empty set of rules. */
void ur_tclass_init(struct ur_tclass *t);
/*
 * Takes "16", "tclass=16" (for all) or a rule, "tclass=16,src_ip=A,dst_ip=B/24"
 * with either address or both, or src_ip6 and dst_ip6; tclass=-1 takes it away.
 * Returns 0, -EINVAL, or -ENOMEM where there are UR_TCLASS_RULES.
 */
int ur_tclass_store(struct ur_tclass *t, const char *text);
/* Writes the rules, a line each; an empty text where there are none. */
void ur_tclass_show(const struct ur_tclass *t, char *buf, size_t size);
/* Changes *tclass and *hop_limit of a path as the rules ask. The value for all
 * counts before rules; among these one with both addresses before one with the
 * destination, and that before one with the source. */
void ur_tclass_apply(const struct ur_tclass *t, const u8 sgid[16],
		     const u8 dgid[16], u8 *tclass, u8 *hop_limit);

#endif
