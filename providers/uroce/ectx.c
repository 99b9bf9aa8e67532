// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Gives a context an engine: loads the library and asks the device.
 * ectx_objects.c makes the objects. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "allowed.h"
#include "apart.h"
#include "ectx.h"

enum asked {
	ASKED_NOT,     /* in this process where possible */
	ASKED_PROCESS, /* in this process, else an error */
	ASKED_APART,   /* in an engine process, else an error */
	ASKED_UNKNOWN,
};

static enum asked asked_for(void)
{
	const char *s = secure_getenv("UROCE_ENGINE");

	if (!s || !*s)
		return ASKED_NOT;
	if (!strcmp(s, "apart") || !strcmp(s, "device"))
		return ASKED_APART;
	return strcmp(s, "process") ? ASKED_UNKNOWN : ASKED_PROCESS;
}

/* Loads a library from this one's directory, for good. */
static void *load_beside(const char *name)
{
	char path[4096];
	const char *slash;
	Dl_info here;
	int n;

	if (!dladdr((void *)(uintptr_t)load_beside, &here) || !here.dli_fname)
		return NULL;
	slash = strrchr(here.dli_fname, '/');
	n = snprintf(path, sizeof(path), "%.*s%s",
		     slash ? (int)(slash + 1 - here.dli_fname) : 0,
		     here.dli_fname, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static const struct uroce_engine_ops *find_ops(void)
{
	const struct uroce_engine_ops *engine_ops;
	void *lib;

	lib = load_beside(UROCE_ENGINE_LIBRARY);
	/* In a container whose image lacks this library, `uroce cdi` provides
	 * the host's. */
	if (!lib && load_beside("libisal.so.2"))
		lib = load_beside(UROCE_ENGINE_LIBRARY);
	if (!lib)
		return NULL;
	engine_ops = dlsym(lib, UROCE_ENGINE_OPS_SYMBOL);
	return engine_ops && engine_ops->version == UROCE_ENGINE_OPS_VERSION
		       ? engine_ops
		       : NULL;
}

static void posted(void *arg)
{
	const struct uroce_context *ctx = arg;

	ctx->engine_ops->posted(ctx->engine);
}

static void posted_datagram(void *arg)
{
	const struct uroce_context *ctx = arg;

	ctx->engine_ops->datagram(ctx->engine);
}

void ur_ectx_batches(struct ur_doorbell *db)
{
	if (db->posted)
		db->posted = posted_datagram;
}

/* Returns whether the device grants no engine to this process: not permitted, none left, an engine
 * process is needed, or an older device. */
static bool is_not_granted(int err)
{
	return err == EPERM || err == EBUSY || err == EOPNOTSUPP ||
	       err == EPROTONOSUPPORT;
}

/* The engine has copies of the descriptors. */
static void close_granted(const struct uroce_engine_open *open)
{
	close(open->local_fd);
	close(open->count_fd);
	close(open->settings_fd);
	close(open->record_fd);
	if (open->relay_fd >= 0) {
		close(open->relay_fd);
		close(open->relay_words_fd);
	}
	if (open->outbox_fd >= 0) {
		close(open->outbox_fd);
		close(open->wake_fd);
		close(open->bell_fd);
	}
	for (u32 i = 0; i < UR_ARRAY_SIZE(open->out_fd); i++)
		if (open->out_fd[i] >= 0)
			close(open->out_fd[i]);
}

/* The file of rings is large, though sparse: beyond the limit of file sizes the
 * kernel kills the process. */
static bool may_have_rings(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       limit.rlim_cur >= UROCE_ECTX_FILE_BYTES;
}

/* Maps uroced's page, which says whether the file has been imported. */
static int map_page(struct uroce_context *ctx,
		    const struct uroce_alloc_ucontext_resp *resp)
{
	if (resp->db_map_len < sizeof(struct uroce_db_page))
		return EPROTO;
	ctx->device_page = ur_map_at(&ctx->ibv, UR_OF_DEVICE, resp->db_map_off,
				     resp->db_map_len);
	if (!ctx->device_page)
		return errno;
	ctx->device_page_len = resp->db_map_len;
	return 0;
}

static int use_engine(struct uroce_context *ctx,
		      const struct uroce_alloc_ucontext_resp *resp, u32 slot)
{
	int err = map_page(ctx, resp);

	ctx->engine_slot = slot;
	if (!err)
		return 0;
	ctx->engine_ops->close(ctx->engine);
	ctx->engine = NULL;
	return err;
}

/* Opens an engine in this process. EAGAIN: the device grants none, or this process cannot run one.
 * ELIBACC: it lacks the library. */
static int open_engine(struct uroce_context *ctx,
		       const struct uroce_alloc_ucontext_resp *resp,
		       struct uroce_ectx_info *info)
{
	/* An older uroced leaves these fields. */
	struct uroce_engine_open open = {.relay_fd = -1,
					 .relay_words_fd = -1,
					 .outbox_fd = -1,
					 .wake_fd = -1,
					 .bell_fd = -1};
	int err;

	if (!ur_calls_engine())
		return EAGAIN;
	ctx->engine_ops = find_ops();
	if (!ctx->engine_ops)
		return ELIBACC;
	if (!may_have_rings())
		return EAGAIN;
	err = ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			   UROCE_METHOD_ENGINE_OPEN, UR_ECTX_NO_IN, 0, 0,
			   UROCE_ATTR_ENGINE_OPEN_RESP, &open, sizeof(open));
	if (err)
		return is_not_granted(err) ? EAGAIN : err;
	err = -ctx->engine_ops->open(&open, ctx->ibv.cmd_fd, &ctx->engine,
				     info);
	close_granted(&open);
	return err ? EAGAIN : use_engine(ctx, resp, open.slot);
}

/* Asks uroced for more room for the context's objects in an engine process. */
static bool more_room(void *arg)
{
	struct uroce_context *ctx = arg;
	u32 more;

	return !ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			     UROCE_METHOD_ENGINE_ROOM, UR_ECTX_NO_IN, 0, 0,
			     UROCE_ATTR_ENGINE_ROOM_RESP, &more, sizeof(more));
}

/* Does the same for an engine in an engine process. method: ENGINE_APART or ENGINE_IMPORT. */
static int open_elsewhere(struct uroce_context *ctx,
			  const struct uroce_alloc_ucontext_resp *resp,
			  u16 method, u16 attr, struct uroce_ectx_info *info)
{
	struct uroce_engine_apart apart;
	int err;

	err = ur_ectx_call(&ctx->ibv, UVERBS_OBJECT_DEVICE, method,
			   UR_ECTX_NO_IN, 0, 0, attr, &apart, sizeof(apart));
	if (err)
		return err;
	ctx->engine_ops = &ur_apart_ops;
	err = -ctx->engine_ops->open(NULL, apart.fd, &ctx->engine, info);
	if (err)
		return err;
	ur_apart_set_room(ctx->engine, more_room, ctx);
	return use_engine(ctx, resp, apart.slot);
}

/* Takes over what the engine says of itself. */
static void use_info(struct uroce_context *ctx,
		     const struct uroce_ectx_info *info,
		     struct uroce_alloc_ucontext_resp *resp)
{
	ctx->engine_fd = info->fd;
	resp->db_map_off = info->db_map_off;
	resp->db_map_len = info->db_map_len;
	ctx->engine_apart = ctx->engine_ops == &ur_apart_ops;
	if (!ctx->engine_apart)
		ctx->db.posted = posted;
	ctx->db.wake_fd = info->wake_fd;
	ctx->db.own = info->own;
	ctx->db.arg = ctx;
	ctx->db.take_over = ur_ectx_take_over;
	ctx->owner = getpid();
	ur_ectx_files_add(ctx);
}

int ur_ectx_open_import(struct uroce_context *ctx,
			struct uroce_alloc_ucontext_resp *resp)
{
	struct uroce_ectx_info info;
	int err;

	err = open_elsewhere(ctx, resp, UROCE_METHOD_ENGINE_IMPORT,
			     UROCE_ATTR_ENGINE_IMPORT_RESP, &info);
	if (err)
		return err;
	ctx->imported = true;
	use_info(ctx, &info, resp);
	return 0;
}

int ur_ectx_open(struct uroce_context *ctx,
		 struct uroce_alloc_ucontext_resp *resp)
{
	const enum asked asked = asked_for();
	/* The program must be unable to change a hostile card, or what the
	 * device reports. */
	const bool apart = resp->adverse ||
			   (resp->features & UROCE_CTX_F_APART) ||
			   asked == ASKED_APART;
	struct uroce_ectx_info info;
	int err;

	if (asked == ASKED_UNKNOWN)
		return EINVAL;
	err = apart ? EAGAIN : open_engine(ctx, resp, &info);
	if (err == EAGAIN || (err && asked != ASKED_PROCESS))
		err = open_elsewhere(ctx, resp, UROCE_METHOD_ENGINE_APART,
				     UROCE_ATTR_ENGINE_APART_RESP, &info);
	if (err)
		return err;
	use_info(ctx, &info, resp);
	return 0;
}

void ur_ectx_close(struct uroce_context *ctx)
{
	ur_ectx_files_del(ctx);
	ur_shared_close(ctx);
	if (ctx->engine)
		ctx->engine_ops->close(ctx->engine);
	if (ctx->first_cmd_fd >= 0)
		close(ctx->first_cmd_fd);
}
