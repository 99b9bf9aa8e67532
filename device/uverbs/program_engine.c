// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Contexts whose engine is in their program. Control is here all the same: it has
 * their objects, checks what they are made of and gives the numbers; the provider
 * then makes them in the program's engine. No packet finds those that are here.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/administrator.h"
#include "device/client_rights.h"
#include "device/device.h"
#include "device/engine_process.h"
#include "device/memory.h"
#include "device/quota.h"
#include "device/uverbs/given_up.h"
#include "device/uverbs/kept_programs.h"
#include "device/uverbs/lend_slot.h"
#include "device/uverbs/obj_qp.h"
#include "device/uverbs/shared_engine.h"

static bool has_objects(const struct ur_ufile *file)
{
	const struct ur_handles *h = &file->handles;

	for (u32 i = 0; i < h->size; i++)
		if (h->slot[i] &&
		    h->slot[i]->type->id != UVERBS_OBJECT_ASYNC_EVENT)
			return true;
	return false;
}

/* A user who may see all packets of the host may have a socket of them: engine_lend.h. */
static bool may_have_sockets(const struct ur_ufile *file)
{
	return ur_is_administrator(file->session) ||
	       ur_client_may_raw(file->session);
}

/* apart: the engine is in an engine process, or was when the slot was lent. */
static int check_open(const struct ur_cmd *cmd, bool apart)
{
	const struct ur_ufile *file = cmd->file;

	if (file->slot || has_objects(file))
		return -EINVAL;
	/* Where there is RoCEv1 all are the device's engine's: an engine in a program has no frames, and which
	 * queue pairs will need them is not known when they are made. */
	if (cmd->dev->roce_v1)
		return -EOPNOTSUPP;
	/* What keeps users apart, and a hostile card, are not the program's to change. */
	return (ur_ufile_realm(file) || file->adverse) && !apart ? -EOPNOTSUPP
								 : 0;
}

/* Elsewhere packets cannot leave by sockets that it makes itself; where it is not known, they might have to, or must
 * not. */
static int find_way(const struct ur_ufile *file, enum ur_lend_way *way)
{
	switch (ur_client_network(file->session->sock)) {
	case UR_CLIENT_NET_OURS:
		*way = may_have_sockets(file) ? UR_LEND_SOCKETS
					      : UR_LEND_RELAYED;
		return 0;
	case UR_CLIENT_NET_OTHER:
		*way = UR_LEND_FAR;
		return 0;
	default:
		*way = UR_LEND_FAR;
		return -EOPNOTSUPP;
	}
}

/* An earlier uroced may have given it to the program, to which packets that go there come, as to all that it has
 * had. So there is nothing to gain. */
static bool may_have_had(const struct ur_ufile *file, u32 slot, u32 number)
{
	return slot && ur_handles_follow(&file->handles) &&
	       ur_engine_lent_number(file->dev->engine, slot, number);
}

int ur_program_engine_flags(const struct ur_cmd *cmd, u32 slot, u32 flags,
			    u32 number, bool *in_program)
{
	bool again = flags == UROCE_QP_F_AGAIN;

	if ((flags && !again && flags != UROCE_QP_F_DEVICE &&
	     flags != UROCE_QP_F_PROGRAM) ||
	    (again ? !may_have_had(cmd->file, slot, number) : number))
		return -EINVAL;
	*in_program = slot && flags != UROCE_QP_F_DEVICE;
	return 0;
}

/* The driver's part of a queue pair that spreads frames. */
static int take_spread(const struct ur_cmd *cmd, struct ur_qp_args *a)
{
	struct uroce_create_rss_qp_req req;

	ur_udata_in(cmd, &req, sizeof(req));
	a->number = req.number;
	a->slot = cmd->file->slot;
	return ur_program_engine_flags(
		cmd, a->slot, req.flags ? req.flags : UROCE_QP_F_DEVICE,
		req.number, &a->in_program);
}

int ur_program_engine_qp(const struct ur_cmd *cmd, struct ur_qp_args *a)
{
	const struct ur_xrcd *domain =
		a->type == IB_UVERBS_QPT_XRC_TGT ? a->xrcd->xrcd : NULL;
	struct uroce_create_qp_req req;
	int err;

	if (a->table)
		return take_spread(cmd, a);
	ur_udata_in(cmd, &req, sizeof(req));
	a->slot = domain && domain->home ? domain->home->slot : cmd->file->slot;
	err = ur_program_engine_flags(cmd, a->slot, req.flags, req.number,
				      &a->in_program);
	if (err)
		return err;
	/* Others who open the domain could not use it. */
	if (domain && domain->shared && a->in_program != !!domain->home)
		return -EINVAL;
	a->number = req.number;
	return 0;
}

static enum ur_lend_way way_of(const struct ur_ufile *file)
{
	return file->far       ? UR_LEND_FAR
	       : file->relayed ? UR_LEND_RELAYED
			       : UR_LEND_SOCKETS;
}

static int take_part(struct ur_ufile *file, bool small, enum ur_lend_way way)
{
	file->small = small;
	file->relayed = way != UR_LEND_SOCKETS;
	file->far = way == UR_LEND_FAR;
	return ur_slot_take_part(file->dev, file->uid, small, way);
}

static void give_part(struct ur_ufile *file)
{
	ur_slot_give_part(file->dev, file->uid, file->small, way_of(file),
			  file->rings);
	file->rings = 0;
}

/* Puts the descriptors that are lent into the client, and their numbers there into
 * *resp. */
static int install(const struct ur_cmd *cmd, const struct ur_lent *lent,
		   struct uroce_engine_open *resp)
{
	bool far = cmd->file->far;
	/* With a socket of ours it could send whatever it likes to anybody here. */
	int fds[] = {lent->file,
		     far ? -1 : lent->out[0],
		     far ? -1 : lent->out[1],
		     lent->counters,
		     lent->settings,
		     lent->record,
		     lent->relay,
		     lent->relay_words,
		     lent->outbox,
		     lent->door,
		     lent->bell};
	__s32 *to[] = {&resp->own_fd,	&resp->out_fd[0],      &resp->out_fd[1],
		       &resp->count_fd, &resp->settings_fd,    &resp->record_fd,
		       &resp->relay_fd, &resp->relay_words_fd, &resp->outbox_fd,
		       &resp->door_fd,	&resp->bell_fd};
	s32 numbers[UR_ARRAY_SIZE(fds)];
	int err;

	err = ur_session_install_all(cmd->file->session, fds,
				     UR_ARRAY_SIZE(fds), numbers);
	if (err)
		return err;
	for (u32 i = 0; i < UR_ARRAY_SIZE(fds); i++)
		*to[i] = numbers[i];
	return 0;
}

static enum ur_lend_way without_sockets(enum ur_lend_way way)
{
	return way == UR_LEND_SOCKETS ? UR_LEND_RELAYED : way;
}

static int lend_slot(struct ur_ufile *file, bool small, enum ur_lend_way way,
		     struct ur_lent *lent)
{
	int err;

	if (small)
		way = without_sockets(way);
	err = take_part(file, small, way);
	if (err)
		return err;
	err = ur_engine_lend(file->dev->engine, file->uid, file->session->pid,
			     small, way, lent);
	if (err)
		give_part(file);
	return err;
}

/* Has a slot lent to the file's engine. bytes: what its provider knows of struct uroce_engine_open. */
static int lend(const struct ur_cmd *cmd, bool apart, size_t bytes,
		struct ur_lent *lent)
{
	struct ur_ufile *file = cmd->file;
	enum ur_lend_way way;
	bool small;
	/* It may ask the client, with the lock released: what is checked is checked after that. */
	int unknown = find_way(file, &way);
	int err = check_open(cmd, apart);

	if (!err)
		err = unknown;
	/* An older provider knows of no outbox. */
	if (!err && way == UR_LEND_FAR &&
	    bytes < sizeof(struct uroce_engine_open))
		err = -EOPNOTSUPP;
	if (err)
		return err;
	small = ur_slot_is_for_small(file->dev, file->uid);
	err = lend_slot(file, small, way, lent);
	/* Programs of an earlier uroced that have not come yet have large ones, too. */
	return err == -EBUSY && !small ? lend_slot(file, true, way, lent) : err;
}

/* The client has copies, or does without. */
static void lent_to(struct ur_ufile *file, const struct ur_lent *lent, int err)
{
	ur_slot_lent(lent);
	file->slot = lent->slot;
	if (err)
		ur_program_engine_end(file);
}

int ur_m_engine_open(struct ur_cmd *cmd)
{
	struct uroce_engine_open resp;
	struct ur_lent lent;
	int err = lend(cmd, false,
		       ur_attr_len(cmd, UROCE_ATTR_ENGINE_OPEN_RESP), &lent);

	if (err)
		return err;
	resp = ur_slot_describe(cmd->dev, &lent);
	err = install(cmd, &lent, &resp);
	if (!err)
		err = ur_attr_out(cmd, UROCE_ATTR_ENGINE_OPEN_RESP, &resp,
				  sizeof(resp));
	lent_to(cmd->file, &lent, err);
	return err;
}

/* ---- in an engine process ---- */

/* Gives the context to the process, which talks to the program by sock. */
static int give_context(const struct ur_ufile *file, const struct ur_lent *lent,
			int sock)
{
	struct uroce_apart_context context = {
		.pid = file->session->pid,
		.adverse = file->adverse,
		.ring_bytes = (u64)file->apart_kib << 9,
		.object_bytes = (u64)file->apart_kib << 9,
		.adverse_seed = file->adverse_seed,
		.realm = ur_ufile_realm(file),
		.open = ur_slot_describe(file->dev, lent),
	};
	int fds[UROCE_APART_FDS];

	ur_slot_fds(lent, file->far, fds);
	fds[UROCE_APART_SOCKET] = sock;
	fds[UROCE_APART_MEM] = file->session->mem->fd;
	fds[UROCE_APART_MAPS] = file->session->mem->maps;
	return ur_engine_process_give(file->apart, &context, fds);
}

/* The program's end of the socket is *sock. */
static int begin_apart(struct ur_ufile *file, const struct ur_lent *lent,
		       int *sock)
{
	int pair[2], err = ur_slot_charge_apart(file->uid, &file->apart_kib);

	if (!err)
		err = ur_engine_process_get(file->session, ur_ufile_end_apart,
					    &file->apart);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	err = give_context(file, lent, pair[1]);
	close(pair[1]);
	if (err)
		close(pair[0]);
	else
		*sock = pair[0];
	return err;
}

/* The program could not have the engine that it was lent. */
static void end_own(struct ur_ufile *file)
{
	if (file->slot && !file->apart && !file->life && !has_objects(file))
		ur_program_engine_end(file);
}

int ur_m_engine_apart(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	struct uroce_engine_apart resp = {.fd = -1};
	struct ur_lent lent;
	int err, sock = -1;

	end_own(file);
	if (!ur_user_mem_reaches(file->session->mem))
		return -EOPNOTSUPP;
	err = lend(cmd, true, sizeof(struct uroce_engine_open), &lent);
	if (err)
		return err;
	err = begin_apart(file, &lent, &sock);
	if (!err)
		resp.fd = ur_session_install(file->session, sock);
	if (sock >= 0)
		close(sock);
	if (!err && resp.fd < 0)
		err = resp.fd;
	resp.slot = lent.slot;
	if (!err)
		err = ur_attr_out(cmd, UROCE_ATTR_ENGINE_APART_RESP, &resp,
				  sizeof(resp));
	lent_to(file, &lent, err);
	return err;
}

/* ---- besides, in one with others ---- */

static void hang_up(const struct ur_shared_engine *e)
{
	ur_ufile_for_each(file, e->dev)
		if (file->shared == e)
			ur_session_hang_up_file(e->dev->daemon, file);
}

int ur_m_engine_share(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	struct uroce_engine_apart resp = {.fd = -1};
	int err, sock = -1;
	u32 slot;

	if (ur_attr_u32(cmd, UROCE_ATTR_ENGINE_SHARE_SLOT, &slot) ||
	    !file->slot || file->shared || (!slot && !file->async))
		return -EINVAL;
	err = slot ? ur_shared_engine_resume(file, slot, hang_up)
		   : ur_shared_engine_join(file, ur_ufile_end_apart, &sock);
	if (err)
		return err;
	resp.slot = file->shared->slot;
	if (sock >= 0) {
		resp.fd = ur_session_install(file->session, sock);
		close(sock);
	}
	if (!slot && resp.fd < 0)
		err = resp.fd;
	if (!err)
		err = ur_attr_out(cmd, UROCE_ATTR_ENGINE_SHARE_RESP, &resp,
				  sizeof(resp));
	if (err)
		ur_shared_engine_put(file);
	return err;
}

/* The slot and the descriptor are the user's from now on. */
static int take_slot(struct ur_ufile *file, u32 slot, enum ur_lend_way way)
{
	int err = ur_quota_take_fds(file->uid, 1), life;
	bool small = ur_slot_is_small(slot);

	if (err)
		return err;
	err = take_part(file, small, small ? without_sockets(way) : way);
	if (err)
		goto err_fds;
	life = ur_kept_program_take(file->dev, slot, file->uid,
				    file->session->pid);
	if (life < 0) {
		err = life;
		goto err_part;
	}
	file->slot = slot;
	file->life = life;
	return 0;
err_part:
	give_part(file);
err_fds:
	ur_quota_give_fds(file->uid, 1);
	return err;
}

/* The next uroced is to know the process that has the engine now. It shares this file, and what it may do with
 * that it may do without the slot, too; but the slot stays its user's. */
static int pass_on(const struct ur_ufile *file, u32 slot)
{
	const struct ur_kept_life life = {file->life, file->uid,
					  file->session->pid};

	if (!slot || file->slot != slot)
		return -EINVAL;
	if (file->session->uid != file->uid)
		return -EPERM;
	return file->life
		       ? ur_engine_pass_life_on(file->dev->engine, slot, &life)
		       : 0;
}

/* The engine in the slot keeps its user apart as this uroced does; an earlier one may not have. */
static bool is_of_realm(const struct ur_ufile *file, u32 slot)
{
	u32 realm = ur_ufile_realm(file);

	return !realm || ur_engine_lent_realm(file->dev->engine, slot) == realm;
}

static int resume(struct ur_cmd *cmd, const struct uroce_engine_resume *in)
{
	enum ur_lend_way way;
	int unknown = find_way(cmd->file, &way);
	int err;

	if (!in->slot || in->slot >= UR_SLOTS)
		return -EINVAL;
	err = check_open(cmd, true);
	if (!err)
		err = unknown;
	if (!err && !is_of_realm(cmd->file, in->slot))
		err = -EOPNOTSUPP;
	if (!err)
		err = take_slot(cmd->file, in->slot, way);
	if (!err)
		ur_handles_begin(&cmd->file->handles, in->resumes);
	return err;
}

int ur_m_engine_resume(struct ur_cmd *cmd)
{
	struct uroce_engine_resume in;
	int err;

	ur_attr_in(cmd, UROCE_ATTR_ENGINE_RESUME, &in, sizeof(in));
	err = in.resumes ? resume(cmd, &in) : pass_on(cmd->file, in.slot);
	/* Its slot is not given back where this fails: the file ends then. */
	return err ? err
		   : ur_attr_out(cmd, UROCE_ATTR_ENGINE_RESUME_RESP, &in.slot,
				 sizeof(in.slot));
}

/* Takes the mark off what a command names. Returns the slot that it is about; 0: the file has none. */
static u32 slot_about(const struct ur_ufile *file, u32 *named)
{
	if (!(*named & UROCE_ENGINE_SHARED))
		return file->slot;
	*named &= ~UROCE_ENGINE_SHARED;
	return file->shared ? file->shared->slot : 0;
}

int ur_m_engine_socket(struct ur_cmd *cmd)
{
	struct uroce_engine_socket resp = {.fd = -1};
	u32 index, slot;
	int err, fd;

	if (ur_attr_u32(cmd, UROCE_ATTR_ENGINE_SOCKET_INDEX, &index))
		return -EINVAL;
	slot = slot_about(cmd->file, &index);
	if (!slot)
		return -EINVAL;
	err = ur_engine_lend_socket(cmd->dev->engine, slot, index, resp.gid,
				    &fd);
	if (err)
		return err;
	if (fd >= 0)
		resp.fd = ur_session_install(cmd->file->session, fd);
	if (fd >= 0 && resp.fd < 0)
		return resp.fd;
	return ur_attr_out(cmd, UROCE_ATTR_ENGINE_SOCKET_RESP, &resp,
			   sizeof(resp));
}

/* The files are here until the other one has them too; of each other slot there are no more. */
static int take_ring(struct ur_ufile *file, bool shared, u32 slot)
{
	u32 *rings = shared ? &file->shared->rings : &file->rings;
	int err;

	if (slot >= UR_PLACES)
		return -EINVAL;
	if (!file->relayed || (*rings >> slot & 1))
		return 0;
	err = ur_quota_take_fds(file->uid, UR_SLOT_RING_FDS);
	if (!err)
		*rings |= 1u << slot;
	return err;
}

/* Puts them into the client, each once: these are the client's alone. */
static int install_ring(const struct ur_cmd *cmd,
			const struct ur_lent_ring *ring,
			struct uroce_engine_ring *resp)
{
	const int fds[] = {ring->words, ring->out, ring->in};
	s32 numbers[UR_ARRAY_SIZE(fds)];
	int err = ur_session_install_all(cmd->file->session, fds,
					 UR_ARRAY_SIZE(fds), numbers);

	for (u32 i = 0; i < UR_ARRAY_SIZE(fds); i++)
		close(fds[i]);
	if (err)
		return err;
	resp->words_fd = numbers[0];
	resp->out_fd = numbers[1];
	resp->in_fd = numbers[2];
	return 0;
}

/* Such two may do with each other whatever they like, without us. */
static bool is_same_user(const struct ur_cmd *cmd, u32 slot)
{
	uid_t own = cmd->file->uid;

	return ur_is_one_user(own) &&
	       ur_engine_lent_to(cmd->dev->engine, slot) == own;
}

int ur_m_engine_ring(struct ur_cmd *cmd)
{
	struct uroce_engine_ring resp = {0};
	struct ur_lent_ring ring;
	u32 slot, own;
	int err;

	if (ur_attr_u32(cmd, UROCE_ATTR_ENGINE_RING_SLOT, &slot))
		return -EINVAL;
	own = slot_about(cmd->file, &slot);
	if (!own)
		return -EINVAL;
	if (!is_of_realm(cmd->file, slot))
		return -EPERM;
	err = take_ring(cmd->file, own != cmd->file->slot, slot);
	if (err)
		return err;
	err = ur_engine_lend_ring(cmd->dev->engine, own, slot, &ring);
	if (err)
		return err;
	resp.slot = ring.peer;
	resp.loan = ring.loan;
	resp.relayed = ring.relayed;
	resp.same_user = is_same_user(cmd, slot);
	err = install_ring(cmd, &ring, &resp);
	return err ? err
		   : ur_attr_out(cmd, UROCE_ATTR_ENGINE_RING_RESP, &resp,
				 sizeof(resp));
}

void ur_program_engine_wake(const struct ur_ufile *file)
{
	if (file->shared)
		ur_shared_engine_wake(file->shared);
	if (file->life)
		ur_program_wake(file->life);
}

void ur_program_engine_end(struct ur_ufile *file)
{
	ur_shared_engine_put(file);
	ur_engine_lend_end(file->dev->engine, file->slot);
	file->slot = 0;
	give_part(file);
	ur_given_up_close(file);
	if (file->apart)
		ur_engine_process_put(file->apart);
	file->apart = NULL;
	ur_slot_give_apart(file->uid, &file->apart_kib);
	if (!file->life)
		return;
	close(file->life);
	file->life = 0;
	ur_quota_give_fds(file->uid, 1);
}
