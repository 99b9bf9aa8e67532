/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Limits the rate of one queue pair: by DCQCN, and by a rate that the program
 * sets. Rates in bits per second, alpha in 2^-20. */
#ifndef UR_TRANSPORT_CC_H
#define UR_TRANSPORT_CC_H

#include "transport/qp.h"

#define UR_CC_ALPHA_ONE (1u << 20)
#define UR_CC_SENT_BITS 3

struct ur_cc {
	const struct ur_cc_config *cfg; /* the port's, defaults filled in */
	bool limited; /* a CNP has come and the rate is below the link's */
	bool cnp_in_period;
	u64 rate, target;
	u32 alpha;
	u32 timer_stage, byte_stage;
	u64 bytes;
	bool increased; /* the rate rose since the last CNP */
	ur_time heeded; /* time of the last CNP that counted; 0: none */
	ur_time alpha_at, rate_at;
	ur_time next_send; /* pacing: no packet leaves before */
	/* The program's rate limit, which CNPs do not change. */
	u64 cap_bps; /* 0: none */
	ur_time cap_next;
	bool answered; /* the last paced packet answered a READ */
	/* UD: hashes of addresses that ECT packets were sent to
	 * (ud_marks.c). */
	u32 sent_to[1u << UR_CC_SENT_BITS];
};

/* Returns whether only the rate, and no window, can react to congestion
 * marks. */
static inline bool ur_cc_is_windowless(const struct ur_qp *qp)
{
	return qp->svc == UR_SVC_UD ||
	       (qp->svc == UR_SVC_UC && qp->attr.av && qp->attr.av->ecn);
}

/* Returns when the next packet may leave; 0: at once. cc may be NULL. */
static inline ur_time ur_cc_next(const struct ur_cc *cc)
{
	ur_time at = cc && cc->limited ? cc->next_send : 0;

	return cc && cc->cap_bps && cc->cap_next > at ? cc->cap_next : at;
}

/* Returns the setting v, or its default d where v is 0. */
static inline u64 ur_cc_or_default(u64 v, u64 d)
{
	return v ? v : d;
}

#endif
