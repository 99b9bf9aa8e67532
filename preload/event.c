// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Event files: sockets whose datagrams are the events, which the program reads
 * itself. Only an end of file must be converted, since a kernel's file has
 * none.
 */
#include <errno.h>
#include <string.h>

#include "preload/file.h"
#include "util/verbs_event.h"

/* struct ib_uverbs_async_event_desc, <rdma/ib_user_verbs.h> */
struct async_event {
	uint64_t element;
	uint32_t event_type;
	uint32_t reserved;
};

size_t ur_kind_event_size(uint32_t kind)
{
	switch (kind) {
	case UROCE_TUN_COMP:
		return sizeof(uint64_t);
	case UROCE_TUN_ASYNC:
		return sizeof(struct async_event);
	default:
		return 0;
	}
}

ssize_t ur_file_after_read(struct ur_file *file, void *buf, size_t len,
			   ssize_t ret, int err)
{
	struct async_event fatal = {.event_type = UR_EVENT_DEVICE_FATAL};
	struct ur_file *parent;
	uint32_t alive = 0;

	if (ret > 0)
		return ret;
	if (ret < 0 && err != ECONNRESET)
		return -err;
	/* End of file: the device process died, or the parent file was closed.
	 * Only the former is an event. */
	parent = ur_fdmap_parent(file);
	if (!parent)
		return -EIO;
	ur_fdmap_put(parent);
	if (file->kind != UROCE_TUN_ASYNC || len < sizeof(fatal) ||
	    !atomic_compare_exchange_strong(&file->dead, &alive, 1))
		return -EIO;
	memcpy(buf, &fatal, sizeof(fatal));
	return sizeof(fatal);
}
