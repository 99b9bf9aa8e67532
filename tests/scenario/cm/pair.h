/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two connection managers and the wire between them, held in hand: each MAD
 * sent waits in the sender's out tray until the test delivers, repeats or
 * drops it, and each event is written down.
 */
#ifndef UR_TESTS_SCENARIO_CM_PAIR_H
#define UR_TESTS_SCENARIO_CM_PAIR_H

#include "cm/cm.h"
#include "tests/check.h"

#define MS	   1000000ull
#define TEST_PORT  7174
#define TRAY_SLOTS 4096
#define EVENT_MAX  64

struct letter {
	struct ur_cm_path path;
	u8 mad[UR_CM_MAD_BYTES];
};

struct happening {
	enum ur_cm_event_type type;
	int status;
	struct ur_cm_id *id;
	struct ur_cm_mad mad; /* zero when there was none */
};

struct host {
	struct ur_cm *cm;
	u8 gid[16];
	u64 guid;
	struct letter *tray;
	u32 tray_head, tray_count;
	struct happening events[EVENT_MAX];
	u32 events_head, events_count;
	bool abandon_requests;	   /* drop every REQ event silently */
	struct ur_cm_id *last_new; /* of the last REQ or SIDR_REQ */
};

struct pair {
	struct host a, b;
	u64 now;
};

void pair_init(struct pair *p, const struct ur_cm_config *limits);
void pair_fini(struct pair *p);
/* Makes the host's manager, which there is none of. */
void new_manager(struct host *h, u64 key, const struct ur_cm_config *limits);

/* The MAD at the head of the tray: it must be of kind attr. */
struct letter take(struct host *from, u16 attr);
void deliver(struct pair *p, struct host *to, const struct letter *letter);
/* take and deliver to the other host. */
void pass(struct pair *p, struct host *from, u16 attr);
void drop(struct host *from, u16 attr);
void expect_silence(struct host *h);

/* The next event of h must be of that type and status. */
struct happening expect(struct host *h, enum ur_cm_event_type type, int status);
void expect_no_event(struct host *h);

/* Time goes to the next deadline of h, which expires; it must be at most
 * limit_ms away. */
void wait_deadline(struct pair *p, struct host *h, u64 limit_ms);
/* Both hosts run until nothing has a deadline; all MADs are dropped. */
void run_dry(struct pair *p);

struct ur_cm_id *listen_on(struct host *h, u32 backlog);
struct ur_cm_path path_to(const struct host *from, const struct host *to);
struct ur_cm_req request(const struct host *from, const struct host *to,
			 u32 qpn);
struct ur_cm_rep answer(const struct host *from, u32 qpn);
struct ur_cm_id *connect_start(struct pair *p, struct host *from,
			       struct host *to, u32 qpn);
/* A whole connection from a (QPN qpn) to b (QPN qpn + 1000). */
void establish(struct pair *p, u32 qpn, struct ur_cm_id **a,
	       struct ur_cm_id **b);

/* Their failures are reported with the line of the caller. */
#ifndef PAIR_OWN_LINES
#define take(from, attr)      (ck_at(__FILE__, __LINE__), take(from, attr))
#define pass(p, from, attr)   (ck_at(__FILE__, __LINE__), pass(p, from, attr))
#define drop(from, attr)      (ck_at(__FILE__, __LINE__), drop(from, attr))
#define expect(h, type, stat) (ck_at(__FILE__, __LINE__), expect(h, type, stat))
#define expect_silence(h)     (ck_at(__FILE__, __LINE__), expect_silence(h))
#define expect_no_event(h)    (ck_at(__FILE__, __LINE__), expect_no_event(h))
#define wait_deadline(p, h, ms) \
	(ck_at(__FILE__, __LINE__), wait_deadline(p, h, ms))
#define establish(p, qpn, a, b) \
	(ck_at(__FILE__, __LINE__), establish(p, qpn, a, b))
#endif

#endif
