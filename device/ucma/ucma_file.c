// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Opens and closes rdma_cm files. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/open_file.h"
#include "device/quota.h"
#include "device/tree/sysfs.h"
#include "device/ucma/ucma_journal.h"
#include "util/assert.h"
#include "util/os/event_pair.h"

int ucma_open(struct ur_session *s, const char *name, void **opened, int *shown,
	      u64 *rdev)
{
	struct ur_ucma *ucma = s->daemon->cm;
	struct ucma_file *file;
	int pair[2], err;

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (ur_memory_take(s->uid, UR_KIB_FILE))
		return -ENOMEM;
	err = ur_quota_take_fds(s->uid, UR_FDS_UCMA);
	if (err)
		goto err_give;
	file = calloc(1, sizeof(*file));
	if (!file) {
		err = -ENOMEM;
		goto err_fds;
	}
	err = ur_event_pair(pair);
	if (err)
		goto err_free;
	err = ur_file_id(pair[1], &file->shown);
	if (err)
		goto err_close;
	file->user = s->uid;
	file->session = s;
	file->daemon = s->daemon;
	file->sock = pair[0];
	file->visible = pair[1];
	ur_list_init(&file->ids);
	ur_list_init(&file->mcasts);
	ur_list_init(&file->events);
	ur_list_init(&file->due);
	ur_list_add_tail(&ucma->files, &file->node);
	*opened = file;
	file->kept = ur_kept_events_add(s, file->sock);
	ucma_journal_add_file(file);
	file->page = -1;
	if (s->features & UROCE_TUN_F_CACHED_REPLY)
		ucma_cache_open(file);
	shown[0] = file->visible;
	shown[1] = file->page;
	*rdev = ur_sysfs_rdma_cm_rdev();
	return 0;

err_close:
	close(pair[0]);
	close(pair[1]);
err_free:
	free(file);
err_fds:
	ur_quota_give_fds(s->uid, UR_FDS_UCMA);
err_give:
	ur_memory_give(s->uid, UR_KIB_FILE);
	return err;
}

/* Closes the rest without the lock: the client shares the page, and can make the unmapping
 * wait. */
static void close_rest(struct ur_loop_after *after)
{
	struct ucma_file *file =
		ur_container_of(after, struct ucma_file, after);

	close(file->sock);
	if (file->visible >= 0)
		close(file->visible);
	ucma_cache_close(file);
	free(file->absent);
	free(file);
}

/* Time limit of one step of closing a file with the lock held: each id may send a packet. */
#define END_NS 200000u

static bool end_one(struct ucma_file *file)
{
	if (!ur_list_empty(&file->mcasts))
		ucma_mcast_free(
			ur_list_first(&file->mcasts, struct ucma_mcast, node));
	else if (!ur_list_empty(&file->ids))
		ucma_id_free(ur_list_first(&file->ids, struct ucma_id, node));
	else
		return false;
	return true;
}

/* Returns whether there is more to do. */
static bool end_some(struct ucma_file *file)
{
	struct ur_ucma *ucma = ucma_of(file);
	u64 end = ur_loop_now() + END_NS;
	bool more;

	ucma_cm_touch(ucma);
	do
		more = end_one(file);
	while (more && ur_loop_now() < end);
	ucma_cm_kick(ucma);
	return more;
}

void ucma_close(void *opaque)
{
	struct ucma_file *file = opaque;
	struct ur_loop *loop = file->daemon->loop;

	ur_assert(ur_loop_mine(loop));
	while (end_some(file))
		if (ur_loop_step_aside(loop))
			ur_loop_lock(loop);
	ucma_journal_del_file(file);
	ur_list_del(&file->node);
	ur_list_del(&file->due);
	ur_kept_events_del(file->kept);
	ur_quota_give_fds(file->user, UR_FDS_UCMA);
	ur_memory_give(file->user, UR_KIB_FILE);
	ur_loop_after(loop, &file->after, close_rest);
}
