// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ids: numbers, creation, destruction, migration to another file. */
#include <errno.h>
#include <stdlib.h>

#include "device/ucma/ucma_journal.h"
#include "util/assert.h"

int ucma_number_take(struct ucma_numbers *n, void *what, u32 *number)
{
	while (n->first_free < UCMA_ID_MAX && n->slot[n->first_free])
		n->first_free++;
	if (n->first_free == UCMA_ID_MAX)
		return -ENOMEM;
	*number = n->first_free;
	ur_assert(what && !n->slot[*number]);
	n->slot[*number] = what;
	return 0;
}

int ucma_number_take_at(struct ucma_numbers *n, void *what, u32 wanted,
			u32 *number)
{
	if (wanted == UCMA_NUMBER_NONE)
		return ucma_number_take(n, what, number);
	if (wanted >= UCMA_ID_MAX || n->slot[wanted])
		return -EEXIST;
	n->slot[wanted] = what;
	*number = wanted;
	return 0;
}

void ucma_number_drop(struct ucma_numbers *n, u32 number)
{
	ur_assert(number < UCMA_ID_MAX && n->slot[number]);
	n->slot[number] = NULL;
	if (number < n->first_free)
		n->first_free = number;
}

struct ucma_id *ucma_id_get_any(struct ucma_file *file, u32 number)
{
	struct ucma_id *id;

	ur_assert(ur_loop_mine(file->daemon->loop));
	if (number >= UCMA_ID_MAX)
		return NULL;
	id = ucma_of(file)->ids.slot[number];
	/* The program does not have this number yet, and must have guessed it. */
	if (!id || id->file != file || id->unreported)
		return NULL;
	/* Before the command changes anything. */
	if (!file->is_query)
		ucma_cache_void(id);
	return id;
}

struct ucma_id *ucma_id_get(struct ucma_file *file, u32 number)
{
	struct ucma_id *id = ucma_id_get_any(file, number);

	if (!id || !id->lost)
		return id;
	file->saw_removed_id = true;
	return NULL;
}

struct ucma_id *ucma_id_new(struct ucma_file *file, u16 ps, u8 qp_type)
{
	return ucma_id_new_at(file, ps, qp_type, UCMA_NUMBER_NONE);
}

struct ucma_id *ucma_id_new_at(struct ucma_file *file, u16 ps, u8 qp_type,
			       u32 number)
{
	struct ur_ucma *ucma = ucma_of(file);
	struct ucma_id *id;

	ur_assert(ur_loop_mine(file->daemon->loop));
	if (file->n_ids >= UCMA_FILE_IDS_MAX)
		return NULL;
	id = calloc(1, sizeof(*id));
	if (!id)
		return NULL;
	id->user = file->session->uid;
	if (ur_quota_take(&ucma->ids_quota, id->user, 1))
		goto err_free;
	if (ucma_event_reserve(id))
		goto err_give;
	if (ur_memory_take(id->user, UR_KIB_CM_ID))
		goto err_spare;
	if (ucma_number_take_at(&ucma->ids, id, number, &id->number))
		goto err_memory;
	id->file = file;
	id->ps = ps;
	id->qp_type = qp_type;
	id->seq = (u32)ur_secret_u64(&ucma->secret) & 0xffffff;
	ur_list_init(&id->touched);
	ur_list_init(&id->waiting);
	ur_list_init(&id->port_node);
	ucma_cache_void(id); /* replies about the number's former id */
	ur_list_add_tail(&file->ids, &id->node);
	file->n_ids++;
	return id;
err_memory:
	ur_memory_give(id->user, UR_KIB_CM_ID);
err_spare:
	free(id->spare);
err_give:
	ur_quota_give(&ucma->ids_quota, id->user, 1);
err_free:
	free(id);
	return NULL;
}

void ucma_spare_take(struct ucma_file *file,
		     const struct uroce_tun_created *created)
{
	struct ucma_id *id = file->spare;

	ur_assert(ur_loop_mine(file->daemon->loop));
	if (!id || id->number != created->id)
		return;
	ucma_cache_void(id);
	id->uid = created->uid;
	id->state = UCMA_IDLE;
	id->unreported = false;
	file->spare = NULL;
}

struct ucma_id *ucma_spare_offer(struct ucma_file *file)
{
	ur_assert(ur_loop_mine(file->daemon->loop));
	if (!file->spare) {
		file->spare =
			ucma_id_new(file, file->spare_ps, file->spare_qp_type);
		if (!file->spare)
			return NULL;
		file->spare->state = UCMA_SPARE;
		file->spare->unreported = true;
		file->knows_spare = false;
	}
	return file->knows_spare ? NULL : file->spare;
}

void ucma_id_free(struct ucma_id *id)
{
	struct ucma_file *file = id->file;

	ur_assert(ur_loop_mine(file->daemon->loop));
	if (file->spare == id)
		file->spare = NULL;
	ur_list_for_each_safe(n, &file->mcasts) {
		struct ucma_mcast *mc =
			ur_list_entry(n, struct ucma_mcast, node);

		if (mc->id == id)
			ucma_mcast_free(mc);
	}
	ur_list_del(&id->waiting);
	ucma_cm_drop(id);
	ucma_events_purge(file, id, NULL);
	ucma_port_release(id);
	ucma_journal_forget(id);
	ucma_number_drop(&ucma_of(file)->ids, id->number);
	ur_quota_give(&ucma_of(file)->ids_quota, id->user, 1);
	ur_memory_give(id->user, UR_KIB_CM_ID);
	ur_list_del(&id->node);
	ur_assert(file->n_ids);
	file->n_ids--;
	free(id->spare);
	free(id);
}

struct ucma_id *ucma_id_next(const struct ur_ucma *ucma,
			     const struct ucma_id *id)
{
	const struct ur_list *ids = id ? id->node.next : NULL;
	const struct ur_list *file = id ? &id->file->node : &ucma->files;

	/* Skips to the next file with ids. */
	while (!ids ||
	       ids == &ur_list_entry(file, struct ucma_file, node)->ids) {
		file = file->next;
		if (file == &ucma->files)
			return NULL;
		ids = ur_list_entry(file, struct ucma_file, node)->ids.next;
	}
	return ur_list_entry(ids, struct ucma_id, node);
}

static int qp_type_of(u16 ps, u8 asked, u8 *qp_type)
{
	switch (ps) {
	case RDMA_PS_TCP:
		*qp_type = UR_QPT_RC;
		return 0;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		*qp_type = UR_QPT_UD;
		return 0;
	case RDMA_PS_IB:
		switch (asked) {
		case UR_QPT_RC:
		case UR_QPT_UC:
		case UR_QPT_UD:
		case UR_QPT_XRC_INI:
		case UR_QPT_XRC_TGT:
			*qp_type = asked;
			return 0;
		}
		return -EINVAL;
	default:
		return -EINVAL;
	}
}

int ucma_create_id(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_create_id *in = cmd->in;
	struct rdma_ucm_create_id_resp *out = (void *)cmd->out;
	struct ucma_id *id;
	u8 qp_type;
	int err;

	err = qp_type_of(in->ps, in->qp_type, &qp_type);
	if (err)
		return err;
	id = ucma_id_new(cmd->file, in->ps, qp_type);
	if (!id)
		return -ENOMEM;
	id->uid = in->uid;
	out->id = id->number;
	cmd->out_len = sizeof(*out);
	return 0;
}

int ucma_destroy_id(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_destroy_id *in = cmd->in;
	struct rdma_ucm_destroy_id_resp *out = (void *)cmd->out;
	struct ucma_id *id = ucma_id_get_any(cmd->file, in->id);

	if (!id)
		return -EINVAL;
	out->events_reported = id->events_reported;
	cmd->out_len = sizeof(*out);
	ucma_id_free(id);
	return 0;
}

static struct ucma_file *file_of_id(struct ur_ucma *ucma,
				    const struct ur_file_id *id)
{
	ur_list_each(struct ucma_file, file, &ucma->files, node) {
		if (ur_file_id_same(&file->shown, id))
			return file;
	}
	return NULL;
}

int ucma_migrate_id(struct ucma_cmd *cmd)
{
	const struct rdma_ucm_migrate_id *in = cmd->in;
	struct rdma_ucm_migrate_resp *out = (void *)cmd->out;
	struct ucma_file *to = cmd->file, *from;
	struct ur_file_id shown;
	struct ucma_id *id;
	int fd;

	fd = ur_session_fget(to->session, (int)in->fd, &shown);
	if (fd == -EBADF)
		return -ENOENT;
	if (fd < 0)
		return fd;
	from = file_of_id(ucma_of(to), &shown);
	if (!from)
		return -EINVAL;
	id = ucma_id_get_any(from, in->id);
	if (!id)
		return -ENOENT;
	if (id->lost)
		return -EIO;
	if (from != to) {
		if (to->n_ids >= UCMA_FILE_IDS_MAX)
			return -ENOMEM;
		ucma_cache_void(id); /* the replies went to the old file */
		ucma_events_move(id, to);
		cmd->moved_from = fd;
		cmd->moved_tokens = ucma_tokens_excess(from);
		ur_list_for_each_safe(n, &from->mcasts) {
			struct ucma_mcast *mc =
				ur_list_entry(n, struct ucma_mcast, node);

			if (mc->id != id)
				continue;
			ur_list_del(&mc->node);
			ur_list_add_tail(&to->mcasts, &mc->node);
			ur_assert(from->n_mcasts);
			from->n_mcasts--;
			to->n_mcasts++;
		}
		ur_list_del(&id->node);
		ur_list_add_tail(&to->ids, &id->node);
		ur_assert(from->n_ids);
		from->n_ids--;
		to->n_ids++;
		id->file = to;
		ucma_cache_void(id);
	}
	out->events_reported = id->events_reported;
	cmd->out_len = sizeof(*out);
	return 0;
}
