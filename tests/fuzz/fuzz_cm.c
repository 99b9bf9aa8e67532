// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The CM door: any MADs to a manager that listens, connects and is connected,
 * with time passing between them. Invariants hold after every step.
 *
 * Input: records of an opcode byte, an argument byte and what the opcode
 * needs. Two managers, A and B, answer each other; every MAD on the way may be
 * dropped, altered at one byte, or replaced.
 */
#include <stdlib.h>
#include <string.h>

#include "cm/cm.h"

#define TRAY_MAX 64
#define IDS_MAX	 64

int ur_fuzz_cm(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

struct side {
	struct ur_cm *cm;
	u8 gid[16];
	u8 tray[TRAY_MAX][UR_CM_MAD_BYTES];
	u32 tray_count;
	struct ur_cm_id *ids[IDS_MAX];
};

static struct side sides[2];

static void on_send(void *ctx, const struct ur_cm_path *path, const u8 *mad)
{
	struct side *s = ctx;
	struct ur_cm_mad parsed;

	if (ur_cm_mad_parse(mad, UR_CM_MAD_BYTES, &parsed))
		abort();
	if (s->tray_count < TRAY_MAX)
		memcpy(s->tray[s->tray_count++], mad, UR_CM_MAD_BYTES);
}

static struct ur_cm_id **slot_of(struct side *s, const struct ur_cm_id *id)
{
	for (u32 i = 0; i < IDS_MAX; i++)
		if (s->ids[i] == id)
			return &s->ids[i];
	return NULL;
}

static void on_event(void *ctx, struct ur_cm_id *id,
		     const struct ur_cm_event *event)
{
	struct side *s = ctx;
	struct ur_cm_id **slot;

	if (event->type != UR_CM_EVENT_REQ &&
	    event->type != UR_CM_EVENT_SIDR_REQ) {
		if (!slot_of(s, id))
			abort(); /* an event for a destroyed id */
		return;
	}
	slot = slot_of(s, NULL);
	if (slot)
		*slot = id;
	else
		ur_cm_id_destroy(id);
}

static void begin(void)
{
	for (u32 i = 0; i < 2; i++) {
		struct ur_cm_config config = {.ctx = &sides[i],
					      .send = on_send,
					      .event = on_event,
					      .key = {i},
					      .max_ids = 80,
					      .max_pending = 24,
					      .listen_grace_ms = 50,
					      .max_lingering = 16};

		memset(&sides[i], 0, sizeof(sides[i]));
		sides[i].gid[15] = (u8)(i + 1);
		sides[i].cm = ur_cm_create(&config);
		if (!sides[i].cm)
			abort();
		sides[i].ids[0] = ur_cm_id_create(sides[i].cm, NULL);
		ur_cm_listen(sides[i].ids[0], 0x1061c06, NULL, 16);
	}
}

static struct ur_cm_path path_of(u32 from, u32 to)
{
	struct ur_cm_path path = {.hop_limit = 64};

	memcpy(path.sgid, sides[from].gid, 16);
	memcpy(path.dgid, sides[to].gid, 16);
	return path;
}

static void start(u32 which, u8 arg)
{
	struct side *s = &sides[which];
	struct ur_cm_path path = path_of(which, !which);
	struct ur_cm_id **slot = slot_of(s, NULL);
	struct ur_cm_req req = {.service_id = 0x1061c06,
				.local_ca_guid = which + 1,
				.local_qpn = arg,
				.max_cm_retries = arg & 15,
				.primary.ack_timeout = arg & 31};
	struct ur_cm_sidr_req sidr = {.service_id = 0x1061c06};

	if (!slot)
		return;
	*slot = ur_cm_id_create(s->cm, NULL);
	if (!*slot)
		return;
	if (arg & 0x80)
		ur_cm_send_sidr_req(*slot, &path, &sidr, arg, 3);
	else
		ur_cm_send_req(*slot, &path, &req);
}

static void act(u32 which, u32 move, u8 arg)
{
	struct side *s = &sides[which];
	struct ur_cm_id *id = s->ids[arg % IDS_MAX];
	struct ur_cm_rep rep = {.local_qpn = arg + 1u,
				.local_ca_guid = which + 1};
	struct ur_cm_sidr_rep sidr = {.qpn = arg};

	if (!id)
		return;
	switch (move) {
	case 0:
		ur_cm_send_rep(id, &rep);
		return;
	case 1:
		ur_cm_send_rtu(id, "x", 1);
		return;
	case 2:
		ur_cm_send_rej(id, arg, "guid0000", 8, NULL, 0);
		return;
	case 3:
		ur_cm_send_mra(id, arg & 31, arg & 32, NULL, 0);
		return;
	case 4:
		ur_cm_send_dreq(id, NULL, 0);
		return;
	case 5:
		ur_cm_send_drep(id, NULL, 0);
		return;
	case 6:
		ur_cm_send_sidr_rep(id, &sidr);
		return;
	case 7:
		ur_cm_notify_established(id);
		return;
	case 8:
		ur_cm_id_taken(id);
		return;
	default:
		s->ids[arg % IDS_MAX] = NULL;
		ur_cm_id_destroy(id);
	}
}

/* Deliver the oldest MAD of a side, one byte of it perhaps changed. */
static void deliver(u32 which, u64 now, bool alter, u8 at, u8 value)
{
	struct side *s = &sides[which];
	struct ur_cm_path path = path_of(!which, which);
	u8 mad[UR_CM_MAD_BYTES];

	if (!s->tray_count)
		return;
	memcpy(mad, s->tray[0], sizeof(mad));
	memmove(s->tray[0], s->tray[1], --s->tray_count * sizeof(s->tray[0]));
	if (alter)
		mad[at] = value;
	ur_cm_rx(sides[!which].cm, now, &path, mad, sizeof(mad));
}

static void check(void)
{
	for (u32 i = 0; i < 2; i++)
		if (ur_cm_check(sides[i].cm))
			abort();
}

int ur_fuzz_cm(const u8 *data, size_t size)
{
	u64 now = 1;

	begin();
	while (size >= 4) {
		u32 which = data[0] & 1, op = data[0] >> 1;
		u8 a = data[1], b = data[2], c = data[3];
		struct ur_cm_path path = path_of(which, !which);
		u8 raw[UR_CM_MAD_BYTES];
		size_t n;

		data += 4;
		size -= 4;
		switch (op % 8) {
		case 0:
			start(which, a);
			break;
		case 1:
			act(which, a % 10, b);
			break;
		case 2:
			deliver(which, now, c & 1, a, b);
			break;
		case 3: /* lost */
			if (sides[which].tray_count)
				sides[which].tray_count--;
			break;
		case 4: /* time */
			now += ((u64)a << 8 | b) * 1000000;
			ur_cm_expire(sides[0].cm, now);
			ur_cm_expire(sides[1].cm, now);
			break;
		case 5: /* anything at all */
			n = size < sizeof(raw) ? size : sizeof(raw);
			memset(raw, 0, sizeof(raw));
			memcpy(raw, data, n);
			memcpy(raw, "\1\7\2\3", 4);
			raw[16] = 0;
			raw[17] = (u8)(UR_CM_REQ + a % 11);
			ur_cm_rx(sides[which].cm, now, &path, raw,
				 c & 1 ? n : sizeof(raw));
			data += n;
			size -= n;
			break;
		default:
			deliver(which, now, false, 0, 0);
			break;
		}
		check();
	}
	ur_cm_destroy(sides[0].cm);
	ur_cm_destroy(sides[1].cm);
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	return ur_fuzz_cm(data, size);
}
