// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/memory.h"
#include "device/quota.h"
#include "device/uverbs/grant_slot.h"
#include "engine/ground/limits.h"
#include "engine/ground/log.h"
#include "engine/ground/loop.h"

/* Two sockets, counters, a recording, and the two files of a relay ring. */
#define LENT_FDS 6
/* An outbox, and the wake-up descriptors of both directions. */
#define FAR_FDS 3
/* Limit of the memory of rings, and likewise of other objects, of a context in a shared
 * engine: 1/SHARED_PART of the memory of this process, within bounds. */
#define SHARED_PART    128
#define SHARED_KIB_MIN (16u << 10)
#define SHARED_KIB_MAX (8u << 20)

static u32 granted_fds(enum ur_grant_mode mode)
{
	return LENT_FDS + (mode == UR_GRANT_FAR ? FAR_FDS : 0);
}

static struct ur_quota *slots_of(struct ur_device *dev, bool small)
{
	return small ? &dev->granted_small : &dev->granted;
}

/* No user may have all small slots, not even root. */
static void bound_slots(struct ur_device *dev)
{
	for (int small = 0; small < 2; small++) {
		struct ur_quota *q = slots_of(dev, small);

		q->what =
			small ? "small slots for engines" : "slots for engines";
		q->where = dev->name;
		q->max = small ? UR_SMALL_SLOTS
			       : ur_engine_grant_room(dev->engine);
		q->everyone = small;
	}
}

void ur_slot_log_refusal(const struct ur_ufile *file, int err)
{
	static u64 next;
	u64 now = ur_loop_now();

	if (now < next)
		return;
	next = now + 60 * 1000000000ull;
	ur_log("%s: process %d of user %u gets no engine: %s", file->dev->name,
	       (int)file->session->pid, file->uid,
	       err == -EBUSY ? "no slot is left" : strerror(-err));
}

bool ur_slot_is_for_small(struct ur_device *dev, uid_t uid)
{
	bound_slots(dev);
	return !ur_quota_has_room(slots_of(dev, false), uid, 1);
}

int ur_slot_take_part(struct ur_device *dev, uid_t uid, bool small,
		      enum ur_grant_mode mode)
{
	struct ur_quota *q = slots_of(dev, small);
	int err = 0;

	bound_slots(dev);
	if (ur_quota_take(q, uid, 1))
		return -EBUSY;
	if (mode != UR_GRANT_SOCKETS)
		err = ur_quota_take_fds(uid, granted_fds(mode));
	if (err)
		ur_quota_give(q, uid, 1);
	return err ? -EBUSY : 0;
}

void ur_slot_give_part(struct ur_device *dev, uid_t uid, bool small,
		       enum ur_grant_mode mode, u32 rings)
{
	u32 n = (u32)__builtin_popcount(rings);

	ur_quota_give(slots_of(dev, small), uid, 1);
	if (mode != UR_GRANT_SOCKETS)
		ur_quota_give_fds(uid,
				  granted_fds(mode) + UR_SLOT_RING_FDS * n);
}

struct uroce_engine_open ur_slot_describe(const struct ur_device *dev,
					  const struct ur_grant *grant)
{
	struct uroce_engine_open o = {
		.ifindex = dev->ifindex,
		.mtu_bytes = dev->mtu_bytes,
		.max_qp = UR_MAX_QP,
		.max_mr = UR_MAX_MR,
		.flags = dev->virtual_pair ? UROCE_ENGINE_ONE_PATH : 0,
		.node_guid = dev->node_guid,
	};

	snprintf(o.netdev, sizeof(o.netdev), "%s", dev->netdev);
	if (!grant)
		return o;
	o.slot = grant->slot;
	o.slot_bits = ur_slot_bits(grant->slot);
	o.device = grant->device;
	o.port = grant->port;
	o.flags |= grant->off;
	o.tx_bytes = grant->tx_bytes;
	return o;
}

void ur_slot_fds(const struct ur_grant *grant, bool far,
		 int fds[UROCE_APART_FDS])
{
	for (u32 i = 0; i < UROCE_APART_FDS; i++)
		fds[i] = -1;
	if (!grant)
		return;
	fds[UROCE_APART_LOCAL] = grant->file;
	/* With our socket it could send anything to any host in our network namespace. */
	fds[UROCE_APART_OUT6] = far ? -1 : grant->out[0];
	fds[UROCE_APART_OUT4] = far ? -1 : grant->out[1];
	fds[UROCE_APART_COUNT] = grant->counters;
	fds[UROCE_APART_SETTINGS] = grant->settings;
	fds[UROCE_APART_RECORD] = grant->record;
	fds[UROCE_APART_RELAY] = grant->relay;
	fds[UROCE_APART_RELAY_WORDS] = grant->relay_words;
	fds[UROCE_APART_OUTBOX] = grant->outbox;
	fds[UROCE_APART_WAKE] = grant->wake_fd;
	fds[UROCE_APART_BELL] = grant->bell;
	for (u32 i = 0; i < UROCE_V1_FDS; i++)
		fds[UROCE_APART_V1 + i] = grant->v1[i];
}

static u32 shared_kib(void)
{
	u64 part = ur_memory_total_kib() / SHARED_PART;
	u32 each = (u32)ur_min_u64(part, SHARED_KIB_MAX);

	return 2 * (each < SHARED_KIB_MIN ? SHARED_KIB_MIN : each);
}

int ur_slot_charge_apart(uid_t uid, bool shared, u32 *kib)
{
	u32 n = shared ? shared_kib() : UR_SLOT_APART_KIB;
	int err = ur_memory_take(uid, n);

	if (!err)
		*kib = n;
	return err;
}

void ur_slot_give_apart(uid_t uid, u32 *kib)
{
	if (*kib)
		ur_memory_give(uid, *kib);
	*kib = 0;
}

void ur_slot_close_granted(const struct ur_grant *grant)
{
	if (grant->relay >= 0)
		close(grant->relay);
	if (grant->bell >= 0)
		close(grant->bell);
	for (u32 i = 0; i < UROCE_V1_FDS; i++)
		if (grant->v1[i] >= 0)
			close(grant->v1[i]);
}

int ur_slot_give_context(const struct ur_ufile *file, pid_t pid,
			 const struct ur_user_mem *mem,
			 const struct ur_engine_process *process, u32 kib,
			 struct uroce_apart_context *context, int *fds,
			 int sock[2])
{
	int err;

	context->pid = pid;
	context->ring_bytes = context->object_bytes = (u64)kib << 9;
	context->adverse = file->adverse;
	context->adverse_seed = file->adverse_seed;
	context->realm = ur_ufile_realm(file);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return -errno;
	fds[UROCE_APART_SOCKET] = sock[1];
	fds[UROCE_APART_MEM] = mem->fd;
	fds[UROCE_APART_MAPS] = mem->maps;
	err = ur_engine_process_give(process, context, fds);
	if (err) {
		close(sock[0]);
		close(sock[1]);
	}
	return err;
}
