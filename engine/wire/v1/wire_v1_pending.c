// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Keeps some frames to peers whose Ethernet address the kernel is resolving, as the
 * kernel does with IP packets. A datagram lost here would never be repeated, and a
 * connection's first message only after seconds.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "engine/wire/v1/wire_v1.h"

#define FRAMES	  128u
#define FRAMES_TO 64u /* of them to one peer */
#define TICK_NS	  1000000
#define HOLD_NS	  1000000000ull
#define FRAME_SIZE \
	(UR_GRH_BYTES + UR_HEADERS_MAX_BYTES + 4096 + 4 + UR_ICRC_BYTES)

struct frame {
	u8 sgid[16], dgid[16];
	u8 sl;
	u32 len;
	ur_time since;
	u8 data[FRAME_SIZE];
};

struct ur_v1_pending {
	struct ur_wire_v1 *wire;
	struct ur_watch watch;
	int fd; /* timer */
	u32 n;
	struct frame *queue[FRAMES]; /* the first n, in order */
	struct frame frames[FRAMES];
};

static void set_timer(struct ur_v1_pending *h, long ns)
{
	struct itimerspec t = {.it_value.tv_nsec = ns,
			       .it_interval.tv_nsec = ns};

	timerfd_settime(h->fd, 0, &t, NULL);
}

/* Sends the frame or gives it up. Returns false if it stays. */
static bool finish(struct ur_wire_v1 *w, const struct frame *f)
{
	struct ur_engine *e = w->wire.engine;
	const u8 *mac = ur_neigh_mac(w->neigh, e->config.ifindex, f->sgid,
				     f->dgid, e->now);
	struct sockaddr_ll to;
	int fd;

	if (!mac && e->now - f->since < HOLD_NS)
		return false;
	fd = mac ? ur_v1_out(w, f->sl) : -1;
	if (mac)
		ur_v1_addr(w, &to, mac);
	if (fd < 0 || sendto(fd, f->data, f->len, 0, (struct sockaddr *)&to,
			     sizeof(to)) < 0)
		ur_engine_tally(e, UR_CNT_send_err, 1);
	return true;
}

void ur_v1_pending_retry(struct ur_wire_v1 *w)
{
	struct ur_v1_pending *h = w->pending;
	struct frame *rest[FRAMES];
	u32 kept = 0, freed = 0;

	if (!h->n)
		return;
	for (u32 i = 0; i < h->n; i++) {
		struct frame *f = h->queue[i];

		if (finish(w, f))
			rest[freed++] = f;
		else
			h->queue[kept++] = f;
	}
	for (u32 i = 0; i < freed; i++)
		h->queue[kept + i] = rest[i];
	h->n = kept;
	if (!kept)
		set_timer(h, 0);
}

static void on_timer(struct ur_watch *watch, u32 events)
{
	struct ur_v1_pending *h =
		ur_container_of(watch, struct ur_v1_pending, watch);
	u64 times;

	if (read(h->fd, &times, sizeof(times)) == sizeof(times))
		ur_v1_pending_retry(h->wire);
}

bool ur_v1_pending(struct ur_wire_v1 *w, const struct ur_av *av, const u8 *grh,
		   const u8 *bth, u32 len)
{
	struct ur_v1_pending *h = w->pending;
	struct frame *f;
	u32 same = 0;

	for (u32 i = 0; i < h->n; i++)
		same += !memcmp(h->queue[i]->dgid, av->dgid, 16);
	if (h->n == FRAMES || same == FRAMES_TO ||
	    UR_GRH_BYTES + len > FRAME_SIZE)
		return false;
	f = h->queue[h->n];
	memcpy(f->sgid, av->sgid, 16);
	memcpy(f->dgid, av->dgid, 16);
	f->sl = av->sl;
	f->since = w->wire.engine->now;
	f->len = UR_GRH_BYTES + len;
	memcpy(f->data, grh, UR_GRH_BYTES);
	memcpy(f->data + UR_GRH_BYTES, bth, len);
	if (!h->n++)
		set_timer(h, TICK_NS);
	return true;
}

int ur_v1_pending_init(struct ur_wire_v1 *w)
{
	struct ur_v1_pending *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	for (u32 i = 0; i < FRAMES; i++)
		h->queue[i] = &h->frames[i];
	h->wire = w;
	h->watch.fn = on_timer;
	w->pending = h;
	h->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (h->fd < 0)
		return -errno;
	err = ur_engine_watch(w->wire.engine, h->fd, EPOLLIN, &h->watch);
	if (err) {
		close(h->fd);
		h->fd = -1;
	}
	return err;
}

void ur_v1_pending_fini(struct ur_wire_v1 *w)
{
	struct ur_v1_pending *h = w->pending;

	if (h && h->fd >= 0) {
		ur_engine_unwatch(w->wire.engine, h->fd);
		close(h->fd);
	}
	free(h);
	w->pending = NULL;
}
