// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast: the group's GID follows from its address. The host does membership (IGMP,
 * MLD), by a socket that joins on the device's netdev and lives as long as the join.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/quota.h"
#include "device/ucma/ucma_journal.h"
#include "util/assert.h"

#define MULTICAST_QPN 0xffffff

static int open_member(const struct ur_device *dev, const union ur_sa *group)
{
	struct ip_mreqn mreq = {.imr_ifindex = (int)dev->ifindex};
	struct ipv6_mreq mreq6 = {.ipv6mr_interface = dev->ifindex};
	int fd, ret;

	fd = socket(group->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (group->sa.sa_family == AF_INET) {
		mreq.imr_multiaddr = group->in.sin_addr;
		ret = setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &mreq,
				 sizeof(mreq));
	} else {
		mreq6.ipv6mr_multiaddr = group->in6.sin6_addr;
		ret = setsockopt(fd, IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP, &mreq6,
				 sizeof(mreq6));
	}
	if (ret) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

static int join_group(struct ucma_mcast *mc, const struct ur_device *dev,
		      const union ur_sa *group)
{
	int fd, err = ur_quota_take_fds(mc->user, 1);

	if (err)
		return err;
	fd = open_member(dev, group);
	if (fd < 0) {
		ur_quota_give_fds(mc->user, 1);
		return fd;
	}
	mc->membership = fd;
	return 0;
}

static void leave_group(struct ucma_mcast *mc)
{
	if (mc->membership < 0)
		return;
	close(mc->membership);
	ur_quota_give_fds(mc->user, 1);
}

static bool is_group(const union ur_sa *sa)
{
	if (sa->sa.sa_family == AF_INET)
		return IN_MULTICAST(ntohl(sa->in.sin_addr.s_addr));
	return sa->sa.sa_family == AF_INET6 &&
	       IN6_IS_ADDR_MULTICAST(&sa->in6.sin6_addr);
}

/* Makes the GID of a group as Linux does: RoCEv1 has no IPv4 groups, and an IPv4 group has
 * the GID ff0e::ffff:A.B.C.D. */
static void group_gid(const struct ucma_id *id, const union ur_sa *group,
		      u8 gid[16])
{
	const struct ur_gid *own = ur_gid_get(id->dev, id->sgid_index);

	ucma_sa_to_gid(group, gid);
	if (own && own->type == UR_GID_ROCE_V1 && ur_gid_is_v4(gid)) {
		gid[0] = 0xff;
		gid[1] = 0x0e;
	}
}

static void report_join(struct ucma_mcast *mc)
{
	struct ucma_id *id = mc->id;
	struct ucma_event *ue =
		ucma_event_new(id, UCMA_EVENT_MULTICAST_JOIN, 0);
	struct rdma_ucm_ud_param *ud;

	if (!ue)
		return;
	mc->pending = true;
	ue->mcast = mc;
	ue->resp.uid = mc->uid;
	ue->resp.id = mc->number;
	ucma_default_tos(id);
	ud = &ue->resp.param.ud;
	ud->qp_num = MULTICAST_QPN;
	ud->qkey = id->qkey;
	group_gid(id, &mc->group, ud->ah_attr.grh.dgid);
	ud->ah_attr.grh.sgid_index = (u8)id->sgid_index;
	ud->ah_attr.grh.hop_limit = UCMA_HOP_LIMIT;
	ud->ah_attr.grh.traffic_class = id->tos;
	ud->ah_attr.sl = id->tos >> 5;
	ud->ah_attr.is_global = 1;
	ud->ah_attr.port_num = 1;
	ucma_event_post(ue);
}

/* Makes a membership. number: its number, or UCMA_NUMBER_NONE for any. */
static int make_mcast(struct ucma_id *id, u64 uid, const union ur_sa *group,
		      bool full, u32 number, struct ucma_mcast **ret)
{
	struct ucma_file *file = id->file;
	struct ur_ucma *ucma = ucma_of(file);
	struct ucma_mcast *mc;
	int err;

	if (file->n_mcasts >= UCMA_FILE_MCAST_MAX)
		return -ENOMEM;
	mc = calloc(1, sizeof(*mc));
	if (!mc)
		return -ENOMEM;
	mc->membership = -1;
	mc->user = file->session->uid;
	mc->id = id;
	mc->uid = uid;
	mc->group = *group;
	mc->full = full;
	ur_list_init(&mc->touched);
	if (full && id->dev) {
		err = join_group(mc, id->dev, group);
		if (err)
			goto err_free;
	}
	err = ur_quota_take(&ucma->mcasts_quota, mc->user, 1);
	if (err)
		goto err_leave;
	err = ucma_number_take_at(&ucma->mcasts, mc, number, &mc->number);
	if (err)
		goto err_give;
	ur_list_add_tail(&file->mcasts, &mc->node);
	file->n_mcasts++;
	ucma_journal_touch_join(mc);
	*ret = mc;
	return 0;

err_give:
	ur_quota_give(&ucma->mcasts_quota, mc->user, 1);
err_leave:
	leave_group(mc);
err_free:
	free(mc);
	return err;
}

static int join(struct ucma_cmd *cmd, u32 number, u64 uid,
		const union ur_sa *group, u16 flags)
{
	struct rdma_ucm_create_id_resp *out = (void *)cmd->out;
	struct ucma_id *id = ucma_id_get(cmd->file, number);
	struct ucma_mcast *mc;
	int err;

	if (!id || !id->dev || !is_group(group))
		return -EINVAL;
	if (id->qp_type != UR_QPT_UD ||
	    (id->state != UCMA_BOUND && id->state != UCMA_ADDR_RESOLVED))
		return -EINVAL;
	err = make_mcast(id, uid, group, flags == RDMA_MC_JOIN_FLAG_FULLMEMBER,
			 UCMA_NUMBER_NONE, &mc);
	if (err)
		return err;
	if (!id->qkey)
		id->qkey = UR_IP_CM_UDP_QKEY;
	report_join(mc);
	out->id = mc->number;
	cmd->out_len = sizeof(*out);
	return 0;
}

bool ucma_mcast_restore(struct ucma_id *id, u32 number,
			const struct ucma_join_record *r)
{
	union ur_sa group = {.in6 = r->group};
	struct ucma_mcast *mc;

	if (!is_group(&group) || id->qp_type != UR_QPT_UD ||
	    make_mcast(id, r->uid, &group, r->full, number, &mc))
		return false;
	mc->events_reported = r->reported;
	if (r->pending)
		report_join(mc);
	return true;
}

int ucma_join_ip_mcast(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_join_ip_mcast *in = cmd->in;
	union ur_sa group;

	if (ucma_sa_copy(&group, &in->addr, sizeof(in->addr)))
		return -EINVAL;
	return join(cmd, in->id, in->uid, &group, RDMA_MC_JOIN_FLAG_FULLMEMBER);
}

int ucma_join_mcast(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_join_mcast *in = cmd->in;
	union ur_sa group;

	if (ucma_sa_copy(&group, &in->addr, in->addr_size))
		return -EINVAL;
	if (in->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return -EINVAL;
	return join(cmd, in->id, in->uid, &group, in->join_flags);
}

void ucma_mcast_free(struct ucma_mcast *mc)
{
	struct ucma_file *file = mc->id->file;

	ur_assert(ur_loop_mine(file->daemon->loop));
	ucma_events_purge(file, NULL, mc);
	ucma_journal_forget_join(mc);
	ucma_number_drop(&ucma_of(file)->mcasts, mc->number);
	ur_quota_give(&ucma_of(file)->mcasts_quota, mc->user, 1);
	ur_list_del(&mc->node);
	ur_assert(file->n_mcasts);
	file->n_mcasts--;
	leave_group(mc);
	free(mc);
}

int ucma_leave_mcast(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_destroy_id *in = cmd->in;
	struct rdma_ucm_destroy_id_resp *out = (void *)cmd->out;
	struct ucma_mcast *mc = NULL;

	if (in->id < UCMA_ID_MAX)
		mc = ucma_of(cmd->file)->mcasts.slot[in->id];
	if (!mc)
		return -ENOENT;
	if (mc->id->file != cmd->file)
		return -EINVAL;
	out->events_reported = mc->events_reported;
	cmd->out_len = sizeof(*out);
	ucma_mcast_free(mc);
	return 0;
}
