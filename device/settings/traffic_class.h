/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The administrator's rules for the IP headers of connected queue pairs: a traffic class
 * for all or by address, and a hop limit. They override what programs ask for. The format
 * is that of mlx5's tc/1/traffic_class and ttl/1/ttl. No I/O.
 */
#ifndef UR_DEVICE_SETTINGS_TRAFFIC_CLASS_H
#define UR_DEVICE_SETTINGS_TRAFFIC_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include "util/bytes.h"

#define UR_TCLASS_RULES 40
/* Maximum bytes of the text of all rules, with the NUL. */
#define UR_TCLASS_TEXT (UR_TCLASS_RULES * 128)

struct ur_tclass_rule {
	bool used, v6, by_src, by_dst;
	u8 src[16], dst[16]; /* v4: the first four bytes */
	u8 prefix;	     /* significant bits of dst; v6: 128 */
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
 * Parses and stores "16", "tclass=16" (for all) or a rule, "tclass=16,src_ip=A,dst_ip=B/24"
 * with one or both addresses, or src_ip6 and dst_ip6; tclass=-1 removes it. Returns 0,
 * -EINVAL, or -ENOMEM if there are UR_TCLASS_RULES.
 */
int ur_tclass_store(struct ur_tclass *t, const char *text);
/* Writes the rules, one a line. */
void ur_tclass_show(const struct ur_tclass *t, char *buf, size_t size);
/* Applies the rules to *tclass and *hop_limit of a path. The value for all comes before
 * rules; a rule with both addresses before one with the destination, and that before one
 * with the source. */
void ur_tclass_apply(const struct ur_tclass *t, const u8 sgid[16],
		     const u8 dgid[16], u8 *tclass, u8 *hop_limit);

#endif
