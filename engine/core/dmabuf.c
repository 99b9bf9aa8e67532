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

static int begin(const struct ur_emr *mr, u64 how)
{
	return sync_with(mr->attr.sync_fd, DMA_BUF_SYNC_START | how);
}

/* err: of the access. */
static int end(const struct ur_emr *mr, u64 how, int err)
{
	int ret = sync_with(mr->attr.sync_fd, DMA_BUF_SYNC_END | how);

	return err ? err : ret;
}

int ur_dmabuf_look(int fd)
{
	return sync_with(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ) ||
			       sync_with(fd,
					 DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ)
		       ? -EOPNOTSUPP
		       : 0;
}

static int read_bytes(void *mem, u64 off, void *dst, u32 len)
{
	int err = begin(mem, DMA_BUF_SYNC_READ);

	return err ? err
		   : end(mem, DMA_BUF_SYNC_READ,
			 ur_app_mem_ops.read(mem, off, dst, len));
}

static int write_bytes(void *mem, u64 off, const void *src, u32 len)
{
	int err = begin(mem, DMA_BUF_SYNC_WRITE);

	return err ? err
		   : end(mem, DMA_BUF_SYNC_WRITE,
			 ur_app_mem_ops.write(mem, off, src, len));
}

static int read_pieces(void *mem, u64 off, const struct ur_pieces *to)
{
	int err = begin(mem, DMA_BUF_SYNC_READ);

	return err ? err
		   : end(mem, DMA_BUF_SYNC_READ,
			 ur_app_mem_ops.read_pieces(mem, off, to));
}

static int write_pieces(void *mem, u64 off, const struct ur_pieces *from)
{
	int err = begin(mem, DMA_BUF_SYNC_WRITE);

	return err ? err
		   : end(mem, DMA_BUF_SYNC_WRITE,
			 ur_app_mem_ops.write_pieces(mem, off, from));
}

static int cas(void *mem, u64 off, u64 compare, u64 compare_mask, u64 swap,
	       u64 swap_mask, u64 *old)
{
	int err = begin(mem, DMA_BUF_SYNC_RW);

	return err ? err
		   : end(mem, DMA_BUF_SYNC_RW,
			 ur_app_mem_ops.cas(mem, off, compare, compare_mask,
					    swap, swap_mask, old));
}

static int faa(void *mem, u64 off, u64 add, u64 boundary_mask, u64 *old)
{
	int err = begin(mem, DMA_BUF_SYNC_RW);

	return err ? err
		   : end(mem, DMA_BUF_SYNC_RW,
			 ur_app_mem_ops.faa(mem, off, add, boundary_mask, old));
}

static int flush(void *mem, u64 off, u64 len, u32 type)
{
	return 0; /* each write has ended */
}

const struct ur_mem_ops ur_dmabuf_ops = {
	.read = read_bytes,
	.write = write_bytes,
	.read_pieces = read_pieces,
	.write_pieces = write_pieces,
	.cas = cas,
	.faa = faa,
	.flush = flush,
};
