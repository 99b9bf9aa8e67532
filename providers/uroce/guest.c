// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Gives a context an engine: loads the library and asks the device.
 * guest_objects.c makes the objects. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "allowed.h"
#include "apart.h"
#include "guest.h"

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

static const struct uroce_door *find_door(void)
{
	const struct uroce_door *door;
	void *lib;

	lib = load_beside(UROCE_DOOR_LIBRARY);
	/* In a container whose image lacks this library, `uroce cdi` provides
	 * the host's. */
	if (!lib && load_beside("libisal.so.2"))
		lib = load_beside(UROCE_DOOR_LIBRARY);
	if (!lib)
		return NULL;
	door = dlsym(lib, UROCE_DOOR_SYMBOL);
	return door && door->version == UROCE_DOOR_VERSION ? door : NULL;
}

static void posted(void *arg)
{
	const struct uroce_context *ctx = arg;

	ctx->door->posted(ctx->guest);
}

static void posted_datagram(void *arg)
{
	const struct uroce_context *ctx = arg;

	ctx->door->datagram(ctx->guest);
}

void ur_guest_batches(struct ur_doorbell *db)
{
	if (db->posted)
		db->posted = posted_datagram;
}

/* Returns whether the device lends no engine to this process: not permitted, none left, an engine
 * process is needed, or an older device. */
static bool is_not_lent(int err)
{
	return err == EPERM || err == EBUSY || err == EOPNOTSUPP ||
	       err == EPROTONOSUPPORT;
}

/* The engine has copies of the descriptors. */
static void close_lent(const struct uroce_engine_open *open)
{
	close(open->own_fd);
	close(open->count_fd);
	close(open->settings_fd);
	close(open->record_fd);
	if (open->relay_fd >= 0) {
		close(open->relay_fd);
		close(open->relay_words_fd);
	}
	if (open->outbox_fd >= 0) {
		close(open->outbox_fd);
		close(open->door_fd);
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
	       limit.rlim_cur >= UROCE_GUEST_FILE_BYTES;
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

static int use_guest(struct uroce_context *ctx,
		     const struct uroce_alloc_ucontext_resp *resp, u32 slot)
{
	int err = map_page(ctx, resp);

	ctx->guest_slot = slot;
	if (!err)
		return 0;
	ctx->door->close(ctx->guest);
	ctx->guest = NULL;
	return err;
}

/* Opens an engine in this process. EAGAIN: the device lends none, or this process cannot run one.
 * ELIBACC: it lacks the library. */
static int open_guest(struct uroce_context *ctx,
		      const struct uroce_alloc_ucontext_resp *resp,
		      struct uroce_guest_info *info)
{
	/* An older uroced leaves these fields. */
	struct uroce_engine_open open = {.relay_fd = -1,
					 .relay_words_fd = -1,
					 .outbox_fd = -1,
					 .door_fd = -1,
					 .bell_fd = -1};
	int err;

	if (!ur_calls_engine())
		return EAGAIN;
	ctx->door = find_door();
	if (!ctx->door)
		return ELIBACC;
	if (!may_have_rings())
		return EAGAIN;
	err = ur_guest_call(&ctx->ibv, UVERBS_OBJECT_DEVICE,
			    UROCE_METHOD_ENGINE_OPEN, UR_GUEST_NO_IN, 0, 0,
			    UROCE_ATTR_ENGINE_OPEN_RESP, &open, sizeof(open));
	if (err)
		return is_not_lent(err) ? EAGAIN : err;
	err = -ctx->door->open(&open, ctx->ibv.cmd_fd, &ctx->guest, info);
	close_lent(&open);
	return err ? EAGAIN : use_guest(ctx, resp, open.slot);
}

/* Does the same for an engine in an engine process. method: ENGINE_APART or ENGINE_IMPORT. */
static int open_elsewhere(struct uroce_context *ctx,
			  const struct uroce_alloc_ucontext_resp *resp,
			  u16 method, u16 attr, struct uroce_guest_info *info)
{
	struct uroce_engine_apart apart;
	int err;

	err = ur_guest_call(&ctx->ibv, UVERBS_OBJECT_DEVICE, method,
			    UR_GUEST_NO_IN, 0, 0, attr, &apart, sizeof(apart));
	if (err)
		return err;
	ctx->door = &ur_apart_door;
	err = -ctx->door->open(NULL, apart.fd, &ctx->guest, info);
	return err ? err : use_guest(ctx, resp, apart.slot);
}

/* Takes over what the engine says of itself. */
static void use_info(struct uroce_context *ctx,
		     const struct uroce_guest_info *info,
		     struct uroce_alloc_ucontext_resp *resp)
{
	ctx->guest_fd = info->fd;
	resp->db_map_off = info->db_map_off;
	resp->db_map_len = info->db_map_len;
	ctx->guest_apart = ctx->door == &ur_apart_door;
	if (!ctx->guest_apart)
		ctx->db.posted = posted;
	ctx->db.wake_fd = info->wake_fd;
	ctx->db.own = info->own;
	ctx->db.arg = ctx;
	ctx->db.take_over = ur_guest_take_over;
	ctx->owner = getpid();
	ur_guest_files_add(ctx);
}

int ur_guest_open_import(struct uroce_context *ctx,
			 struct uroce_alloc_ucontext_resp *resp)
{
	struct uroce_guest_info info;
	int err;

	err = open_elsewhere(ctx, resp, UROCE_METHOD_ENGINE_IMPORT,
			     UROCE_ATTR_ENGINE_IMPORT_RESP, &info);
	if (err)
		return err;
	ctx->imported = true;
	use_info(ctx, &info, resp);
	return 0;
}

int ur_guest_open(struct uroce_context *ctx,
		  struct uroce_alloc_ucontext_resp *resp)
{
	const enum asked asked = asked_for();
	/* The program must be unable to change a hostile card, or what the
	 * device reports. */
	const bool apart = resp->adverse ||
			   (resp->features & UROCE_CTX_F_APART) ||
			   asked == ASKED_APART;
	struct uroce_guest_info info;
	int err;

	if (asked == ASKED_UNKNOWN)
		return EINVAL;
	err = apart ? EAGAIN : open_guest(ctx, resp, &info);
	if (err == EAGAIN || (err && asked != ASKED_PROCESS))
		err = open_elsewhere(ctx, resp, UROCE_METHOD_ENGINE_APART,
				     UROCE_ATTR_ENGINE_APART_RESP, &info);
	if (err)
		return err;
	use_info(ctx, &info, resp);
	return 0;
}

void ur_guest_close(struct uroce_context *ctx)
{
	ur_guest_files_del(ctx);
	ur_shared_close(ctx);
	if (ctx->guest)
		ctx->door->close(ctx->guest);
	if (ctx->first_cmd_fd >= 0)
		close(ctx->first_cmd_fd);
}
