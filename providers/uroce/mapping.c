// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory of a context that is shared with an engine. */
#include <sys/mman.h>

#include "uroce.h"

static void *map_file(int fd, u64 off, u64 len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       (off_t)off);

	return p == MAP_FAILED ? NULL : p;
}

void *ur_map(struct ibv_context *context, u64 off, u64 len)
{
	const struct uroce_context *ctx = ur_to_ctx(context);

	return map_file(ctx->guest ? ctx->guest_fd : context->cmd_fd, off, len);
}

void *ur_map_device(struct ibv_context *context, u64 off, u64 len)
{
	return map_file(context->cmd_fd, off, len);
}

void ur_unmap(void *map, u64 len)
{
	if (map)
		munmap(map, len);
}
