/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * System calls on a virtual file, executed by the device. All return what the
 * system call would, or -errno.
 */
#ifndef UR_PRELOAD_FILE_H
#define UR_PRELOAD_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/fdmap.h"
#include "preload/rewrite.h"

/* open(2) of a node. Returns the visible descriptor. */
int ur_file_open(const struct ur_rewritten *path, int flags);

/**
 * ur_file_claim() - track a descriptor that this process did not open
 *
 * A uverbs file that came by SCM_RIGHTS or over exec looks like any other file
 * until the device identifies it. Cheap for what cannot be one.
 *
 * Return: true when @fd is tracked from here on.
 */
bool ur_file_claim(int fd);

/* ioctl(2) with a command for the device. */
long ur_file_ioctl(struct ur_file *file, int fd, unsigned long cmd,
		   uint64_t arg);

/* write(2); on an rdma_cm file it may block in GET_EVENT. */
ssize_t ur_file_write(struct ur_file *file, int fd, const void *buf,
		      size_t len);

/* Converts the result of a read(2) on an event file to what the kernel would
 * return. */
ssize_t ur_file_after_read(struct ur_file *file, void *buf, size_t len,
			   ssize_t ret, int err);

/* Returns the bytes of one event of a file of that kind; 0: no event file. */
size_t ur_kind_event_size(uint32_t kind);

static inline size_t ur_file_event_size(const struct ur_file *file)
{
	return ur_kind_event_size(file->kind);
}

#endif
