/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The RDMA IP CM service (IBA annex A11): the 36 bytes in front of the private
 * data of a REQ or SIDR_REQ, with the IP addresses and ports; and the service
 * ids of port spaces.
 */
#ifndef UR_CM_IP_CM_H
#define UR_CM_IP_CM_H

#include "util/bytes.h"

#define UR_IP_CM_BYTES 36

/* Port spaces as in <rdma/rdma_user_cm.h>. */
#define UR_IP_CM_PS_IPOIB 0x0002
#define UR_IP_CM_PS_TCP	  0x0106
#define UR_IP_CM_PS_UDP	  0x0111
#define UR_IP_CM_PS_IB	  0x013f

/* The queue key of UD port spaces, RDMA_UDP_QKEY of the kernel. */
#define UR_IP_CM_UDP_QKEY 0x01234567u

/* Addresses are 16 bytes; IPv4 as ::ffff:a.b.c.d. */
struct ur_ip_cm {
	u8 ip_version; /* 4 or 6 */
	u16 src_port;
	u8 src[16];
	u8 dst[16];
};

/* Returns the service id of a port in a port space. */
static inline u64 ur_ip_cm_service_id(u16 port_space, u16 port)
{
	return ((u64)port_space << 16) | port;
}

/* Returns whether the id is one of the IP CM service (the kernel's
 * RDMA_IB_IP_PS_MASK). */
bool ur_ip_cm_is_service(u64 service_id);

/* Writes the header, UR_IP_CM_BYTES, to out. */
void ur_ip_cm_build(const struct ur_ip_cm *ip, u8 *out);

/*
 * Reads the header from len bytes of private data into *ip. Returns 0, or
 * -EINVAL: too short, another major version, an IP version that is neither 4
 * nor 6.
 */
int ur_ip_cm_parse(const u8 *data, size_t len, struct ur_ip_cm *ip);

#endif
