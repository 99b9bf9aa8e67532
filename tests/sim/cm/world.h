/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Two hosts with a connection manager each, a link that loses, repeats, delays
 * and thereby reorders MADs, a virtual clock, and applications that connect,
 * accept, refuse, dawdle, hang up and vanish at random. All from one seed.
 */
#ifndef UR_TESTS_SIM_CM_WORLD_H
#define UR_TESTS_SIM_CM_WORLD_H

#include "cm/cm.h"
#include "tests/check.h"
#include "util/rng.h"

#define MS ((u64)1000000)

/* How bad this run is: chances in 1000. */
struct faults {
	u32 drop, duplicate, slow;
	u64 delay_max_ns;
};

/* One application's end of one attempt. */
struct end {
	struct world *w;
	u32 host;
	u32 attempt;
	struct ur_cm_id *id; /* NULL: destroyed */
	bool passive, sidr;
	bool said_dreq;
	bool was_established, over;
	u32 peer_qpn;
};

enum task_kind {
	TASK_DELIVER,
	TASK_CONNECT,
	TASK_ACT, /* the application's next move */
	TASK_DESTROY,
};

struct task {
	u64 at;
	u64 sequence; /* ties are resolved in order of making */
	enum task_kind kind;
	u32 host;
	struct end *end;
	struct ur_cm_path path;
	u8 mad[UR_CM_MAD_BYTES];
};

#define ENDS_MAX  4096
#define TASKS_MAX 8192

struct world {
	u64 seed;
	u64 now;
	bool trace;
	bool faults_on;
	u64 hash; /* of all that happened */
	struct faults faults;
	struct ur_rng link_rng, app_rng;
	struct ur_cm *cm[2];
	struct ur_cm_id *listener[2];
	u8 gid[2][16];
	u64 guid[2];
	struct end *ends[ENDS_MAX];
	u32 end_count;
	struct task *tasks[TASKS_MAX]; /* heap by (at, sequence) */
	u32 task_count;
	u64 next_sequence;
	u32 attempts;
	u32 both_established, sidr_done;
};

void world_init(struct world *w, u64 seed, bool trace);
/* The whole life: attempts under faults, then silence; checks as it goes. */
void world_run(struct world *w);
void world_fini(struct world *w);
void world_note(struct world *w, const char *what, u32 host, u64 a, u64 b);
/* Reports a fault with the seed that shows it. */
void world_fail(struct world *w, const char *what);

struct task *world_add_task(struct world *w, enum task_kind kind, u64 delay_ns);

/* app.c */
void app_start(struct world *w, u32 attempts);
void app_event(struct world *w, u32 host, struct ur_cm_id *id,
	       const struct ur_cm_event *event);
void app_task(struct world *w, struct task *t);
/* Every end is destroyed; called when the faults are over. */
void app_finish(struct world *w);
void app_check_agreement(struct world *w);

#endif
