// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One more engine of a device that works already. It gets the settings of the
 * first one, and its sockets, before others hand packets to it or a context comes.
 * Sockets of an address are in the order of the engines' numbers (wire_udp.c), so
 * none ends before the device does.
 */
#include <errno.h>
#include "engine/faults/faults.h"
#include "engine/record/record.h"
#include "engine/several/shards.h"

/* The rings to and from those that are there. */
static int add_queues(struct ur_shards *s, u32 i)
{
	for (u32 other = 0; other < i; other++)
		if (ur_handover_init(&s->queue[i][other]) ||
		    ur_handover_init(&s->queue[other][i]))
			return -ENOMEM;
	return 0;
}

static void drop_queues(struct ur_shards *s, u32 i)
{
	for (u32 other = 0; other < i; other++) {
		ur_handover_fini(&s->queue[i][other]);
		ur_handover_fini(&s->queue[other][i]);
	}
}

static int tell(const struct ur_engine *first, struct ur_engine *e)
{
	int err = ur_engine_copy_gids(first, e);

	if (!err)
		err = ur_faults_copy(first, e);
	if (err)
		return err;
	ur_engine_copy_cc(first, e);
	ur_record_copy(first, e);
	/* Once too often does no harm. */
	atomic_store(&e->tell_waking, true);
	return 0;
}

int ur_shards_grow(struct ur_shards *s, const struct ur_engine_config *config)
{
	u32 i = ur_shards_running(s);
	struct ur_engine *e = NULL;
	int err = add_queues(s, i);

	if (!err)
		err = ur_engine_create_one(config, s, i, &e);
	if (!err && i)
		err = tell(s->engine[0], e);
	if (err) {
		if (e) {
			ur_engine_stop_one(e);
			ur_engine_free_one(e);
		}
		drop_queues(s, i);
		return err;
	}
	s->engine[i] = e;
	atomic_store_explicit(&s->n, i + 1, memory_order_release);
	return 0;
}
