// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Parses and builds the header of the IP CM service, IBA annex A11, in front of
 * the private data.
 */
#include <errno.h>

#include "cm/ip_cm.h"

bool ur_ip_cm_is_service(u64 service_id)
{
	u64 space = service_id >> 16;

	return space == UR_IP_CM_PS_TCP || space == UR_IP_CM_PS_UDP ||
	       space == UR_IP_CM_PS_IB || space == UR_IP_CM_PS_IPOIB;
}

static void put_address(u8 *out, u8 ip_version, const u8 *addr)
{
	if (ip_version == 4)
		memcpy(out + 12, addr + 12, 4);
	else
		memcpy(out, addr, 16);
}

static void get_address(u8 *addr, u8 ip_version, const u8 *in)
{
	memset(addr, 0, 16);
	if (ip_version == 4) {
		addr[10] = 0xff;
		addr[11] = 0xff;
		memcpy(addr + 12, in + 12, 4);
	} else {
		memcpy(addr, in, 16);
	}
}

void ur_ip_cm_build(const struct ur_ip_cm *ip, u8 *out)
{
	memset(out, 0, UR_IP_CM_BYTES);
	out[1] = (u8)(ip->ip_version << 4);
	ur_put_be16(out + 2, ip->src_port);
	put_address(out + 4, ip->ip_version, ip->src);
	put_address(out + 20, ip->ip_version, ip->dst);
}

int ur_ip_cm_parse(const u8 *data, size_t len, struct ur_ip_cm *ip)
{
	if (len < UR_IP_CM_BYTES)
		return -EINVAL;
	/* The major version is the high nibble; minor changes are compatible. */
	if (data[0] >> 4)
		return -EINVAL;
	if (data[1] >> 4 != 4 && data[1] >> 4 != 6)
		return -EINVAL;
	ip->ip_version = data[1] >> 4;
	ip->src_port = ur_get_be16(data + 2);
	get_address(ip->src, ip->ip_version, data + 4);
	get_address(ip->dst, ip->ip_version, data + 20);
	return 0;
}
