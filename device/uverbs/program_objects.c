// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Resources for an engine in a program from objects that were made here: paths, ends of
 * event files, flow rules, and packet sockets. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "device/client_rights.h"
#include "device/quota.h"
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/obj_qp.h"
#include "util/os/event_pair.h"

/* Returns a bit mask of the other slots of this device that the address leads to. */
static u32 peers(const struct ur_cmd *cmd, u32 slot, const u8 dgid[16])
{
	/* Small slots have no rings. */
	return ur_slot_is_small(slot)
		       ? 0
		       : ur_engine_peers(cmd->dev->engine, dgid) &
				 ~(1u << slot);
}

/* Q_Keys are refused: a privileged one would need an upcall. */
static int modify_first(struct ur_cmd *cmd, struct ur_obj_qp *qp)
{
	struct ib_uverbs_modify_qp m[UROCE_ENGINE_QP_MODIFIES];
	u32 len = ur_attr_len(cmd, UROCE_ATTR_ENGINE_QP_MODIFY);
	int err = 0;

	if (len % sizeof(m[0]) || len > sizeof(m))
		return -EINVAL;
	if (len)
		ur_attr_in(cmd, UROCE_ATTR_ENGINE_QP_MODIFY, m, sizeof(m));
	for (u32 i = 0; i < len / sizeof(m[0]) && !err; i++)
		err = m[i].attr_mask & (UR_QP_ATTR_QKEY | UR_QP_ATTR_RATE_LIMIT)
			      ? -EOPNOTSUPP
			      : ur_qp_modify_by(cmd, qp, &m[i], 0);
	return err;
}

int ur_m_engine_qp(struct ur_cmd *cmd)
{
	struct ur_obj_qp *qp = ur_attr_obj(cmd, UROCE_ATTR_ENGINE_QP_HANDLE);
	struct uroce_engine_qp resp;
	u32 slot, own;
	int err;

	err = modify_first(cmd, qp);
	if (err)
		return err;
	ur_qpc_describe(qp->qpc, &resp);
	if (resp.have_path) {
		/* The administrator's rules override the program. */
		ur_tclass_apply(&cmd->dev->tclass, resp.sgid, resp.dgid,
				&resp.traffic_class, &resp.hop_limit);
		slot = ur_slot_of(resp.dest_qpn);
		own = ur_slot_of(qp->qpc->qpn);
		if (!resp.v1 && !ur_slot_is_small(slot) &&
		    (peers(cmd, own, resp.dgid) >> slot & 1))
			resp.peer_slot = (u8)slot;
	}
	return ur_attr_out(cmd, UROCE_ATTR_ENGINE_QP_RESP, &resp, sizeof(resp));
}

int ur_m_engine_ah(struct ur_cmd *cmd)
{
	struct ur_obj_ah *ah = ur_attr_obj(cmd, UROCE_ATTR_ENGINE_AH_HANDLE);
	const struct ur_epath path = ah->path;
	struct uroce_engine_path resp;

	if (!cmd->file->slot)
		return -EINVAL;
	resp = (struct uroce_engine_path){
		.sgid_index = path.sgid_index,
		.flow_label = path.flow_label,
		.traffic_class = path.traffic_class,
		.hop_limit = path.hop_limit,
		.sl = path.sl,
		.v1 = path.v1,
	};
	memcpy(resp.sgid, path.sgid, sizeof(resp.sgid));
	memcpy(resp.dgid, path.dgid, sizeof(resp.dgid));
	if (!path.v1)
		resp.peer_slots = peers(cmd, cmd->file->slot, path.dgid);
	return ur_attr_out(cmd, UROCE_ATTR_ENGINE_AH_RESP, &resp, sizeof(resp));
}

static int make_liveness(struct ur_ufile *file, int fd[2])
{
	int err = ur_quota_take_fds(file->uid, 1);

	if (err)
		return err;
	err = ur_event_pair(fd);
	if (!err) {
		const struct ur_kept_liveness liveness = {fd[0], file->uid,
							  file->session->pid};

		err = ur_engine_keep_liveness(file->dev->engine, file->slot,
					      &liveness);
		if (!err) {
			file->liveness = fd[0];
			return 0;
		}
		close(fd[0]);
		close(fd[1]);
	}
	ur_quota_give_fds(file->uid, 1);
	return err;
}

/* Returns the sending end of the asynchronous event file of an imported context. */
static int import_async(struct ur_cmd *cmd, int number)
{
	struct uroce_engine_async resp = {.liveness = -1, .destroy_hint = -1};
	struct ur_obj_async *async;
	int err = ur_async_from_fd(cmd->file, number, &async);

	if (err)
		return err;
	if (!async)
		return -EINVAL;
	resp.tx = ur_session_install(cmd->file->session, async->tx);
	ur_async_put(async);
	return resp.tx < 0 ? resp.tx
			   : ur_attr_out(cmd, UROCE_ATTR_ENGINE_ASYNC_RESP,
					 &resp, sizeof(resp));
}

/* As in ur_m_engine_cq(). */
int ur_m_engine_async(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	struct ur_obj_async *async = file->async;
	struct uroce_engine_async resp = {.destroy_hint = -1};
	int fd[2], ends[2], err;
	s32 numbers[2];
	int number = ur_attr_fd(cmd, UROCE_ATTR_ENGINE_ASYNC_FILE);

	if (number >= 0)
		return import_async(cmd, number);
	if (!file->slot || !async || file->liveness)
		return -EINVAL;
	err = make_liveness(file, fd);
	if (err)
		return err;
	ur_object_use(async); /* another connection may close it */
	ends[0] = fd[1];
	ends[1] = async->tx;
	err = ur_session_install_all(file->session, ends, 2, numbers);
	close(fd[1]);
	ur_async_put(async);
	if (err)
		return err;
	resp.liveness = numbers[0];
	resp.tx = numbers[1];
	/* An older provider does not support destroy_hint. Without it, each region is
	 * deregistered by a command. */
	if (ur_attr_len(cmd, UROCE_ATTR_ENGINE_ASYNC_RESP) >= sizeof(resp) &&
	    ur_destroy_hint_open(file) >= 0) {
		resp.hints = UROCE_HINTS_QP;
		resp.destroy_hint = ur_session_install(file->session,
						       file->destroy_hint_fd);
	}
	return ur_attr_out(cmd, UROCE_ATTR_ENGINE_ASYNC_RESP, &resp,
			   sizeof(resp));
}

/* The client gets the sending end of its own channel: it may read the events anyway. */
int ur_m_engine_cq(struct ur_cmd *cmd)
{
	struct ur_obj_cq *cq = ur_attr_obj(cmd, UROCE_ATTR_ENGINE_CQ_HANDLE);
	int fd;

	if (!cmd->file->slot || !cq->chan)
		return -EINVAL;
	fd = ur_session_install(cmd->file->session, cq->chan->tx);
	if (fd < 0)
		return fd;
	return ur_attr_out(cmd, UROCE_ATTR_ENGINE_CQ_RESP, &fd, sizeof(fd));
}

#if UROCE_WITH_RAW_PACKET
int ur_m_engine_flow(struct ur_cmd *cmd)
{
	const struct ur_obj_flow *flow =
		ur_obj_flow_of(ur_attr_obj(cmd, UROCE_ATTR_ENGINE_FLOW_HANDLE));

	return ur_attr_out(cmd, UROCE_ATTR_ENGINE_FLOW_RESP, &flow->asked,
			   sizeof(flow->asked));
}

/* A program that needs new sockets, for another netdev or after a failure, needs few; the
 * limit bounds what uroced's memory is charged with. */
#define MAX_RAW_GRANTS 16u

/* A client that may make a raw packet queue pair could make such sockets by itself. */
int ur_m_engine_raw(struct ur_cmd *cmd)
{
	struct ur_ufile *file = cmd->file;
	struct uroce_engine_raw resp;
	int fd[UR_RAW_SOCKETS], err;
	s32 numbers[UR_RAW_SOCKETS];

	if (!ur_has_raw(cmd->dev))
		return -EOPNOTSUPP;
	if (!ur_client_may_raw(file->session))
		return -EPERM;
	if (!file->slot)
		return -EINVAL;
	if (file->raw_grants == MAX_RAW_GRANTS)
		return -EMFILE;
	file->raw_grants++;
	err = ur_raw_open(cmd->dev->ifindex, file->slot, fd);
	if (err)
		return err;
	err = ur_session_install_all(file->session, fd, UR_RAW_SOCKETS,
				     numbers);
	for (u32 i = 0; i < UR_RAW_SOCKETS; i++) {
		close(fd[i]);
		resp.fd[i] = err ? -1 : numbers[i];
	}
	return err ? err
		   : ur_attr_out(cmd, UROCE_ATTR_ENGINE_RAW_RESP, &resp,
				 sizeof(resp));
}
#endif
