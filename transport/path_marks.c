// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds out whether a peer answers marks. A switch marks ECT packets instead of
 * dropping them. If the peer sends no CNPs (Soft-RoCE), the sender does not
 * learn to send less, and takes the share of others.
 *
 * After LONG_NS of long round trips without a CNP, the path tests its peer: now
 * and then it sends a packet that it has marked itself. A peer that answers
 * none of TESTS packets, or does not get them unchanged, is silent: for FOR_NS
 * the packets to it are not ECT, so queues drop them, and losses cut the
 * window. A peer that has sent a CNP is not tested in that time. The port keeps
 * this memory, since a path ends with its last queue pair.
 */
#include "transport/path_impl.h"

#include <stdlib.h>

#define LONG_NS 200000000u
/* between two tests, plus TEST_TRIPS round trips */
#define TEST_NS	   50000000u
#define TEST_TRIPS 4
#define IDLE_NS	   20000000u
#define TESTS	   4
#define FOR_NS	   3600000000000ull
/* between two CNPs: our default, and the DCQCN paper's */
#define FIRST_GAP_NS 50000u

static struct ur_mark_memory *memory_of(struct ur_port *port, const u8 *dgid,
					u32 owner)
{
	u64 sum = ur_path_hash(port, dgid, owner);

	return &port->marks[sum >> (64 - UR_MARK_BITS)];
}

static enum ur_marks remember(struct ur_port *port, const u8 *dgid, u32 owner,
			      ur_time *until)
{
	const struct ur_mark_memory *m = memory_of(port, dgid, owner);

	if (m->owner != owner || memcmp(m->dgid, dgid, 16) ||
	    port->now >= m->until)
		return UR_MARKS_UNKNOWN;
	*until = m->until;
	return m->answers ? UR_MARKS_ANSWERED : UR_MARKS_SILENT;
}

static void keep(struct ur_port *port, const u8 *dgid, u32 owner,
		 enum ur_marks marks)
{
	struct ur_mark_memory *m = memory_of(port, dgid, owner);

	memcpy(m->dgid, dgid, 16);
	m->owner = owner;
	m->answers = marks == UR_MARKS_ANSWERED;
	m->until = marks == UR_MARKS_UNKNOWN ? 0 : port->now + FOR_NS;
}

void ur_marks_answer(struct ur_port *port, const u8 dgid[16], u32 owner)
{
	keep(port, dgid, owner, UR_MARKS_ANSWERED);
}

bool ur_marks_known(struct ur_port *port, const u8 dgid[16], u32 owner)
{
	ur_time until;

	return remember(port, dgid, owner, &until) == UR_MARKS_ANSWERED;
}

u64 ur_marks_hash(const struct ur_port *port, const u8 dgid[16], u32 owner)
{
	return ur_path_hash(port, dgid, owner);
}

void ur_path_marks_init(struct ur_path *p, const struct ur_av *av)
{
	p->cnp_gap_ns = FIRST_GAP_NS;
	p->marks = remember(p->port, p->dgid, p->owner, &p->marks_until);
	p->test_av = malloc(sizeof(*p->test_av));
	if (!p->test_av)
		return;
	*p->test_av = *av;
	p->test_av->refs = 1;
}

void ur_path_marks_fini(struct ur_path *p)
{
	ur_av_put(p->test_av);
}

void ur_path_marks_left(struct ur_path *p, struct ur_qp *qp)
{
	if (p->tester == qp)
		p->tester = NULL;
	qp->share.test = false;
}

/* Returns whether packets should be ECT. UC has no path and makes no tests, so
 * it needs a peer that has answered marks. */
static bool is_ect(const struct ur_qp *qp)
{
	const struct ur_path *p = qp->share.path;

	if (p)
		return p->marks != UR_MARKS_SILENT;
	if (qp->attr.av->traffic_class & UR_ECN_MASK)
		return true;
	return qp->svc == UR_SVC_UC && qp->port->cc.windowless &&
	       ur_marks_known(qp->port, qp->attr.av->dgid, qp->init.owner);
}

void ur_qp_set_ecn(struct ur_qp *qp)
{
	struct ur_av *av = qp->attr.av;
	u8 class;

	if (!av || !av->ecn)
		return;
	class = (u8)((av->traffic_class & ~UR_ECN_MASK) |
		     (is_ect(qp) ? av->ecn : 0));
	if (class == av->traffic_class)
		return;
	av->traffic_class = class;
	av->wire = 0; /* route of another socket */
}

static void learn(struct ur_path *p, enum ur_marks marks)
{
	bool ecn = (marks == UR_MARKS_SILENT) != (p->marks == UR_MARKS_SILENT);

	p->marks = marks;
	p->marks_until = p->port->now + FOR_NS;
	p->tests = 0;
	p->long_at = 0;
	keep(p->port, p->dgid, p->owner, marks);
	for (struct ur_list *l = p->members.next; ecn && l != &p->members;
	     l = l->next)
		ur_qp_set_ecn(ur_container_of(l, struct ur_qp, share.link));
}

void ur_qp_marks_answered(struct ur_qp *qp)
{
	if (!qp->share.path && qp->attr.av)
		ur_marks_answer(qp->port, qp->attr.av->dgid, qp->init.owner);
}

bool ur_path_marks_answered(struct ur_path *p)
{
	bool test = p->tests && p->marks == UR_MARKS_UNKNOWN;

	if (p->marks != UR_MARKS_ANSWERED ||
	    p->marks_until - p->port->now < FOR_NS / 2)
		learn(p, UR_MARKS_ANSWERED);
	return test;
}

static bool test_is_due(struct ur_path *p)
{
	ur_time now = p->port->now;
	/* A program that sends now and then fills no queue. */
	bool idle = now - p->looked_at > IDLE_NS + p->window.srtt;

	p->looked_at = now;
	if (idle || !ur_path_window_waits(&p->window)) {
		p->long_at = 0;
		p->tests = 0;
		return false;
	}
	if (!p->long_at)
		p->long_at = now;
	return now - p->long_at >= LONG_NS &&
	       (!p->tests ||
		now - p->test_at >= TEST_NS + (u64)TEST_TRIPS * p->window.srtt);
}

void ur_path_marks_look(struct ur_path *p, struct ur_qp *qp)
{
	p->marks_round = p->window.rounds;
	if (p->marks != UR_MARKS_UNKNOWN) {
		if (p->port->now >= p->marks_until)
			learn(p, UR_MARKS_UNKNOWN);
		return;
	}
	if (!qp->attr.av->ecn || !p->test_av || !test_is_due(p))
		return;
	if (p->tests < TESTS) {
		/* The last tester may have nothing more to send. */
		if (p->tester)
			p->tester->share.test = false;
		p->tester = qp;
		qp->share.test = true;
		return;
	}
	ur_count(p->port, UR_CNT_ecn_unanswered);
	learn(p, UR_MARKS_SILENT);
}

struct ur_av *ur_path_test_av(struct ur_qp *qp)
{
	struct ur_av *av = qp->share.path->test_av;
	u32 refs = av->refs;

	*av = *qp->attr.av;
	av->refs = refs;
	av->wire = 0;
	av->traffic_class |= UR_ECN_CE;
	return av;
}

void ur_path_tested(struct ur_qp *qp)
{
	struct ur_path *p = qp->share.path;

	ur_path_marks_left(p, qp);
	p->tests++;
	p->test_at = p->port->now;
}
