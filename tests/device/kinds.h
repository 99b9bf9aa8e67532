/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A user, and one object more of each kind: 0, or what the device answers. */
#ifndef UR_TESTS_DEVICE_KINDS_H
#define UR_TESTS_DEVICE_KINDS_H

#include <stdint.h>

/* A user's connections and what each kind of object is made of. */
struct user {
	int sock, cm;
	uint32_t pd, cq, xrcd, ud;
	uint32_t first_group, groups;
};

int64_t make_pd(struct user *u);
int64_t make_cq(struct user *u);
int64_t make_xrcd(struct user *u);
int64_t make_srq(struct user *u);
int64_t make_mr(struct user *u);
int64_t make_mw(struct user *u);
int64_t make_ah(struct user *u);
int64_t make_dm(struct user *u); /* of 4096 bytes */
int64_t make_id(struct user *u);
/* Makes one of that type, in a domain. */
int64_t make_qp_of(struct user *u, uint8_t type, uint32_t domain,
		   uint32_t *handle);
/* An XRC target: without rings. */
int64_t make_qp(struct user *u);
int64_t join_group(struct user *u, uint32_t qp, uint32_t group);
/* Each user has groups of his own. */
int64_t make_group(struct user *u);

/* The memory that make_mr() registers. */
extern char page[4096];

#endif
