// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lookup of ids by fields of messages: our comm id, the peer's node GUID with
 * its comm id or QPN, the peer's address with its SIDR request id.
 */
#include "cm/conn.h"

static u32 bucket(u64 a, u64 b)
{
	u64 h = (a ^ (b * 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;

	return (u32)(h >> 40) & (UR_CM_BUCKETS - 1);
}

static u64 gid_key(const u8 *gid)
{
	return ur_get_be64(gid) ^ ur_get_be64(gid + 8);
}

void ur_cm_peers_init(struct ur_cm *cm)
{
	for (u32 i = 0; i < UR_CM_BUCKETS; i++) {
		ur_list_init(&cm->local_ids[i]);
		ur_list_init(&cm->remote_ids[i]);
		ur_list_init(&cm->remote_qpns[i]);
		ur_list_init(&cm->sidr_ids[i]);
	}
}

void ur_cm_index_local(struct ur_cm_id *id)
{
	ur_list_add_tail(&id->cm->local_ids[bucket(id->local_id, 0)],
			 &id->by_local_id);
}

struct ur_cm_id *ur_cm_find_local(struct ur_cm *cm, u32 local_id)
{
	ur_list_for_each(n, &cm->local_ids[bucket(local_id, 0)]) {
		struct ur_cm_id *id =
			ur_list_entry(n, struct ur_cm_id, by_local_id);

		if (id->local_id == local_id)
			return id;
	}
	return NULL;
}

void ur_cm_index_remote_id(struct ur_cm_id *id)
{
	ur_list_del(&id->by_remote_id);
	ur_list_add_tail(
		&id->cm->remote_ids[bucket(id->remote_guid, id->remote_id)],
		&id->by_remote_id);
}

struct ur_cm_id *ur_cm_find_remote_id(struct ur_cm *cm,
				      const struct ur_cm_path *from, u64 guid,
				      u32 remote_id)
{
	ur_list_for_each(n, &cm->remote_ids[bucket(guid, remote_id)]) {
		struct ur_cm_id *id =
			ur_list_entry(n, struct ur_cm_id, by_remote_id);

		if (id->remote_guid == guid && id->remote_id == remote_id &&
		    ur_cm_same_peer(id, from))
			return id;
	}
	return NULL;
}

void ur_cm_index_remote_qpn(struct ur_cm_id *id)
{
	ur_list_del(&id->by_remote_qpn);
	ur_list_add_tail(
		&id->cm->remote_qpns[bucket(id->remote_guid, id->remote_qpn)],
		&id->by_remote_qpn);
}

struct ur_cm_id *ur_cm_find_remote_qpn(struct ur_cm *cm,
				       const struct ur_cm_path *from, u64 guid,
				       u32 qpn)
{
	ur_list_for_each(n, &cm->remote_qpns[bucket(guid, qpn)]) {
		struct ur_cm_id *id =
			ur_list_entry(n, struct ur_cm_id, by_remote_qpn);

		if (id->remote_guid == guid && id->remote_qpn == qpn &&
		    ur_cm_same_peer(id, from))
			return id;
	}
	return NULL;
}

void ur_cm_unindex_remote_qpn(struct ur_cm_id *id)
{
	ur_list_del(&id->by_remote_qpn);
}

void ur_cm_index_sidr(struct ur_cm_id *id)
{
	ur_list_del(&id->by_remote_id);
	ur_list_add_tail(&id->cm->sidr_ids[bucket(gid_key(id->path.dgid),
						  id->remote_id)],
			 &id->by_remote_id);
}

struct ur_cm_id *ur_cm_find_sidr(struct ur_cm *cm, u32 request_id,
				 const u8 *peer_gid)
{
	ur_list_for_each(n,
			 &cm->sidr_ids[bucket(gid_key(peer_gid), request_id)]) {
		struct ur_cm_id *id =
			ur_list_entry(n, struct ur_cm_id, by_remote_id);

		if (id->remote_id == request_id &&
		    !memcmp(id->path.dgid, peer_gid, 16))
			return id;
	}
	return NULL;
}

void ur_cm_unindex_remote(struct ur_cm_id *id)
{
	ur_list_del(&id->by_remote_id);
	ur_cm_unindex_remote_qpn(id);
}

bool ur_cm_same_peer(const struct ur_cm_id *id, const struct ur_cm_path *from)
{
	return !memcmp(id->path.dgid, from->dgid, 16);
}

struct ur_cm_id *ur_cm_of_peer(struct ur_cm *cm, struct ur_cm_id *id,
			       const struct ur_cm_path *from)
{
	if (!id) {
		cm->stats.rx_unknown_id++;
		return NULL;
	}
	if (!ur_cm_same_peer(id, from)) {
		cm->stats.rx_wrong_peer++;
		return NULL;
	}
	return id;
}

struct ur_cm_id *ur_cm_find_pair(struct ur_cm *cm,
				 const struct ur_cm_path *from, u32 local_id,
				 u32 remote_id)
{
	struct ur_cm_id *id = ur_cm_find_local(cm, local_id);

	if (id && (!id->remote_id || id->remote_id != remote_id))
		id = NULL;
	return ur_cm_of_peer(cm, id, from);
}
