// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Stands for dma-bufs of a driver (standin.h): files in memory whose mappings can be touched only between the start
 * and the end of DMA_BUF_IOCTL_SYNC, and written only where that says so. The functions come before the C library's;
 * each does what else it is asked by the system call.
 */
#include <errno.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tests/gpu/standin.h"

#define FILES 64
#define MAPS  64

struct file {
	dev_t dev;
	ino_t ino;
	bool mappable;
	int readers, writers; /* begun and not ended */
};

struct map {
	struct file *file; /* NULL: none */
	void *at;
	size_t len;
	int prot;
};

static struct file files[FILES];
static struct map maps[MAPS];
static int n_files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct file *find(int fd)
{
	struct file *found = NULL;
	struct stat st;

	if (!__atomic_load_n(&n_files, __ATOMIC_ACQUIRE) || fstat(fd, &st))
		return NULL;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n_files && !found; i++)
		if (files[i].dev == st.st_dev && files[i].ino == st.st_ino)
			found = &files[i];
	pthread_mutex_unlock(&lock);
	return found;
}

int standin_dmabuf(size_t bytes, bool mappable)
{
	int fd = memfd_create("dmabuf", MFD_CLOEXEC);
	struct stat st;

	if (fd < 0 || ftruncate(fd, (off_t)bytes) || fstat(fd, &st) ||
	    n_files == FILES)
		return -1;
	pthread_mutex_lock(&lock);
	files[n_files] = (struct file){
		.dev = st.st_dev, .ino = st.st_ino, .mappable = mappable};
	__atomic_store_n(&n_files, n_files + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return fd;
}

int fstatfs(int fd, struct statfs *fs)
{
	int ret = (int)syscall(SYS_fstatfs, fd, fs);

	if (!ret && find(fd))
		fs->f_type = DMA_BUF_MAGIC;
	return ret;
}

/* With the lock. Without the C library's function, which the preload library may know. */
static void allow(const struct map *m)
{
	const struct file *f = m->file;
	int prot = f->writers	? PROT_READ | PROT_WRITE
		   : f->readers ? PROT_READ
				: PROT_NONE;

	syscall(SYS_mprotect, m->at, m->len, prot & m->prot);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	struct file *f = fd < 0 ? NULL : find(fd);
	int i = 0;
	void *p;

	if (f && !f->mappable) {
		errno = 524; /* ENOTSUPP of the kernel's */
		return MAP_FAILED;
	}
	p = (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, off);
	if (!f || p == MAP_FAILED)
		return p;
	pthread_mutex_lock(&lock);
	while (i < MAPS - 1 && maps[i].file)
		i++;
	maps[i] = (struct map){f, p, len, prot};
	allow(&maps[i]);
	pthread_mutex_unlock(&lock);
	return p;
}

int munmap(void *addr, size_t len)
{
	for (int i = 0; i < MAPS && __atomic_load_n(&n_files, __ATOMIC_ACQUIRE);
	     i++) {
		pthread_mutex_lock(&lock);
		if (maps[i].file && maps[i].at == addr)
			maps[i].file = NULL;
		pthread_mutex_unlock(&lock);
	}
	return (int)syscall(SYS_munmap, addr, len);
}

static void count(int *n, bool ends)
{
	*n += ends ? -1 : 1;
	if (*n < 0) {
		fprintf(stderr, "failed: an end without a start\n");
		abort();
	}
}

static int sync_with(struct file *f, __u64 flags)
{
	bool ends = flags & DMA_BUF_SYNC_END;

	if (!ends)
		standin_waits();
	pthread_mutex_lock(&lock);
	if (flags & DMA_BUF_SYNC_READ)
		count(&f->readers, ends);
	if (flags & DMA_BUF_SYNC_WRITE)
		count(&f->writers, ends);
	for (int i = 0; i < MAPS; i++)
		if (maps[i].file == f)
			allow(&maps[i]);
	pthread_mutex_unlock(&lock);
	return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	struct file *f = request == DMA_BUF_IOCTL_SYNC ? find(fd) : NULL;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	return f ? sync_with(f, ((struct dma_buf_sync *)arg)->flags)
		 : (int)syscall(SYS_ioctl, fd, request, arg);
}
