// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Memory of dma-bufs: memory.h. Each buffer has one of its own, in which it begins in the third page, and an I/O
 * address that is no address of the program's. The program's own mapping is another than the region's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/e2e/guest/rounds.h"
#include "tests/gpu/memory.h"
#include "tests/gpu/standin.h"

#define OFFSET	(2u * 4096)
#define LENGTH	(BYTES + 4u * 4096)
#define FIRST	(1ull << 40) /* of I/O addresses */
#define BUFFERS 8

/* linux/drm */
struct create_dumb {
	uint32_t height, width, bpp, flags, handle, pitch;
	uint64_t size;
};
struct prime_handle {
	uint32_t handle, flags;
	int32_t fd;
};
#define CREATE_DUMB	   _IOWR('d', 0xb2, struct create_dumb)
#define PRIME_HANDLE_TO_FD _IOWR('d', 0x2d, struct prime_handle)

static struct {
	int fd;
	uint8_t *view;
} buffers[BUFFERS];
static int n;

static int of_udmabuf(int dev)
{
	struct udmabuf_create create = {.size = LENGTH};
	int memfd = memfd_create("udmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int fd;

	must(memfd >= 0 && !ftruncate(memfd, LENGTH) &&
		     !fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK),
	     "memfd_create");
	create.memfd = (uint32_t)memfd;
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	must(fd >= 0, "UDMABUF_CREATE");
	close(memfd);
	return fd;
}

static int of_vgem(int dev)
{
	struct create_dumb dumb = {
		.height = LENGTH / 4096, .width = 1024, .bpp = 32};
	struct prime_handle prime = {.flags = O_CLOEXEC | O_RDWR};

	must(!ioctl(dev, CREATE_DUMB, &dumb) && dumb.size >= LENGTH, "vgem");
	prime.handle = dumb.handle;
	must(!ioctl(dev, PRIME_HANDLE_TO_FD, &prime), "PRIME_HANDLE_TO_FD");
	return prime.fd;
}

static int make(void)
{
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	bool udmabuf = dev >= 0;
	int fd;

	if (!udmabuf)
		dev = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return standin_dmabuf ? standin_dmabuf(LENGTH, true) : -1;
	fd = udmabuf ? of_udmabuf(dev) : of_vgem(dev);
	close(dev);
	return fd;
}

static void begin(void)
{
}

static uint64_t allocate_next(void)
{
	int fd = make();

	must(fd >= 0 && n < BUFFERS, "a dma-buf");
	buffers[n].fd = fd;
	/* The stand-in has only the region's mapping obey. */
	buffers[n].view =
		(uint8_t *)syscall(SYS_mmap, NULL, LENGTH,
				   PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(buffers[n].view != MAP_FAILED, "mmap");
	return FIRST + (uint64_t)n++ * 2 * LENGTH + OFFSET;
}

int dmabuf_of(uint64_t addr, uint64_t *offset)
{
	uint64_t at = addr - FIRST;

	*offset = at % (2 * LENGTH);
	return buffers[at / (2 * LENGTH)].fd;
}

static uint8_t *view_of(uint64_t addr, int *fd)
{
	uint64_t off;

	*fd = dmabuf_of(addr, &off);
	return buffers[(addr - FIRST) / (2 * LENGTH)].view + off;
}

static void sync_with(int fd, uint64_t flags)
{
	struct dma_buf_sync sync = {.flags = flags};

	must(!syscall(SYS_ioctl, fd, DMA_BUF_IOCTL_SYNC, &sync) ||
		     errno == ENOTTY,
	     "DMA_BUF_IOCTL_SYNC");
}

static void set(uint64_t addr, const void *from, size_t bytes)
{
	int fd;
	uint8_t *to = view_of(addr, &fd);

	sync_with(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE);
	memcpy(to, from, bytes);
	sync_with(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE);
}

static void get(void *to, uint64_t addr, size_t bytes)
{
	int fd;
	const uint8_t *from = view_of(addr, &fd);

	sync_with(fd, DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ);
	memcpy(to, from, bytes);
	sync_with(fd, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ);
}

static struct ibv_mr *reg_file(struct ibv_pd *pd, uint64_t addr)
{
	uint64_t offset;
	int fd = dup(dmabuf_of(addr, &offset)), err;
	struct ibv_mr *mr =
		ibv_reg_dmabuf_mr(pd, offset, BYTES, addr, fd, ACCESS);

	err = errno;
	/* The region does without. */
	close(fd);
	errno = err;
	return mr;
}

const struct far_memory dmabuf_memory = {begin, allocate_next, set, get,
					 reg_file};
