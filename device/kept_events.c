// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Event channels of rdma_cm that outlive uroced. */
#include <stdlib.h>
#include "device/kept_events.h"
#include "engine/ground/keep.h"
#include "util/assert.h"

static u32 last; /* last number given */
static struct ur_list channels = {&channels, &channels};

static struct ur_kept name_of(const struct ur_kept_channel *c)
{
	return (struct ur_kept){.kind = UR_KEPT_EVENTS,
				.place = c->number,
				.value = ur_kept_process(c->pid, c->uid) |
					 (c->alone ? UR_KEPT_ALONE : 0)};
}

static bool put(const struct ur_kept_channel *c)
{
	const struct ur_kept what = name_of(c);

	return !ur_keep_put(&what, c->sock);
}

static bool has_objects(const struct ur_session *of)
{
	ur_list_each(const struct ur_session, s, &of->daemon->sessions, node) {
		if (s->pid == of->pid && s->has_objects)
			return true;
	}
	return false;
}

struct ur_kept_channel *ur_kept_events_add(const struct ur_session *s, int sock)
{
	struct ur_kept_channel *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->number = ++last ? last : ++last;
	c->pid = s->pid;
	c->uid = s->uid;
	c->alone = !has_objects(s);
	c->sock = sock;
	if (!put(c)) {
		free(c);
		return NULL;
	}
	ur_list_add_tail(&channels, &c->node);
	return c;
}

void ur_kept_events_del(struct ur_kept_channel *c)
{
	struct ur_kept what;

	if (!c)
		return;
	ur_assert(c->number);
	what = name_of(c);
	ur_keep_drop(&what);
	ur_list_del(&c->node);
	free(c);
}

struct ur_kept_channel *ur_kept_events_next(u32 *at, bool *has_ended)
{
	struct ur_kept_channel *c;
	struct ur_kept what;

	if (!ur_keep_next(UR_KEPT_EVENTS, 0, at, &what))
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	if (what.place > last)
		last = what.place;
	c->number = what.place;
	c->pid = (pid_t)((u32)what.value & ~(u32)UR_KEPT_ALONE);
	c->uid = (uid_t)(what.value >> 32);
	c->alone = what.value & UR_KEPT_ALONE;
	c->sock = ur_keep_take(&what);
	*has_ended = !c->alone && !ur_keep_has_left_liveness(
					  ur_kept_process(c->pid, c->uid));
	ur_list_add_tail(&channels, &c->node);
	return c;
}

void ur_kept_events_object(struct ur_session *s)
{
	if (s->has_objects)
		return;
	s->has_objects = true;
	ur_list_each(struct ur_kept_channel, c, &channels, node) {
		struct ur_kept what;

		if (c->pid != s->pid || !c->alone)
			continue;
		c->alone = false;
		what = name_of(c);
		ur_keep_renumber(&what, c->sock);
	}
}
