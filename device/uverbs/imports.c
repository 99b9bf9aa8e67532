// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>
#include <unistd.h>
#include "device/memfd.h"
#include "kernel-abi/uroce-ring.h"
#include "device/quota.h"
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/imports.h"
#include "device/uverbs/grant_slot.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/shared_engine.h"

/* The rights that an engine knows. */
#define ACCESS                                                           \
	(IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |  \
	 IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC | \
	 IB_UVERBS_ACCESS_MW_BIND | 1u << 8 | 1u << 9) /* flush */

struct ur_import {
	struct ur_list node; /* in file->imports */
	struct ur_ufile *file;
	int sock; /* the process's end, which hangs up with the program's */
	u32 kib;
};

/* ---- in the opener's place ---- */

static const struct ur_session *opener_of(const struct ur_ufile *file)
{
	ur_list_each(const struct ur_session, s, &file->dev->daemon->sessions,
		     node) {
		if (s->id == file->opener)
			return s;
	}
	return NULL;
}

/* Describes the region to an engine. Returns whether the memory is where uroced knows it. */
static bool describe(const struct ur_obj_mr *mr, const struct ur_user_mem *of,
		     struct uroce_emr_init *init)
{
	const struct ur_mr_place *r = &mr->range;

	*init = (struct uroce_emr_init){
		.key = mr->key,
		.pdn = mr->pd->pdn,
		.access = r->access & ACCESS,
		.addr = r->addr,
		.length = r->length,
		.iova = r->iova,
		.dmabuf = -1,
	};
	if (r->on_demand)
		init->flags |= UROCE_EMR_ON_DEMAND;
	if (r->implicit)
		init->flags |= UROCE_EMR_IMPLICIT;
	if (r->null)
		init->flags |= UROCE_EMR_NULL;
	return r->mem == of && !r->file && !r->elsewhere;
}

/* Fills list, which has room for one more than the opener's regions, with those that an engine can have. Returns
 * their number. */
static u32 gather(const struct ur_ufile *file, const struct ur_user_mem *of,
		  struct uroce_emr_init *list)
{
	u32 n = 0;

	for (u32 i = 0; i < file->handles.size; i++) {
		struct ur_object *obj = file->handles.slot[i];

		if (obj && obj->type->id == UVERBS_OBJECT_MR &&
		    !ur_destroy_is_hinted(obj) &&
		    describe(ur_obj_mr_of(obj), of, list + n))
			n++;
	}
	return n;
}

static u32 count_regions(const struct ur_ufile *file)
{
	u32 n = 0;

	for (u32 i = 0; i < file->handles.size; i++)
		n += file->handles.slot[i] &&
		     file->handles.slot[i]->type->id == UVERBS_OBJECT_MR;
	return n;
}

/* Puts the opener's regions into a file, by one call, since the control lock is held. Returns it, or
 * -errno. */
static int list_regions(const struct ur_ufile *file,
			const struct ur_user_mem *of, u32 *n)
{
	u32 most = count_regions(file);
	struct uroce_emr_init *list = calloc(most + 1, sizeof(*list));
	int fd = list ? ur_memfd("regions") : -ENOMEM;
	ssize_t bytes;

	if (fd >= 0) {
		*n = gather(file, of, list);
		bytes = (ssize_t)(*n * sizeof(*list));
		if (write(fd, list, (size_t)bytes) != bytes) {
			close(fd);
			fd = -ENOMEM;
		}
	}
	free(list);
	return fd;
}

static int begin_with(struct ur_ufile *file, const struct ur_session *opener,
		      ur_engine_process_ended *ended)
{
	struct ur_obj_async *async = file->async;
	struct ur_user_mem *mem = ur_user_mem_get(opener->mem);
	struct ur_shared_part part = {
		.pid = opener->pid,
		.mem = mem,
		.async = async,
	};
	int err, sock[2];

	part.listed = err = list_regions(file, mem, &part.n_listed);
	if (err >= 0) {
		/* The lock may be released: the opener may end, and close that. */
		ur_object_use(async);
		err = ur_shared_engine_join(file, &part, ended, sock);
		ur_async_put(async);
		close(part.listed);
	}
	ur_user_mem_put(mem);
	if (err)
		return err;
	close(sock[1]);
	file->opener_sock = sock[0];
	return 0;
}

/* Says in the context's page that its file is imported. The client can make a writer of the file wait. */
static void publish_imported(const struct ur_ufile *file)
{
	struct ur_loop *loop = file->dev->daemon->loop;
	const u32 imported = 1;
	bool aside = ur_loop_step_aside(loop);

	if (pwrite(file->memfd, &imported, sizeof(imported),
		   offsetof(struct uroce_db_page, imported)) < 0)
		ur_log("an import was not published: %s", strerror(errno));
	if (aside)
		ur_loop_lock(loop);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static int begin_for_opener(struct ur_ufile *file,
			    ur_engine_process_ended *ended)
{
	const struct ur_session *opener;

	/* Before the list: the opener reads this after he has given a region up. */
	publish_imported(file);
	opener = opener_of(file);
	if (!opener)
		return -EINVAL;
	/* A file that this uroced has reattached lacks the page and the regions that it had in the
	 * earlier one. */
	if (!file->async || ur_handles_follow(&file->handles) ||
	    opener->guarded != file->session->guarded)
		return -EOPNOTSUPP;
	return begin_with(file, opener, ended);
}

/* ---- imports ---- */

static void end(struct ur_import *i)
{
	ur_loop_del(i->file->dev->daemon->loop, i->sock);
	close(i->sock);
	ur_slot_give_apart(i->file->uid, &i->kib);
	ur_quota_give_fds(i->file->uid, 1);
	ur_list_del(&i->node);
	free(i);
}

static void on_end(void *arg, u32 events)
{
	end(arg);
}

static int begin(struct ur_ufile *file, struct ur_import *i, int *sock)
{
	const struct ur_shared_part part = {
		.pid = file->session->pid,
		.mem = file->session->mem,
		.listed = -1,
	};
	int pair[2];
	int err = ur_shared_engine_add(file, &part, i->kib, pair);

	if (err)
		return err;
	err = ur_loop_add(file->dev->daemon->loop, pair[1], 0, on_end, i);
	if (err) {
		close(pair[0]);
		close(pair[1]);
		return err;
	}
	i->sock = pair[1];
	*sock = pair[0];
	return 0;
}

static int add(struct ur_ufile *file, int *sock)
{
	struct ur_import *i = calloc(1, sizeof(*i));
	int err;

	if (!i)
		return -ENOMEM;
	i->file = file;
	err = ur_quota_take_fds(file->uid, 1);
	if (err)
		goto err_free;
	err = ur_slot_charge_apart(file->uid, true, &i->kib);
	if (err)
		goto err_fds;
	err = begin(file, i, sock);
	if (err)
		goto err_memory;
	ur_list_add_tail(&file->imports, &i->node);
	return 0;
err_memory:
	ur_slot_give_apart(file->uid, &i->kib);
err_fds:
	ur_quota_give_fds(file->uid, 1);
err_free:
	free(i);
	return err;
}

int ur_import_begin(struct ur_ufile *file, ur_engine_process_ended *ended,
		    int *sock)
{
	int err = 0;

	if (!file->slot || !ur_user_mem_reaches(file->session->mem))
		return -EOPNOTSUPP;
	/* A process of the user's must not get a guarded client's memory. */
	if (!file->shared)
		err = begin_for_opener(file, ended);
	else if (file->shared->guarded != file->session->guarded)
		err = -EOPNOTSUPP;
	return err ? err : add(file, sock);
}

void ur_imports_end(struct ur_ufile *file)
{
	ur_list_for_each_safe(it, &file->imports)
		end(ur_list_entry(it, struct ur_import, node));
	if (file->opener_sock)
		close(file->opener_sock);
	file->opener_sock = 0;
}
