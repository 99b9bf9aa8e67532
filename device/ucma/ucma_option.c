// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* SET_OPTION. */
#include <errno.h>
#include <string.h>

#include "device/ucma/ucma.h"

/* Sets an option that an id has before it has a peer. */
static int set_early(const struct ucma_id *id, const struct ucma_cmd *cmd,
		     u32 len, bool *value)
{
	int v;

	if (len != sizeof(v) ||
	    (id->state != UCMA_IDLE && id->state != UCMA_BOUND))
		return -EINVAL;
	memcpy(&v, cmd->opt, sizeof(v));
	*value = v != 0;
	return 0;
}

static int set_id_option(struct ucma_id *id, const struct ucma_cmd *cmd,
			 u32 name, u32 len)
{
	int err;

	switch (name) {
	case RDMA_OPTION_ID_TOS:
		if (len != 1)
			return -EINVAL;
		id->tos = cmd->opt[0];
		id->tos_set = true;
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		return set_early(id, cmd, len, &id->reuse_addr);
	case RDMA_OPTION_ID_AFONLY:
		err = set_early(id, cmd, len, &id->af_only);
		id->af_only_set |= !err;
		return err;
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		/* Five bits, for connections only. */
		if (len != 1 || cmd->opt[0] > 31 || id->qp_type == UR_QPT_UD ||
		    id->qp_type == UR_QPT_UC)
			return -EINVAL;
		id->timeout = cmd->opt[0];
		id->timeout_set = true;
		return 0;
	default:
		return -ENOSYS;
	}
}

/* Sets a path from the client. The path follows from the addresses, so only the fields that
 * a record may choose are used. */
static int set_path(struct ucma_id *id, const struct ucma_cmd *cmd, u32 len)
{
	const struct ib_path_rec_data *data = (const void *)cmd->opt;
	u32 wanted = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	const u8 *rec;
	u8 mtu;

	if (len % sizeof(*data))
		return -EINVAL;
	for (; len; len -= sizeof(*data), data++)
		if (data->flags == wanted)
			break;
	if (!len || id->state != UCMA_ADDR_RESOLVED || !id->dev)
		return -EINVAL;
	rec = (const u8 *)data->path_rec;
	ucma_set_path(id);
	mtu = rec[54] & 0x3f;
	if (mtu >= 1 && mtu < id->path_mtu)
		id->path_mtu = mtu;
	id->state = UCMA_ROUTE_RESOLVED;
	ucma_event_simple(id, UCMA_EVENT_ROUTE_RESOLVED, 0);
	return 0;
}

int ucma_set_option(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_set_option *in = cmd->in;
	struct ucma_id *id = ucma_id_get(cmd->file, in->id);

	if (!id)
		return -EINVAL;
	switch (in->level) {
	case RDMA_OPTION_ID:
		return set_id_option(id, cmd, in->optname, in->optlen);
	case RDMA_OPTION_IB:
		if (in->optname != RDMA_OPTION_IB_PATH)
			return -ENOSYS;
		return set_path(id, cmd, in->optlen);
	default:
		return -ENOSYS;
	}
}
