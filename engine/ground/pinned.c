// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Copies despite protections. Slow, but the cost does not grow with the size of the process. */
#include "engine/ground/pinned.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "engine/ground/maps_query.h"
#include "engine/ground/user.h"
#include "kernel-abi/uroce-copies.h"
#include "util/os/filtered.h"

/* The smallest page of any system, and so the smallest unit of mprotect(). */
#define PAGE 4096u
/* Linux' Documentation/admin-guide/mm/pagemap.rst. */
#define PAGEMAP_FILE	(1ull << 61)
#define PAGEMAP_SWAPPED (1ull << 62)
#define PAGEMAP_PRESENT (1ull << 63)

/* ---- which memory it is ---- */

static bool has_protections(void)
{
	return &uroce_protections &&
	       uroce_protections.version == UROCE_PROTECTIONS_VERSION;
}

static int ask(int maps, u64 addr, struct ur_maps_query *q)
{
	*q = (struct ur_maps_query){.size = sizeof(*q), .addr = addr};
	return ur_maps_ask(maps, q);
}

static struct ur_pinned_place place_of(const struct ur_maps_query *q, u64 addr)
{
	return (struct ur_pinned_place){
		.known = true,
		.shared = q->has & UR_MAPS_SHARED,
		.dev = makedev(q->dev_major, q->dev_minor),
		.ino = q->inode,
		.offset = q->inode ? q->offset + (addr - q->start) : 0,
	};
}

void ur_pinned_begin(const struct ur_user_mem *mem, u64 addr, u64 len,
		     bool writes, struct ur_pinned_place *place)
{
	struct ur_maps_query q;

	/* An earlier protection at this address may be of memory that was unmapped since. */
	if (writes && has_protections())
		uroce_protections.forget((void *)(uintptr_t)addr, len);
	place->known = false;
	if (mem->own_maps >= 0 && !ur_is_filtered() &&
	    !ask(mem->own_maps, addr, &q))
		*place = place_of(&q, addr);
}

void ur_pinned_start(void)
{
	if (has_protections())
		uroce_protections.start();
}

/* Returns whether the program took away a right to that page by mprotect(). */
static bool was_protected(u64 addr)
{
	return has_protections() &&
	       uroce_protections.took((void *)(uintptr_t)addr);
}

/* Checks that addr is still in the mapping of registration time, and fills *is with the present one;
 * is->known is false if the kernel cannot tell. Returns 0 or -EFAULT. */
static int find_again(const struct ur_pinned_place *was, u64 off, u64 addr,
		      struct ur_pinned_place *is)
{
	int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), err;
	struct ur_maps_query q;

	is->known = false;
	if (maps < 0)
		return -EFAULT;
	err = ask(maps, addr, &q);
	close(maps);
	if (err)
		return err == -ENOENT ? -EFAULT : 0;
	*is = place_of(&q, addr);
	return !was->known || (q.has & UR_MAPS_EXECUTABLE) ||
			       is->shared != was->shared ||
			       is->dev != was->dev || is->ino != was->ino ||
			       (is->ino && is->offset != was->offset + off)
		       ? -EFAULT
		       : 0;
}

/* Returns whether a page is present there, in memory or swap, that is private to the process: no unmodified file page. */
static bool is_private(u64 addr)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	u64 entry = 0, page = (u64)sysconf(_SC_PAGESIZE);
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, &entry, sizeof(entry),
		  (off_t)(addr / page * sizeof(entry)));
	close(fd);
	return n == sizeof(entry) && !(entry & PAGEMAP_FILE) &&
	       (entry & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED));
}

/* ---- the two ways ---- */

static int copy_past(u64 addr, u8 *buf, size_t len, bool out)
{
	int fd = open("/proc/self/mem", (out ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -EFAULT;
	do {
		n = out ? pwrite(fd, buf, len, (off_t)addr)
			: pread(fd, buf, len, (off_t)addr);
	} while (n < 0 && errno == EINTR);
	close(fd);
	return n == (ssize_t)len ? 0 : -EFAULT;
}

/* mremap() of a shared mapping with old size 0 maps it a second time. The system calls are made directly, since libraries that
 * track the program's mappings must not see this one. */
static int write_shared(const struct ur_user_mem *mem, u64 addr, u8 *buf,
			size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), at = addr % page;
	long p = syscall(SYS_mremap, addr - at, 0, page, MREMAP_MAYMOVE);
	int err = -EFAULT;

	if (p == -1)
		return -EFAULT;
	if (!syscall(SYS_mprotect, p, page, PROT_READ | PROT_WRITE))
		err = ur_user_write(mem, (u64)p + at, buf, len);
	syscall(SYS_munmap, p, page);
	return err;
}

static int copy_protected(const struct ur_user_mem *mem,
			  const struct ur_pinned_place *place, u64 off,
			  u64 addr, u8 *buf, size_t len, bool out)
{
	struct ur_pinned_place is;
	int err = was_protected(addr) ? find_again(place, off, addr, &is)
				      : -EFAULT;

	if (err)
		return err;
	if (!out)
		return copy_past(addr, buf, len, false);
	if (is.known && is.shared)
		return write_shared(mem, addr, buf, len);
	err = is_private(addr) ? copy_past(addr, buf, len, true) : -EFAULT;
	return !err && mem->is_good && !mem->is_good(mem->source) ? -EFAULT
								  : err;
}

int ur_pinned_copy(const struct ur_user_mem *mem,
		   const struct ur_pinned_place *place, u64 off, u64 addr,
		   u8 *buf, size_t len, bool out)
{
	int err = 0;

	for (size_t part; len && !err; len -= part) {
		part = ur_min_u64(len, PAGE - addr % PAGE);
		err = out ? ur_user_write(mem, addr, buf, part)
			  : ur_user_read(mem, addr, buf, part);
		if (err == -EFAULT)
			err = copy_protected(mem, place, off, addr, buf, part,
					     out);
		off += part;
		addr += part;
		buf += part;
	}
	return err;
}
