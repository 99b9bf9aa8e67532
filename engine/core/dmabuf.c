// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Access to a dma-buf that the program has mapped. The driver that has made the buffer learns when the processor
 * begins and ends (DMA_BUF_IOCTL_SYNC): it makes caches agree, and the begin waits until the device that works on the
 * buffer has done so. Each call of the transport is one such pair, so a flag, a completion and an acknowledgement
 * come after the end of what is before them.
 */
#include <errno.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include "engine/core/engine_impl.h"
#include "transport/mem.h"

static int sync_with(int fd, u64 flags)
{
	struct dma_buf_sync sync = {.flags = flags};
	int ret;

	do
		ret = ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
	while (ret && (errno == EINTR || errno == EAGAIN));
	return ret ? -EFAULT : 0;
}

int ur_dmabuf_check(int fd)
{
	return sync_with(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ) ||
			       sync_with(fd,
					 DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ)
		       ? -EOPNOTSUPP
		       : 0;
}

/* Defines synced_op(): what op of other memory does, between the two calls. */
#define BETWEEN(op, how, params, ...)                                       \
	static int synced_##op params                                       \
	{                                                                   \
		const struct ur_emr *mr = mem;                              \
		int fd = mr->attr.sync_fd;                                  \
		int err = sync_with(fd, DMA_BUF_SYNC_START | (how)), ended; \
                                                                            \
		if (err)                                                    \
			return err;                                         \
		err = ur_app_mem_ops.op(mem, __VA_ARGS__);                  \
		ended = sync_with(fd, DMA_BUF_SYNC_END | (how));            \
		return err ? err : ended;                                   \
	}
#define READS  DMA_BUF_SYNC_READ
#define WRITES DMA_BUF_SYNC_WRITE
#define BOTH   DMA_BUF_SYNC_RW

/* clang-format off */
BETWEEN(read, READS, (void *mem, u64 off, void *dst, u32 len), off, dst, len)
BETWEEN(write, WRITES, (void *mem, u64 off, const void *src, u32 len), off, src, len)
BETWEEN(read_pieces, READS, (void *mem, u64 off, const struct ur_pieces *to), off, to)
BETWEEN(write_pieces, WRITES, (void *mem, u64 off, const struct ur_pieces *from), off, from)
BETWEEN(cas, BOTH, (void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap, u64 swap_mask, u64 *old),
	off, compare, compare_mask, swap, swap_mask, old)
BETWEEN(faa, BOTH, (void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old), off, add, boundary_mask, old)
/* clang-format on */

static int flush(void *mem, u64 off, u64 len, u32 type)
{
	return 0; /* each write has ended */
}

const struct ur_mem_ops ur_dmabuf_ops = {
	.read = synced_read,
	.write = synced_write,
	.read_pieces = synced_read_pieces,
	.write_pieces = synced_write_pieces,
	.cas = synced_cas,
	.faa = synced_faa,
	.flush = flush,
};
