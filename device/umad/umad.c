// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Umad files and their commands. As with rdma_cm, commands are copied in before the lock is
 * taken, and results are copied out after it is released.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/administrator.h"
#include "device/memory.h"
#include "device/open_file.h"
#include "device/umad/umad.h"
#include "util/assert.h"

/* The minimum length of a write: the RMPP header. */
#define RMPP_HEADER_BYTES 36

static struct ur_loop *loop_of(const struct umad_file *file)
{
	return file->dev->daemon->loop;
}

/* ---- agents ---- */

static int add_agent(struct umad_file *file, const struct umad_registration *r,
		     u64 id_addr, bool with_pkey)
{
	struct umad_agent *agent;
	u32 id = 0;
	int err;

	if (r->qpn > 1)
		return -EINVAL;
	ur_loop_lock(loop_of(file));
	err = umad_agent_add(file, r, &agent);
	if (!err) {
		id = agent->id;
		file->with_pkey |= with_pkey && !file->used;
		file->used = true;
	}
	ur_loop_unlock(loop_of(file));
	if (err || !ur_session_write(file->session, id_addr, &id, sizeof(id)))
		return err;
	ur_loop_lock(loop_of(file));
	/* Safe: numbers are per file, and commands run one at a time. */
	umad_agent_remove(file->agents[id]);
	ur_loop_unlock(loop_of(file));
	return -EFAULT;
}

static int register_agent(struct umad_file *file, u64 arg)
{
	struct ib_user_mad_reg_req req;
	struct umad_registration r;

	if (ur_session_read(file->session, arg, &req, sizeof(req)))
		return -EFAULT;
	r = (struct umad_registration){
		.qpn = req.qpn,
		.mgmt_class = req.mgmt_class,
		.class_version = req.mgmt_class_version,
		.rmpp_version = req.rmpp_version,
	};
	memcpy(r.oui, req.oui, sizeof(r.oui));
	_Static_assert(sizeof(r.methods) == sizeof(req.method_mask),
		       "a bit for each method");
	memcpy(r.methods, req.method_mask, sizeof(r.methods));
	return add_agent(file, &r,
			 arg + offsetof(struct ib_user_mad_reg_req, id), false);
}

static int register_agent2(struct umad_file *file, u64 arg)
{
	const u32 known = IB_USER_MAD_REG_FLAGS_CAP;
	struct ib_user_mad_reg_req2 req;
	struct umad_registration r;

	if (ur_session_read(file->session, arg, &req, sizeof(req)))
		return -EFAULT;
	if (req.qpn > 1)
		return -EINVAL;
	if (req.flags & ~known)
		return ur_session_write(
			       file->session,
			       arg + offsetof(struct ib_user_mad_reg_req2,
					      flags),
			       &known, sizeof(known))
			       ? -EFAULT
			       : -EINVAL;
	if (req.mgmt_class && req.oui & 0xff000000)
		return -EINVAL;
	r = (struct umad_registration){
		.qpn = req.qpn,
		.mgmt_class = req.mgmt_class,
		.class_version = req.mgmt_class_version,
		.rmpp_version = req.rmpp_version,
		.oui = {(u8)(req.oui >> 16), (u8)(req.oui >> 8), (u8)req.oui},
		.methods = {req.method_mask[0], req.method_mask[1]},
		.rmpp_by_user = req.flags & IB_USER_MAD_USER_RMPP,
	};
	return add_agent(file, &r,
			 arg + offsetof(struct ib_user_mad_reg_req2, id), true);
}

static int unregister_agent(struct umad_file *file, u64 arg)
{
	int err = -EINVAL;
	u32 id;

	if (ur_session_read(file->session, arg, &id, sizeof(id)))
		return -EFAULT;
	ur_loop_lock(loop_of(file));
	if (id < UMAD_FILE_AGENTS_MAX && file->agents[id]) {
		umad_agent_remove(file->agents[id]);
		err = 0;
	}
	ur_loop_unlock(loop_of(file));
	return err;
}

static int enable_pkey(struct umad_file *file)
{
	int err = 0;

	ur_loop_lock(loop_of(file));
	if (file->used)
		err = -EINVAL;
	else
		file->with_pkey = true;
	ur_loop_unlock(loop_of(file));
	return err;
}

static s64 umad_ioctl(void *opaque, u64 request, u64 arg)
{
	struct umad_file *file = opaque;

	switch (request) {
	case IB_USER_MAD_REGISTER_AGENT:
		return register_agent(file, arg);
	case IB_USER_MAD_REGISTER_AGENT2:
		return register_agent2(file, arg);
	case IB_USER_MAD_UNREGISTER_AGENT:
		return unregister_agent(file, arg);
	case IB_USER_MAD_ENABLE_PKEY:
		return enable_pkey(file);
	default:
		return -ENOTTY;
	}
}

/* ---- sends ---- */

static int send_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
		    u8 *mad, u64 bytes)
{
	struct umad_agent *agent = NULL;

	ur_assert(ur_loop_mine(loop_of(file)));
	if (hdr->id < UMAD_FILE_AGENTS_MAX)
		agent = file->agents[hdr->id];
	if (!agent || bytes < umad_data_offset(mad[1]))
		return -EINVAL;
	ur_assert(agent->file == file && agent->id == hdr->id);
	if (umad_agent_is_unable(agent) && umad_is_segment(mad))
		return -EOPNOTSUPP;
	return bytes > UR_MAD_BYTES ? -EINVAL : umad_send(agent, hdr, mad);
}

static s64 umad_write(void *opaque, u64 addr, u64 len)
{
	struct umad_file *file = opaque;
	struct {
		struct ib_user_mad_hdr hdr;
		u8 mad[UR_MAD_BYTES];
	} in;
	struct ib_user_mad_hdr hdr = {0};
	/* Commands of the file run one at a time, and only they change with_pkey. */
	u32 front = umad_hdr_bytes(file);
	u8 mad[UR_MAD_BYTES] = {0};
	size_t bytes = len < front + sizeof(mad) ? len : front + sizeof(mad);
	int err;

	if (len < front + RMPP_HEADER_BYTES)
		return -EINVAL;
	if (ur_session_read(file->session, addr, &in, bytes))
		return -EFAULT;
	memcpy(&hdr, &in, front);
	memcpy(mad, (u8 *)&in + front, bytes - front);
	ur_loop_lock(loop_of(file));
	err = send_mad(file, &hdr, mad, len - front);
	ur_loop_unlock(loop_of(file));
	return err ? err : (s64)len;
}

/* ---- files ---- */

/* Ignores events of the port: the kernel passes none to umad. */
static void umad_event(struct ur_device_file *on_device, u64 element, u32 type)
{
}

static const struct ur_device *umad_device(const void *opaque)
{
	return ((const struct umad_file *)opaque)->dev;
}

static const struct ur_device_file_ops on_device_ops = {
	.event = umad_event,
};

static int make_queue(struct umad_file *file)
{
	const int room = UMAD_QUEUE_BYTES;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	/* Programs send nothing this way, see util/os/event_pair.c. Unlike event files, the
	 * kernel's umad is always writable. */
	if (shutdown(pair[0], SHUT_RD) ||
	    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room))) {
		close(pair[0]);
		close(pair[1]);
		return -EIO;
	}
	file->sock = pair[0];
	file->visible = pair[1];
	return 0;
}

static struct ur_device *find_device(struct ur_daemon *daemon, u32 n)
{
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		if (dev->umad == n)
			return dev;
	}
	return NULL;
}

static int umad_open(struct ur_session *s, const char *name, void **opened,
		     int *shown, u64 *rdev)
{
	struct ur_device *dev;
	struct umad_file *file;
	char rest;
	u32 n;
	int err;

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (sscanf(name, "umad%u%c", &n, &rest) != 1)
		return -ENOENT;
	dev = find_device(s->daemon, n);
	if (!dev)
		return -ENXIO;
	/* In the kernel only root can open the node: a sender of arbitrary MADs can end
	 * other users' connections. */
	if (!ur_is_administrator(s))
		return -EACCES;
	if (ur_memory_take(s->uid, UR_KIB_UMAD))
		return -ENOMEM;
	err = ur_quota_take_fds(s->uid, UR_FDS_UMAD);
	if (err)
		goto err_memory;
	file = calloc(1, sizeof(*file));
	err = file ? make_queue(file) : -ENOMEM;
	if (err)
		goto err_free;
	file->session = s;
	file->user = s->uid;
	file->dev = dev;
	file->timer.fn = umad_send_expire;
	file->timer.arg = file;
	ur_list_init(&file->sends);
	file->on_device.ops = &on_device_ops;
	ur_list_add_tail(&dev->files, &file->on_device.node);
	shown[0] = file->visible;
	*rdev = umad_rdev(n);
	*opened = file;
	return 0;
err_free:
	free(file);
	ur_quota_give_fds(s->uid, UR_FDS_UMAD);
err_memory:
	ur_memory_give(s->uid, UR_KIB_UMAD);
	return err;
}

static void umad_attach(void *opaque, struct ur_session *s)
{
	((struct umad_file *)opaque)->session = s;
}

static void umad_close(void *opaque)
{
	struct umad_file *file = opaque;

	ur_assert(ur_loop_mine(loop_of(file)));
	for (u32 i = 0; i < UMAD_FILE_AGENTS_MAX; i++)
		if (file->agents[i])
			umad_agent_remove(file->agents[i]);
	ur_loop_timer_clear(loop_of(file), &file->timer);
	close(file->sock);
	close(file->visible);
	ur_quota_give_fds(file->user, UR_FDS_UMAD);
	ur_memory_give(file->user, UR_KIB_UMAD);
	ur_list_del(&file->on_device.node);
	ur_device_file_closed(file->dev);
	free(file);
}

static const struct ur_file_ops umad_file_ops = {
	.open = umad_open,
	.device = umad_device,
	.ioctl = umad_ioctl,
	.write = umad_write,
	.attach = umad_attach,
	.close = umad_close,
};

static const struct ur_umad_ops umad_ops = {
	.first = umad_first,
	.node_init = umad_node_init,
	.node_add = umad_node_add,
	.node_del = umad_node_del,
	.rx = umad_rx,
};

int ur_umad_init(struct ur_daemon *daemon)
{
	struct ur_umad *umad = calloc(1, sizeof(*umad));

	if (!umad)
		return -ENOMEM;
	/* A random start keeps others from guessing the transaction id of a response. */
	if (getrandom(&umad->last_hi_tid, sizeof(umad->last_hi_tid), 0) !=
	    sizeof(umad->last_hi_tid)) {
		free(umad);
		return -EIO;
	}
	ur_list_init(&umad->agents);
	daemon->umad = umad;
	daemon->umad_ops = &umad_ops;
	daemon->file_ops[UROCE_TUN_UMAD] = &umad_file_ops;
	return 0;
}

void ur_umad_fini(struct ur_daemon *daemon)
{
	daemon->file_ops[UROCE_TUN_UMAD] = NULL;
	daemon->umad_ops = NULL;
	free(daemon->umad);
	daemon->umad = NULL;
}
