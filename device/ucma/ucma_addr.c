// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Addresses of clients, and the device of each. The host routes: a connected datagram
 * socket shows the source address that it would use.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "device/ucma/ucma.h"

u32 ucma_sa_size(const union ur_sa *sa)
{
	switch (sa->sa.sa_family) {
	case AF_INET:
		return sizeof(sa->in);
	case AF_INET6:
		return sizeof(sa->in6);
	case AF_IB:
		return sizeof(sa->ib);
	default:
		return 0;
	}
}

int ucma_sa_copy(union ur_sa *sa, const void *from, u32 bytes)
{
	memset(sa, 0, sizeof(*sa));
	if (bytes > sizeof(*sa) || bytes < sizeof(sa->sa.sa_family))
		return -EINVAL;
	memcpy(sa, from, bytes);
	return ucma_sa_size(sa) && bytes >= ucma_sa_size(sa) ? 0 : -EINVAL;
}

bool ucma_sa_loopback(const union ur_sa *sa)
{
	if (sa->sa.sa_family == AF_INET)
		return ntohl(sa->in.sin_addr.s_addr) >> 24 == 127;
	return sa->sa.sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&sa->in6.sin6_addr);
}

bool ucma_sa_any(const union ur_sa *sa)
{
	static const u8 zero[16];

	switch (sa->sa.sa_family) {
	case AF_INET:
		return !sa->in.sin_addr.s_addr || ucma_sa_loopback(sa);
	case AF_INET6:
		return !memcmp(&sa->in6.sin6_addr, zero, 16) ||
		       ucma_sa_loopback(sa);
	case AF_IB:
		return !memcmp(sa->ib.sib_addr, zero, 16);
	default:
		return true;
	}
}

u16 ucma_sa_port(const union ur_sa *sa)
{
	switch (sa->sa.sa_family) {
	case AF_INET:
	case AF_INET6: /* same offset in both */
		return ntohs(sa->in.sin_port);
	case AF_IB:
		return (u16)ur_get_be64(&sa->ib.sib_sid);
	default:
		return 0;
	}
}

void ucma_sa_set_port(union ur_sa *sa, u16 port)
{
	if (sa->sa.sa_family == AF_IB)
		ur_put_be64(&sa->ib.sib_sid,
			    (ur_get_be64(&sa->ib.sib_sid) & ~0xffffull) | port);
	else
		sa->in.sin_port = htons(port);
}

void ucma_sa_to_gid(const union ur_sa *sa, u8 gid[16])
{
	switch (sa->sa.sa_family) {
	case AF_INET:
		ur_gid_from_v4(gid, (const u8 *)&sa->in.sin_addr);
		return;
	case AF_INET6:
		memcpy(gid, &sa->in6.sin6_addr, 16);
		return;
	default:
		memcpy(gid, sa->ib.sib_addr, 16);
	}
}

void ucma_sa_from_gid(union ur_sa *sa, int family, const u8 gid[16], u16 port)
{
	memset(sa, 0, sizeof(*sa));
	if (family == 4) {
		sa->in.sin_family = AF_INET;
		memcpy(&sa->in.sin_addr, gid + 12, 4);
	} else {
		sa->in6.sin6_family = AF_INET6;
		memcpy(&sa->in6.sin6_addr, gid, 16);
	}
	sa->in.sin_port = htons(port);
}

bool ucma_sa_same_addr(const union ur_sa *a, const union ur_sa *b)
{
	u8 ga[16], gb[16];

	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	ucma_sa_to_gid(a, ga);
	ucma_sa_to_gid(b, gb);
	return !memcmp(ga, gb, 16);
}

struct ur_device *ucma_device_by_index(struct ur_daemon *daemon, u32 index)
{
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		if (dev->index == index)
			return dev;
	}
	return NULL;
}

/* Returns the type for rdma_cm, like default_roce_mode of Linux' configfs. */
static enum ur_gid_type gid_type(const struct ur_device *dev)
{
	return dev->cm_v1 ? UR_GID_ROCE_V1 : UR_GID_ROCE_V2;
}

struct ur_device *ucma_device_of(struct ur_daemon *daemon, const u8 gid[16],
				 u32 scope_id, u32 *index)
{
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		int i = ur_gid_find(dev, gid, gid_type(dev));

		if (i < 0 || (scope_id && scope_id != dev->ifindex))
			continue;
		*index = (u32)i;
		return dev;
	}
	return NULL;
}

/* Returns any device with an address of the family: a stand-in for 127.0.0.1 if no device
 * is on lo. */
static struct ur_device *loopback_device(struct ur_daemon *daemon, bool v4,
					 u32 *index)
{
	ur_list_each(struct ur_device, dev, &daemon->devices, node) {
		for (u32 i = 0; i < UR_GID_MAX; i++) {
			const struct ur_gid *g = ur_gid_get(dev, i);

			if (g && g->valid && g->type == gid_type(dev) &&
			    ur_gid_is_v4(g->gid) == v4) {
				*index = i;
				return dev;
			}
		}
	}
	return NULL;
}

/* Returns whether this host has the address. */
static bool is_local(const union ur_sa *sa)
{
	union ur_sa any_port = *sa;
	int fd = socket(sa->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool local;

	if (fd < 0)
		return false;
	ucma_sa_set_port(&any_port, 0);
	local = !bind(fd, &any_port.sa, ucma_sa_size(&any_port));
	close(fd);
	return local;
}

int ucma_acquire_device(struct ucma_id *id)
{
	struct ur_daemon *daemon = id->file->daemon;
	const union ur_sa *src = &id->src;
	u32 scope = src->sa.sa_family == AF_INET6 ? src->in6.sin6_scope_id : 0;
	struct ur_device *dev;
	u8 gid[16];

	ucma_sa_to_gid(src, gid);
	dev = ucma_device_of(daemon, gid, scope, &id->sgid_index);
	if (!dev && ucma_sa_loopback(src))
		dev = loopback_device(daemon, src->sa.sa_family == AF_INET,
				      &id->sgid_index);
	if (!dev)
		return src->sa.sa_family == AF_IB || is_local(src)
			       ? -ENODEV
			       : -EADDRNOTAVAIL;
	id->dev = dev;
	memcpy(id->sgid, ur_gid_get(dev, id->sgid_index)->gid, 16);
	return 0;
}

int ucma_route_source(const union ur_sa *dst, const union ur_sa *want,
		      union ur_sa *src)
{
	socklen_t len = sizeof(*src);
	union ur_sa to = *dst, from = *want;
	int fd, err = 0;

	fd = socket(dst->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* The port does not matter, but it must not be 0. */
	if (!ucma_sa_port(&to))
		ucma_sa_set_port(&to, 9);
	if (!ucma_sa_any(want)) {
		ucma_sa_set_port(&from, 0);
		if (bind(fd, &from.sa, ucma_sa_size(&from)))
			err = -errno;
	}
	if (!err && connect(fd, &to.sa, ucma_sa_size(&to)))
		err = -errno;
	memset(src, 0, sizeof(*src));
	if (!err && getsockname(fd, &src->sa, &len))
		err = -errno;
	close(fd);
	if (!err)
		ucma_sa_set_port(src, 0);
	return err;
}
