// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Event channels of rdma_cm that outlive uroced. */
#include <stdlib.h>
#include <unistd.h>
#include "device/kept_events.h"
#include "engine/ground/keep.h"
#include "util/assert.h"

static u32 last; /* number that was given */
static struct ur_list channels = {&channels,
				  &channels}; /* that were inherited */

static struct ur_kept channel_name(u32 number)
{
	return (struct ur_kept){.kind = UR_KEPT_EVENTS, .place = number};
}

u32 ur_kept_events_add(const struct ur_session *s, int sock)
{
	struct ur_kept what = channel_name(++last ? last : ++last);

	what.value = ur_kept_process(s->pid, s->uid);
	return ur_keep_put(&what, sock) ? 0 : what.place;
}

void ur_kept_events_del(u32 number)
{
	const struct ur_kept what = channel_name(number);

	if (number)
		ur_keep_drop(&what);
}

struct channel {
	struct ur_list node;
	struct ur_loop *loop;
	u32 number;
	int sock;
};

static void on_channel(void *arg, u32 events)
{
	struct channel *c = arg;

	ur_assert(ur_loop_mine(c->loop) && c->number);
	ur_loop_del(c->loop, c->sock);
	close(c->sock);
	ur_list_del(&c->node);
	ur_kept_events_del(c->number);
	free(c);
}

void ur_kept_events_inherit(struct ur_daemon *daemon)
{
	struct ur_kept what;
	struct channel *c;
	u32 at = 0;

	while (ur_keep_next(UR_KEPT_EVENTS, 0, &at, &what)) {
		if (what.place > last)
			last = what.place;
		c = malloc(sizeof(*c));
		if (!c)
			return;
		c->loop = daemon->loop;
		c->number = what.place;
		c->sock = ur_keep_take(&what);
		ur_list_add_tail(&channels, &c->node);
		/* Its end alone is waited for. */
		if (ur_loop_add(c->loop, c->sock, 0, on_channel, c))
			on_channel(c, 0);
	}
}

void ur_kept_events_end(void)
{
	while (!ur_list_empty(&channels))
		on_channel(ur_list_first(&channels, struct channel, node), 0);
}
