// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* ibv_modify_qp(): states, paths, timers. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "check/front.h"
#include "check/real.h"
#include "check/report.h"
#include "util/verbs_words.h"

#undef ibv_query_port

/* Does what verbs.h does, without a link to the library. */
static int query_port(struct ibv_context *context, uint8_t number,
		      struct ibv_port_attr *port)
{
	struct verbs_context *verbs = verbs_get_ctx_op(context, query_port);

	memset(port, 0, sizeof(*port));
	return verbs ? verbs->query_port(context, number, port, sizeof(*port))
		     : ur_real(UR_VERBS, ibv_query_port)(
			       context, number,
			       (struct _compat_ibv_port_attr *)port);
}

/* Returns whether the path of @attr is wrong, as far as this host knows; text
 * says how. */
static bool path_wrong(struct ibv_qp *ibqp, const struct ibv_qp_attr *attr,
		       int mask, char *text, size_t size)
{
	const struct ibv_ah_attr *ah = &attr->ah_attr;
	struct ibv_port_attr port;
	union ibv_gid gid;

	if (!(mask & IBV_QP_AV))
		return false;
	if (query_port(ibqp->context, ah->port_num, &port)) {
		snprintf(text, size, "the device has no port %u", ah->port_num);
		return true;
	}
	if (mask & IBV_QP_PATH_MTU && attr->path_mtu > port.active_mtu) {
		snprintf(text, size, "path_mtu is %u, the port's active MTU %u",
			 128u << attr->path_mtu, 128u << port.active_mtu);
		return true;
	}
	if (port.link_layer != IBV_LINK_LAYER_ETHERNET)
		return false;
	if (!ah->is_global) {
		snprintf(text, size,
			 "ah_attr.is_global is 0: on Ethernet every path has a "
			 "GRH (grh.dgid, grh.sgid_index)");
		return true;
	}
	if (ah->grh.sgid_index >= port.gid_tbl_len ||
	    ur_real(UR_VERBS, ibv_query_gid)(ibqp->context, ah->port_num,
					     ah->grh.sgid_index, &gid) ||
	    !(gid.global.subnet_prefix | gid.global.interface_id)) {
		snprintf(text, size, "there is no GID %u on port %u",
			 ah->grh.sgid_index, ah->port_num);
		return true;
	}
	return false;
}

/* Lists the existing GIDs, for the report of a missing one. */
static void list_gids(struct ibv_context *context, unsigned int port,
		      char *text, size_t size)
{
	struct ibv_gid_entry entry;
	size_t at = strlen(text);

	for (uint32_t i = 0; i < 16 && at + 64 < size; i++) {
		char name[INET6_ADDRSTRLEN];

		if (ur_real(UR_VERBS, _ibv_query_gid_ex)(
			    context, port, i, &entry, 0, sizeof(entry)))
			continue;
		inet_ntop(AF_INET6, entry.gid.raw, name, sizeof(name));
		at += (size_t)snprintf(
			text + at, size - at, "; GID %u is %s, %s", i, name,
			entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCEv2"
			: entry.gid_type == IBV_GID_TYPE_ROCE_V1
				? "RoCEv1"
				: "InfiniBand");
	}
}

static bool is_v4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

/* Reports a path between two address families. */
static void judge_families(struct ibv_qp *ibqp, const struct ur_watched_qp *qp,
			   const struct ibv_qp_attr *attr)
{
	const struct ibv_global_route *grh = &attr->ah_attr.grh;
	union ibv_gid gid;
	char text[900];

	if (ur_real(UR_VERBS, ibv_query_gid)(ibqp->context,
					     attr->ah_attr.port_num,
					     grh->sgid_index, &gid) ||
	    is_v4(&gid) == is_v4(&grh->dgid))
		return;
	snprintf(text, sizeof(text),
		 "GID %u of this host is of %s, the destination's GID of %s",
		 grh->sgid_index, is_v4(&gid) ? "IPv4" : "IPv6",
		 is_v4(&grh->dgid) ? "IPv4" : "IPv6");
	list_gids(ibqp->context, attr->ah_attr.port_num, text, sizeof(text));
	ur_table_lock();
	ur_report(UR_CHECK_QP_PATH, &qp->o, "%s", text);
	ur_table_unlock();
}

/* Stores attributes that were set successfully. */
static void keep(struct ur_watched_qp *qp, const struct ibv_qp_attr *attr,
		 int mask)
{
#define KEEP(bit, field)                              \
	do {                                          \
		if (mask & (bit))                     \
			qp->attr.field = attr->field; \
	} while (0)
	KEEP(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	KEEP(IBV_QP_QKEY, qkey);
	KEEP(IBV_QP_AV, ah_attr);
	KEEP(IBV_QP_PATH_MTU, path_mtu);
	KEEP(IBV_QP_TIMEOUT, timeout);
	KEEP(IBV_QP_RETRY_CNT, retry_cnt);
	KEEP(IBV_QP_RNR_RETRY, rnr_retry);
	KEEP(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	KEEP(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	KEEP(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	KEEP(IBV_QP_DEST_QPN, dest_qp_num);
#undef KEEP
	qp->attr_mask |= mask;
}

/* Checks the depths where both ends are in this process. */
static void judge_depth(const struct ur_watched_qp *qp)
{
	const struct ur_watched_qp *peer =
		ur_watched_number(UR_KIND_QP, NULL, qp->attr.dest_qp_num);

	if (qp->type != IBV_QPT_RC || !peer || peer->o.inherited ||
	    !(peer->attr_mask & IBV_QP_DEST_QPN) ||
	    peer->attr.dest_qp_num != qp->o.number)
		return;
	for (int i = 0; i < 2; i++) {
		const struct ur_watched_qp *a = i ? peer : qp,
					   *b = i ? qp : peer;

		if (a->attr_mask & IBV_QP_MAX_QP_RD_ATOMIC &&
		    b->attr_mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
		    a->attr.max_rd_atomic > b->attr.max_dest_rd_atomic)
			ur_report(
				UR_CHECK_RD_ATOMIC, &a->o,
				"max_rd_atomic is %u; its peer 0x%06x of this "
				"process has max_dest_rd_atomic %u",
				a->attr.max_rd_atomic, b->o.number,
				b->attr.max_dest_rd_atomic);
	}
}

static void modified(struct ur_watched_qp *qp, const struct ibv_qp_attr *attr,
		     int mask)
{
	keep(qp, attr, mask);
	if (mask & IBV_QP_STATE) {
		if (attr->qp_state == IBV_QPS_RESET) {
			ur_qp_judge_end(qp, "reset");
			ur_qp_clear(qp);
			qp->attr_mask = 0;
		}
		qp->state = attr->qp_state;
	}
	if (mask & (IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC))
		judge_depth(qp);
	if (mask & IBV_QP_TIMEOUT && !attr->timeout && qp->type == IBV_QPT_RC)
		ur_report(UR_CHECK_TIMEOUT_0, &qp->o, "timeout is 0%s",
			  qp->attr.rnr_retry == 7
				  ? ", and rnr_retry 7 waits for ever too"
				  : "");
}

static void refused(struct ibv_qp *ibqp, const struct ur_watched_qp *qp,
		    const struct ibv_qp_attr *attr, int mask, int err)
{
	char text[900] = "";
	bool path = path_wrong(ibqp, attr, mask, text, sizeof(text));

	if (mask & IBV_QP_AV && path)
		list_gids(ibqp->context, attr->ah_attr.port_num, text,
			  sizeof(text));
	ur_table_lock();
	if (path)
		ur_report(UR_CHECK_QP_PATH, &qp->o, "%s: %s", strerror(err),
			  text);
	else
		ur_report(UR_CHECK_QP_MODIFY, &qp->o,
			  "%s: from state %s%s%s with attributes 0x%x",
			  strerror(err), ur_qp_state_name(qp->state),
			  mask & IBV_QP_STATE ? " to " : "",
			  mask & IBV_QP_STATE ? ur_qp_state_name(attr->qp_state)
					      : "",
			  mask);
	ur_table_unlock();
}

UR_FRONT int ibv_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
			   int mask)
{
	int err = ur_real(UR_VERBS, ibv_modify_qp)(ibqp, attr, mask);
	struct ur_watched_qp *qp;

	ur_table_lock();
	qp = ur_watched(UR_KIND_QP, ibqp);
	if (qp && !err)
		modified(qp, attr, mask);
	ur_table_unlock();
	if (!qp)
		return err;
	if (err)
		refused(ibqp, qp, attr, mask, err > 0 ? err : errno);
	else if (mask & IBV_QP_AV && attr->ah_attr.is_global)
		judge_families(ibqp, qp, attr);
	return err;
}
