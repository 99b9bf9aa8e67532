// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Bind, resolve address, resolve route. The host routes, the GID table gives the source's
 * device, and ucma_hop.c waits for the neighbour. A route is known at once; the client
 * still gets an event. */
#include <errno.h>
#include <string.h>

#include "device/ucma/ucma_neigh.h"

#define SERVICE_SPACE_MASK 0xffffffffffff0000ull

/* Replaces the port space in the service id of an AF_IB source by the id's own, as
 * cma_select_ib_ps(). */
static int select_ib_space(struct ucma_id *id, union ur_sa *addr)
{
	static const u16 spaces[] = {RDMA_PS_IB, RDMA_PS_TCP, RDMA_PS_UDP};
	u64 mask = ur_get_be64(&addr->ib.sib_sid_mask) & SERVICE_SPACE_MASK;
	u64 sid = ur_get_be64(&addr->ib.sib_sid) & mask;

	for (u32 i = 0; i < UR_ARRAY_SIZE(spaces); i++) {
		u16 ps = spaces[i];

		if (id->ps != RDMA_PS_IB && id->ps != ps)
			continue;
		if (sid != (((u64)ps << 16) & mask))
			continue;
		ur_put_be64(&addr->ib.sib_sid,
			    (u64)ps << 16 | ucma_sa_port(addr));
		id->ps = ps;
		return 0;
	}
	return -EPROTONOSUPPORT;
}

int ucma_bind_addr(struct ucma_id *id, const union ur_sa *addr)
{
	u16 ps = id->ps;
	int err = 0;

	if (id->state != UCMA_IDLE)
		return -EINVAL;
	id->src = *addr;
	if (addr->sa.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr) &&
	    !addr->in6.sin6_scope_id)
		return -EINVAL;
	if (addr->sa.sa_family == AF_IB)
		err = select_ib_space(id, &id->src);
	if (!err && !ucma_sa_any(addr))
		err = ucma_acquire_device(id);
	if (!err)
		err = ucma_port_bind(id);
	if (err) {
		memset(&id->src, 0, sizeof(id->src));
		id->dev = NULL;
		id->ps = ps;
		return err;
	}
	id->state = UCMA_BOUND;
	return 0;
}

int ucma_bind_ip(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_bind_ip *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	union ur_sa addr;

	if (ucma_sa_copy(&addr, &in->addr, sizeof(in->addr)) ||
	    addr.sa.sa_family == AF_IB || !id)
		return -EINVAL;
	return ucma_bind_addr(id, &addr);
}

int ucma_bind(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_bind *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	union ur_sa addr;

	if (in->reserved || ucma_sa_copy(&addr, &in->addr, in->addr_size) ||
	    !id)
		return -EINVAL;
	return ucma_bind_addr(id, &addr);
}

static void wildcard(union ur_sa *sa, const union ur_sa *like)
{
	memset(sa, 0, sizeof(*sa));
	sa->sa.sa_family = like->sa.sa_family;
	if (like->sa.sa_family == AF_INET6 &&
	    IN6_IS_ADDR_LINKLOCAL(&like->in6.sin6_addr))
		sa->in6.sin6_scope_id = like->in6.sin6_scope_id;
}

/* An unspecified destination means this host. */
static void make_loopback(union ur_sa *dst)
{
	if (dst->sa.sa_family == AF_INET)
		dst->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		dst->in6.sin6_addr = in6addr_loopback;
}

static bool is_multicast(const union ur_sa *sa)
{
	if (sa->sa.sa_family == AF_INET)
		return IN_MULTICAST(ntohl(sa->in.sin_addr.s_addr));
	return IN6_IS_ADDR_MULTICAST(&sa->in6.sin6_addr);
}

/*
 * Finds the source for id->dst and its device. A bound source stays. Routing errors are
 * returned; a source without a device leads to an event, as in the kernel.
 */
static int resolve(struct ucma_id *id, int *event_status)
{
	u16 port = ucma_sa_port(&id->src);
	union ur_sa src;
	int err;

	*event_status = 0;
	if (ucma_sa_loopback(&id->dst) && ucma_sa_any(&id->src)) {
		src = id->dst;
	} else if (id->dev && is_multicast(&id->dst)) {
		src = id->src;
	} else {
		err = ucma_route_source(&id->dst, &id->src, &src);
		if (err)
			return err;
	}
	ucma_sa_set_port(&src, port);
	id->src = src;
	if (!id->dev)
		*event_status = ucma_acquire_device(id);
	if (*event_status == -EADDRNOTAVAIL)
		*event_status = -ENODEV;
	if (*event_status)
		return 0;
	/* 127.0.0.1 without a device on lo: the destination is the source. */
	if (ucma_sa_loopback(&id->dst))
		memcpy(id->dgid, id->sgid, 16);
	else
		ucma_sa_to_gid(&id->dst, id->dgid);
	return 0;
}

/* Restores id to its state before the resolution, so that its program can try another
 * destination. */
static void forget_source(struct ucma_id *id)
{
	u16 port = ucma_sa_port(&id->src);

	if (!id->had_source) {
		wildcard(&id->src, &id->dst);
		ucma_sa_set_port(&id->src, port);
	}
	if (!id->had_device)
		id->dev = NULL;
}

void ucma_resolved(struct ucma_id *id, int status)
{
	ucma_cache_void(id);
	if (status)
		forget_source(id);
	id->state = status ? UCMA_BOUND : UCMA_ADDR_RESOLVED;
	ucma_event_simple(
		id, status ? UCMA_EVENT_ADDR_ERROR : UCMA_EVENT_ADDR_RESOLVED,
		status);
}

static int resolve_addr(struct ucma_id *id, const union ur_sa *src,
			const union ur_sa *dst, u32 timeout_ms)
{
	union ur_sa any;
	int err, status;

	if (id->state == UCMA_IDLE) {
		if (!src || !src->sa.sa_family) {
			wildcard(&any, dst);
			src = &any;
		}
		err = ucma_bind_addr(id, src);
		if (err)
			return err;
	}
	if (id->state != UCMA_BOUND)
		return -EINVAL;
	if (id->src.sa.sa_family != dst->sa.sa_family)
		return -EINVAL;
	/* Native IB addresses mean nothing on Ethernet. */
	if (dst->sa.sa_family == AF_IB)
		return -ENODEV;
	id->dst = *dst;
	if (ucma_sa_any(dst))
		make_loopback(&id->dst);
	id->had_source = !ucma_sa_any(&id->src);
	id->had_device = id->dev;
	err = resolve(id, &status);
	if (!err && status)
		ucma_resolved(id, status);
	else if (!err)
		err = ucma_hop_resolve(id, timeout_ms);
	if (err)
		forget_source(id);
	return err;
}

int ucma_resolve_ip(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_resolve_ip *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	union ur_sa src, dst;

	if (ucma_sa_copy(&dst, &in->dst_addr, sizeof(in->dst_addr)) ||
	    dst.sa.sa_family == AF_IB || !id)
		return -EINVAL;
	if (!in->src_addr.sin6_family)
		return resolve_addr(id, NULL, &dst, in->timeout_ms);
	if (ucma_sa_copy(&src, &in->src_addr, sizeof(in->src_addr)))
		return -EINVAL;
	return resolve_addr(id, &src, &dst, in->timeout_ms);
}

int ucma_resolve_addr(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_resolve_addr *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);
	union ur_sa src, dst;

	if (in->reserved || ucma_sa_copy(&dst, &in->dst_addr, in->dst_size) ||
	    !id)
		return -EINVAL;
	if (!in->src_size)
		return resolve_addr(id, NULL, &dst, in->timeout_ms);
	if (ucma_sa_copy(&src, &in->src_addr, in->src_size))
		return -EINVAL;
	return resolve_addr(id, &src, &dst, in->timeout_ms);
}

void ucma_default_tos(struct ucma_id *id)
{
	if (!id->tos_set && id->dev)
		id->tos = id->dev->cm_tos;
}

void ucma_set_path(struct ucma_id *id)
{
	/* Computed as in cma_get_roce_udp_flow_label: it makes the UDP source
	 * port. */
	id->flow_label =
		(ucma_sa_port(&id->src) * 31u + ucma_sa_port(&id->dst)) &
		0xfffff;
	id->hop_limit = UCMA_HOP_LIMIT;
	ucma_default_tos(id);
	id->path_mtu = (u8)(31 - __builtin_clz(id->dev->mtu_bytes) - 7);
	id->has_path = true;
}

int ucma_resolve_route(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_resolve_route *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);

	if (!id || !id->dev || id->state != UCMA_ADDR_RESOLVED)
		return -EINVAL;
	ucma_set_path(id);
	id->state = UCMA_ROUTE_RESOLVED;
	ucma_event_simple(id, UCMA_EVENT_ROUTE_RESOLVED, 0);
	return 0;
}

/* A query to the subnet manager, which RoCE does not have. */
int ucma_resolve_ib_service(struct ucma_cmd *cmd)
{
	const struct ucma_abi_resolve_ib_service *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);

	if (!id || !id->dev || id->state != UCMA_BOUND)
		return -EINVAL;
	return -EOPNOTSUPP;
}
