// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * dma-bufs of drivers, as udmabuf and vgem: mapped here, and registered in the engine of this process. The device
 * maps none: a driver may make pages go away, and a fault there would hit others. The rules for offset, length and
 * I/O address are those of ib_umem_dmabuf_get() and of the kernel's command.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "dmabuf.h"
#include "ectx.h"

/* Where programs do not look for descriptors. */
#define FIRST_FD 100

#define WRITES                                              \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

static int check(u64 offset, u64 length, u64 iova, int fd, int access, u64 page)
{
	struct statfs fs;
	off_t bytes;

	if (fstatfs(fd, &fs) || fs.f_type != DMA_BUF_MAGIC)
		return EOPNOTSUPP;
	bytes = lseek(fd, 0, SEEK_END);
	if (bytes < 0 || (access & IBV_ACCESS_ON_DEMAND))
		return EOPNOTSUPP;
	if (offset > (u64)bytes || length > (u64)bytes - offset ||
	    (offset ^ iova) % page || (!length && !(offset % page)))
		return EINVAL;
	return 0;
}

static int map_error(void)
{
	return errno == EACCES || errno == ENOMEM ? errno : EOPNOTSUPP;
}

int ur_dmabuf_keep(struct uroce_mr *mr, int fd)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	struct stat st;

	if (kept < 0)
		kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (kept < 0)
		return errno;
	if (fstat(kept, &st)) {
		close(kept);
		return ENOMEM;
	}
	mr->dmabuf = kept;
	mr->dev = st.st_dev;
	mr->ino = st.st_ino;
	return 0;
}

/* The file lasts as long as the region, as for a card. Mapped from its start: some drivers (drm_gem_shmem_fault() of
 * Linux, so vgem) do not look at a mapping's offset. */
static int map(struct uroce_mr *mr, u64 offset, u64 length, int fd, int access,
	       u64 page)
{
	size_t len = (offset + length + page - 1) / page * page;
	void *p;

	p = mmap(NULL, len, PROT_READ | (access & WRITES ? PROT_WRITE : 0),
		 MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return map_error();
	if (ur_dmabuf_keep(mr, fd)) {
		munmap(p, len);
		return ENOMEM;
	}
	mr->map = p;
	mr->map_len = len;
	return 0;
}

void ur_dmabuf_end(struct uroce_mr *mr)
{
	struct stat st;

	ur_unmap(mr->map, mr->map_len);
	mr->map = NULL;
	mr->map_len = 0;
	/* A program that has closed all descriptors may have another file at this one. */
	if (mr->ino && !fstat(mr->dmabuf, &st) && st.st_dev == mr->dev &&
	    st.st_ino == mr->ino)
		close(mr->dmabuf);
	mr->ino = 0;
}

/* Returns whether the engine of what is made here can use a mapping of this process. */
static bool is_reached(struct uroce_context *ctx)
{
	return ur_ectx_is_here(ctx) && !ctx->engine_apart;
}

int ur_dmabuf_reg(struct ibv_pd *pd, u64 offset, size_t length, u64 iova,
		  int fd, int access, struct uroce_mr *mr)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE), addr;
	int err;

	if (!is_reached(ur_to_ctx(pd->context)))
		return EOPNOTSUPP;
	err = check(offset, length, iova, fd, access, page);
	if (!err)
		err = map(mr, offset, length, fd, access, page);
	if (err)
		return err;
	addr = (uintptr_t)mr->map + offset;
	err = UR_ECTX_NUMBERED(ur_mr_try(pd, addr, length, iova, access,
					 UROCE_MR_F_ELSEWHERE, UROCE_EMR_DMABUF,
					 mr));
	if (err)
		ur_dmabuf_end(mr);
	return err;
}
