// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Contexts whose engine is in their program. uroced still has their objects, checks their
 * arguments and assigns their numbers; the provider then makes them in the program's
 * engine. The objects here receive no packets.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <unistd.h>
#include "device/administrator.h"
#include "device/client_rights.h"
#include "device/device.h"
#include "device/engine_process.h"
#include "device/memory.h"
#include "device/quota.h"
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/imports.h"
#include "device/uverbs/kept_programs.h"
#include "device/uverbs/grant_slot.h"
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

/* A receiving socket can be used to see others' packets (engine_grant.h), so only a user who
 * may see all packets gets one. */
static bool may_have_sockets(const struct ur_ufile *file)
{
	return ur_is_administrator(file->session) ||
	       ur_client_may_raw(file->session);
}

/* Returns whether the context's engine must be in an engine process. A program could switch off
 * a hostile card in its own engine. */
static bool needs_process(const struct ur_cmd *cmd)
{
	return cmd->file->adverse || ur_ufile_is_apart(cmd->file);
}

/* apart: the engine is, or was, in an engine process. */
static int check_open(const struct ur_cmd *cmd, bool apart)
{
	const struct ur_ufile *file = cmd->file;

	if (file->slot || has_objects(file))
		return -EINVAL;
	return needs_process(cmd) && !apart ? -EOPNOTSUPP : 0;
}

/* In another network namespace the engine's own sockets cannot send for the device. If the
 * namespace is unknown, only an engine process may send, by the outbox, which is right for all. */
static int find_mode(const struct ur_ufile *file, enum ur_grant_mode *mode)
{
	switch (ur_client_network(file->session->sock)) {
	case UR_CLIENT_NET_OURS:
		*mode = may_have_sockets(file) ? UR_GRANT_SOCKETS
					       : UR_GRANT_RELAYED;
		return 0;
	case UR_CLIENT_NET_OTHER:
		*mode = UR_GRANT_FAR;
		return 0;
	default:
		*mode = UR_GRANT_FAR;
		return -EOPNOTSUPP;
	}
}

/* Returns whether an earlier uroced may have given this number to the program. Packets to
 * the slot's numbers reach the program anyway, so a false claim gains nothing. */
static bool may_have_had(const struct ur_ufile *file, u32 slot, u32 number)
{
	return slot && ur_handles_follow(&file->handles) &&
	       ur_engine_granted_number(file->dev->engine, slot, number);
}

int ur_program_engine_flags(const struct ur_cmd *cmd, u32 slot, u32 flags,
			    u32 number)
{
	bool again = flags == UROCE_QP_F_AGAIN;

	if ((flags && !again) ||
	    (again ? !may_have_had(cmd->file, slot, number) : number))
		return -EINVAL;
	return slot ? 0 : -EOPNOTSUPP;
}

/* Parses the driver's part for a queue pair with an indirection table. */
static int take_spread(const struct ur_cmd *cmd, struct ur_qp_args *a)
{
	struct uroce_create_rss_qp_req req;

	ur_udata_in(cmd, &req, sizeof(req));
	a->number = req.number;
	a->slot = cmd->file->slot;
	return ur_program_engine_flags(cmd, a->slot, req.flags, req.number);
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
	if (req.flags == UROCE_QP_F_SHARED) {
		if (!cmd->file->shared)
			return -EINVAL;
		a->slot = cmd->file->shared->slot;
		req.flags = 0;
	}
	err = ur_program_engine_flags(cmd, a->slot, req.flags, req.number);
	if (err)
		return err;
	/* Other openers of the domain could not use it. */
	if (domain && domain->shared && !domain->home)
		return -EINVAL;
	a->number = req.number;
	return 0;
}

static int take_part(struct ur_ufile *file, bool small, enum ur_grant_mode mode)
{
	file->small = small;
	file->relayed = mode != UR_GRANT_SOCKETS;
	file->far = mode == UR_GRANT_FAR;
	return ur_slot_take_part(file->dev, file->uid, small, mode);
}

static void give_part(struct ur_ufile *file)
{
	ur_slot_give_part(file->dev, file->uid, file->small,
			  ur_ufile_grant_mode(file), file->rings);
	file->rings = 0;
}

/* Installs the descriptors of the slot in the client, and their numbers in *resp. */
static int install(const struct ur_cmd *cmd, const struct ur_grant *grant,
		   struct uroce_engine_open *resp)
{
	bool far = cmd->file->far;
	/* With our socket it could send anything to any host in our network namespace. */
	int fds[] = {grant->file,
		     far ? -1 : grant->out[0],
		     far ? -1 : grant->out[1],
		     grant->counters,
		     grant->settings,
		     grant->record,
		     grant->relay,
		     grant->relay_words,
		     grant->outbox,
		     grant->wake_fd,
		     grant->bell};
	__s32 *to[] = {&resp->local_fd, &resp->out_fd[0],      &resp->out_fd[1],
		       &resp->count_fd, &resp->settings_fd,    &resp->record_fd,
		       &resp->relay_fd, &resp->relay_words_fd, &resp->outbox_fd,
		       &resp->wake_fd,	&resp->bell_fd};
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

static enum ur_grant_mode without_sockets(enum ur_grant_mode mode)
{
	return mode == UR_GRANT_SOCKETS ? UR_GRANT_RELAYED : mode;
}

static int grant_slot(struct ur_ufile *file, bool small,
		      enum ur_grant_mode mode, struct ur_grant *grant)
{
	int err;

	if (small)
		mode = without_sockets(mode);
	err = take_part(file, small, mode);
	if (err)
		return err;
	err = ur_engine_grant(file->dev->engine, file->uid, file->session->pid,
			      small, mode, grant);
	if (err)
		give_part(file);
	return err;
}

/* Gets a slot for the file's engine. bytes: size of the provider's struct
 * uroce_engine_open. */
static int make_grant(const struct ur_cmd *cmd, bool apart, size_t bytes,
		      struct ur_grant *grant)
{
	struct ur_ufile *file = cmd->file;
	enum ur_grant_mode mode;
	bool small;
	/* First, since find_mode() may release the lock for an upcall. */
	int unknown = find_mode(file, &mode);
	int err = check_open(cmd, apart);

	if (!err && !apart)
		err = unknown;
	/* An older provider does not support the outbox. */
	if (!err && mode == UR_GRANT_FAR &&
	    bytes < sizeof(struct uroce_engine_open))
		err = -EOPNOTSUPP;
	if (err)
		return err;
	small = ur_slot_is_for_small(file->dev, file->uid);
	err = grant_slot(file, small, mode, grant);
	/* Programs of an earlier uroced that have not reconnected may have the large slots. */
	return err == -EBUSY && !small ? grant_slot(file, true, mode, grant)
				       : err;
}

/* Called after the client got its copies, or failed to. */
static void granted_to(struct ur_ufile *file, const struct ur_grant *grant,
		       int err)
{
	ur_slot_close_granted(grant);
	file->slot = grant->slot;
	if (err)
		ur_program_engine_end(file);
}

int ur_m_engine_open(struct ur_cmd *cmd)
{
	struct uroce_engine_open resp;
	struct ur_grant grant;
	int err = make_grant(cmd, false,
			     ur_attr_len(cmd, UROCE_ATTR_ENGINE_OPEN_RESP),
			     &grant);

	if (err)
		return err;
	resp = ur_slot_describe(cmd->dev, &grant);
	err = install(cmd, &grant, &resp);
	if (!err)
		err = ur_attr_out(cmd, UROCE_ATTR_ENGINE_OPEN_RESP, &resp,
				  sizeof(resp));
	granted_to(cmd->file, &grant, err);
	return err;
}

/* ---- in an engine process ---- */

/* sock: as of ur_slot_give_context(). */
static int begin_apart(struct ur_ufile *file, const struct ur_grant *grant,
		       int sock[2])
{
	struct uroce_apart_context context = {
		.open = ur_slot_describe(file->dev, grant),
	};
	int fds[UROCE_APART_FDS];
	int err = ur_slot_charge_apart(file->uid, false, &file->apart_kib);

	if (!err)
		err = ur_engine_process_get(file->session, ur_ufile_end_apart,
					    &file->apart);
	if (err)
		return err;
	ur_engine_set_ring_room(file->dev->engine, grant->slot, 0);
	ur_slot_fds(grant, file->far, fds);
	return ur_slot_give_context(file, file->session->pid,
				    file->session->mem, file->apart,
				    file->apart_kib, &context, fds, sock);
}

/* Takes back a slot whose engine the program could not start. */
static void end_own(struct ur_ufile *file)
{
	if (file->slot && !file->apart && !file->liveness && !has_objects(file))
		ur_program_engine_end(file);
}

int ur_m_engine_apart(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	struct uroce_engine_apart resp = {.fd = -1};
	struct ur_grant grant;
	int err, sock[2];

	end_own(file);
	err = make_grant(cmd, true, sizeof(struct uroce_engine_open), &grant);
	if (err) {
		ur_slot_log_refusal(file, err);
		return err;
	}
	err = begin_apart(file, &grant, sock);
	if (!err) {
		resp.fd = ur_session_install(file->session, sock[0]);
		close(sock[0]);
		close(sock[1]);
		err = resp.fd < 0 ? resp.fd : 0;
	}
	resp.slot = grant.slot;
	if (!err)
		err = ur_attr_out(cmd, UROCE_ATTR_ENGINE_APART_RESP, &resp,
				  sizeof(resp));
	if (err)
		ur_slot_log_refusal(file, err);
	granted_to(file, &grant, err);
	return err;
}

int ur_m_engine_room(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	struct ur_engine *engine = file->dev->engine;
	u32 each, more;
	int err;

	if (!file->slot)
		return -EINVAL;
	/* An earlier uroced may have added some. */
	each = ur_engine_ring_room_of(engine, file->slot);
	if (each > INT32_MAX / 4 || file->room_kib > INT32_MAX / 2)
		return -ENOMEM;
	more = UR_SLOT_APART_KIB + 2 * each;
	err = ur_memory_take(file->uid, more);
	if (err)
		return err;
	file->room_kib += more;
	each += more / 2;
	ur_engine_set_ring_room(engine, file->slot, each);
	return ur_attr_out(cmd, UROCE_ATTR_ENGINE_ROOM_RESP, &each,
			   sizeof(each));
}

/* ---- shared engines ---- */

static void hang_up(const struct ur_shared_engine *e)
{
	ur_ufile_for_each(file, e->dev)
		if (file->shared == e)
			ur_session_hang_up_file(e->dev->daemon, file);
}

/* Adds the file's context to its shared engine. sock: as of ur_slot_give_context(). */
static int join(struct ur_ufile *file, int sock[2])
{
	struct ur_obj_async *async = file->async;
	const struct ur_shared_part part = {
		.pid = file->session->pid,
		.mem = file->session->mem,
		.async = async,
		.listed = -1,
	};
	int err;

	ur_object_use(async); /* another connection may close it */
	err = ur_shared_engine_join(file, &part, ur_ufile_end_apart, sock);
	ur_async_put(async);
	return err;
}

/* Installs the program's end sock in the client and fills in the reply of the attribute attr. sock stays the
 * caller's. */
static int put_shared(struct ur_cmd *cmd, u16 attr, int sock)
{
	struct uroce_engine_apart resp = {cmd->file->shared->slot, -1};

	if (sock >= 0) {
		resp.fd = ur_session_install(cmd->file->session, sock);
		if (resp.fd < 0)
			return resp.fd;
	}
	return ur_attr_out(cmd, attr, &resp, sizeof(resp));
}

/* The opener of an imported file gets the context that began without it. If that fails, the context
 * ends: nobody would tell it which regions end. */
static int hand_over(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	int sock = file->opener_sock, err;

	if (file->session->id != file->opener)
		return -EPERM;
	file->opener_sock = 0;
	err = put_shared(cmd, UROCE_ATTR_ENGINE_SHARE_RESP, sock);
	close(sock);
	return err;
}

int ur_m_engine_share(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	int err, sock[2] = {-1, -1};
	u32 slot;

	if (ur_attr_u32(cmd, UROCE_ATTR_ENGINE_SHARE_SLOT, &slot))
		return -EINVAL;
	if (file->opener_sock && !slot)
		return hand_over(cmd);
	if (!file->slot || file->shared || (!slot && !file->async))
		return -EINVAL;
	err = slot ? ur_shared_engine_reattach(file, slot, hang_up)
		   : join(file, sock);
	if (err)
		return err;
	err = put_shared(cmd, UROCE_ATTR_ENGINE_SHARE_RESP, sock[0]);
	for (int i = 0; i < 2; i++)
		if (sock[i] >= 0)
			close(sock[i]);
	if (err)
		ur_shared_engine_put(file);
	return err;
}

int ur_m_engine_import(struct ur_cmd *cmd)
{
	int sock;
	int err = ur_import_begin(cmd->file, ur_ufile_end_apart, &sock);

	if (err)
		return err;
	err = put_shared(cmd, UROCE_ATTR_ENGINE_IMPORT_RESP, sock);
	close(sock);
	return err;
}

/* Charges the user for the slot and the descriptor. */
static int take_slot(struct ur_ufile *file, u32 slot, enum ur_grant_mode mode)
{
	int err = ur_quota_take_fds(file->uid, 1), liveness;
	bool small = ur_slot_is_small(slot);

	if (err)
		return err;
	err = take_part(file, small, small ? without_sockets(mode) : mode);
	if (err)
		goto err_fds;
	liveness = ur_kept_program_take(file->dev, slot, file->uid,
					file->session->pid);
	if (liveness < 0) {
		err = liveness;
		goto err_part;
	}
	file->slot = slot;
	file->liveness = liveness;
	return 0;
err_part:
	give_part(file);
err_fds:
	ur_quota_give_fds(file->uid, 1);
	return err;
}

/* Records the process that has the engine now, for the next uroced. It shares this file, so
 * it gains no right by the slot, which remains charged to its user. */
static int pass_on(const struct ur_ufile *file, u32 slot)
{
	const struct ur_kept_liveness liveness = {file->liveness, file->uid,
						  file->session->pid};

	if (!slot || file->slot != slot)
		return -EINVAL;
	if (file->liveness)
		ur_engine_pass_liveness_on(file->dev->engine, slot, &liveness);
	return 0;
}

/* Returns whether the engine in the slot has the realm that this uroced requires; an
 * earlier uroced may have isolated users differently. */
static bool is_of_realm(const struct ur_ufile *file, u32 slot)
{
	u32 realm = ur_ufile_realm(file);

	return !realm ||
	       ur_engine_granted_realm(file->dev->engine, slot) == realm;
}

static int reattach(struct ur_cmd *cmd, const struct uroce_engine_resume *in)
{
	enum ur_grant_mode mode;
	int err;

	/* If it is unknown, the engine is in an engine process. */
	find_mode(cmd->file, &mode);
	if (!in->slot || in->slot >= UR_SLOTS)
		return -EINVAL;
	err = check_open(cmd, true);
	if (!err && !is_of_realm(cmd->file, in->slot))
		err = -EOPNOTSUPP;
	if (!err)
		err = take_slot(cmd->file, in->slot, mode);
	if (!err)
		ur_handles_begin(&cmd->file->handles, in->resumes);
	return err;
}

/* The file is a child's of fork, whose context has moved there. */
static int begin_handles(struct ur_cmd *cmd, u32 resumes)
{
	int err = check_open(cmd, true);

	if (!err)
		ur_handles_begin(&cmd->file->handles, resumes);
	return err;
}

int ur_m_engine_resume(struct ur_cmd *cmd)
{
	struct uroce_engine_resume in;
	int err;

	ur_attr_in(cmd, UROCE_ATTR_ENGINE_RESUME, &in, sizeof(in));
	if (!in.resumes)
		err = pass_on(cmd->file, in.slot);
	else if (in.slot == UROCE_ENGINE_NO_SLOT)
		err = begin_handles(cmd, in.resumes);
	else
		err = reattach(cmd, &in);
	/* If this fails the slot is not taken back here: the file ends then. */
	return err ? err
		   : ur_attr_out(cmd, UROCE_ATTR_ENGINE_RESUME_RESP, &in.slot,
				 sizeof(in.slot));
}

/* Clears UROCE_ENGINE_SHARED in *named. Returns the slot of the file's own or shared
 * engine; 0: none. */
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
	err = ur_engine_grant_socket(cmd->dev->engine, slot, index, resp.gid,
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

/* Charges for the rings to slot, at most once per slot. uroced has the files until the
 * other engine gets them too. */
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

/* Installs the files in the client, each once: they belong to the client only. */
static int install_ring(const struct ur_cmd *cmd,
			const struct ur_granted_ring *ring,
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

/* Engines of one user need no protection from each other. */
static bool is_same_user(const struct ur_cmd *cmd, u32 slot)
{
	uid_t own = cmd->file->uid;

	return ur_is_one_user(own) &&
	       ur_engine_granted_to(cmd->dev->engine, slot) == own;
}

int ur_m_engine_ring(struct ur_cmd *cmd)
{
	struct uroce_engine_ring resp = {0};
	struct ur_granted_ring ring;
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
	err = ur_engine_grant_ring(cmd->dev->engine, own, slot, &ring);
	if (err)
		return err;
	resp.slot = ring.peer;
	resp.grant_id = ring.grant_id;
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
	if (file->liveness)
		ur_program_wake(file->liveness);
}

void ur_program_engine_end(struct ur_ufile *file)
{
	ur_imports_end(file);
	ur_shared_engine_put(file);
	ur_engine_set_ring_room(file->dev->engine, file->slot, 0);
	ur_engine_grant_end(file->dev->engine, file->slot);
	file->slot = 0;
	give_part(file);
	ur_destroy_hint_close(file);
	if (file->apart)
		ur_engine_process_put(file->apart);
	file->apart = NULL;
	ur_slot_give_apart(file->uid, &file->apart_kib);
	ur_slot_give_apart(file->uid, &file->room_kib);
	if (!file->liveness)
		return;
	close(file->liveness);
	file->liveness = 0;
	ur_quota_give_fds(file->uid, 1);
}
