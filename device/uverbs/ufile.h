/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An open uverbs file and the commands on it. Commands come in two forms, ioctl
 * attributes and write structures. Both decoders first copy everything in, then
 * take the control lock and call a handler, then release the lock and copy
 * everything out. A handler works on copies only.
 */
#ifndef UR_DEVICE_UVERBS_UFILE_H
#define UR_DEVICE_UVERBS_UFILE_H

#include "device/uverbs/object.h"
#include "device/open_file.h"

struct ur_engine_process;
struct ur_shared_engine;

struct ur_ufile {
	struct ur_device_file on_device;
	struct ur_loop_after after; /* at its end, with */
	struct ur_loop *loop;
	struct ur_session *session; /* whose command runs, or ran last */
	bool closing;
	struct ur_device *dev;
	u64 id;	   /* of all that ever were */
	uid_t uid; /* who opened it: the quota's */
	int memfd;
	struct ur_ectx *ectx; /* after GET_CONTEXT */
	struct ur_ectx_info info;
	u32 adverse, adverse_seed; /* as the provider asked */
	/* the slot of its engine, if that is in the program; 0: the device's */
	u32 slot;
	struct ur_engine_process
		*apart; /* that has it then; NULL: the program */
	bool small;	/* it is one of many */
	struct ur_shared_engine *shared; /* besides, or NULL */
	/* charged for its rings and objects in these */
	u32 apart_kib, shared_kib;
	bool relayed; /* the device receives for it, */
	u8 raw_loans; /* how often it has got packet sockets */
	bool far;     /* and sends: it is in another network namespace */
	u32 rings; /* large slots to which it has asked for rings then, a bit each */
	int life; /* a socket that hangs up for that program with the file; 0: none */
	int given_up_fd; /* given_up.h; 0: none. And what was read there: */
	u64 given_up;
	struct ur_handles handles;
	/* of the quotas, maps.c */
	u32 maps, region_units, kib;
	bool shrinking; /* the command makes a ring smaller */
	/* The asynchronous event file that objects without one of their own
	 * use: the first that was made. */
	struct ur_obj_async *async;
};

extern const struct ur_file_ops ur_ufile_ops;

/* Returns the uverbs file that this is, or NULL where it is of another kind.
 * Lock held. */
struct ur_ufile *ur_ufile_of(struct ur_device_file *file);
/* Returns the next uverbs file of the device after file, or the first with
 * file NULL; NULL at the end. Lock held. */
struct ur_ufile *ur_ufile_next(const struct ur_device *dev,
			       const struct ur_ufile *file);
/* Walks over the uverbs files of a device, and no other files that are open on
 * it. */
#define ur_ufile_for_each(file, dev)                                   \
	for (struct ur_ufile *file = ur_ufile_next(dev, NULL); (file); \
	     (file) = ur_ufile_next(dev, file))

/* Returns the realm of its queue pairs: that of its user, where users are kept
 * apart. */
static inline u32 ur_ufile_realm(const struct ur_ufile *file)
{
	return file->dev->daemon->by_user ? file->uid + 1 : 0;
}

/* Moves the context to that engine of the device, where the object that is
 * about to be made belongs. Returns 0, or -EOPNOTSUPP where it has objects that
 * cannot go: queue pairs and what goes with them, address handles, windows.
 * Lock held. */
int ur_context_go(struct ur_ufile *file, u32 shard);

/* program_engine.c: makes the file's engine, if it has one in its program, look at what has changed. */
void ur_program_engine_wake(const struct ur_ufile *file);
/* The engine process has ended: hangs up the files whose engines it had. Lock held. */
void ur_ufile_end_apart(const struct ur_daemon *daemon,
			const struct ur_engine_process *process);
/* Takes back what was lent to the file's engine. */
void ur_program_engine_end(struct ur_ufile *file);

/* ---- a command ---- */

#define UR_UDATA_MAX 128

struct ur_attr;

struct ur_out {
	struct ur_out *next;
	u64 addr;
	size_t len;
	u8 data[];
};

struct ur_cmd {
	struct ur_ufile *file;
	struct ur_device *dev;
	u32 in_len, out_len; /* write form: what the client gave */
	/* The driver's part. */
	u8 udata[UR_UDATA_MAX];
	u32 udata_in_len;
	u64 udata_out_addr;
	u32 udata_out_len;
	/* The outputs to copy once the handler has returned 0. */
	struct ur_out *outs, **outs_tail;
	/* Made by this command: destroyed again if copying out fails. */
	struct ur_object *created;
	struct ur_attr *attrs; /* ioctl form */
	u32 n_attrs;
	/* The place of outs as long as they fit. All commands that change
	 * something have outs that fit: such a command cannot be undone once it
	 * is done, and must be able to answer without memory. */
	u32 room_used;
	u8 room[1024] __attribute__((aligned(8)));
};

/* Makes an empty command of the file. */
void ur_cmd_init(struct ur_cmd *cmd, struct ur_ufile *file);
/* Queues a copy of len bytes for the client's address addr. Returns 0, or
 * -ENOMEM where there is no room. */
int ur_cmd_out(struct ur_cmd *cmd, u64 addr, const void *data, size_t len);
/* Ends a command after its handler has returned ret: copies out, or undoes what
 * it made. Returns what the system call returns. Lock not held. */
int ur_cmd_finish(struct ur_cmd *cmd, int ret);

/* Copies the driver's request to dst: as much as was given, zeros after it. */
void ur_udata_in(const struct ur_cmd *cmd, void *dst, size_t len);
/* Queues the driver's response: as much of it as fits. Returns 0 or -ENOMEM. */
int ur_udata_out(struct ur_cmd *cmd, const void *src, size_t len);

/* uverbs_ioctl.c, uverbs_write.c: carry out a command; see struct ur_file_ops.
 * Lock not held. */
s64 ur_uverbs_ioctl(void *file, u64 request, u64 arg);
s64 ur_uverbs_write(void *file, u64 addr, u64 len);

#endif
