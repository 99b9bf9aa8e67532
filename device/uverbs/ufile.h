/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * An open uverbs file and the commands on it. Commands come in two forms, ioctl attributes
 * and write structures. Both decoders first copy all input, then take the control lock and
 * call a handler, then release the lock and copy all output. A handler works on copies
 * only.
 */
#ifndef UR_DEVICE_UVERBS_UFILE_H
#define UR_DEVICE_UVERBS_UFILE_H

#include "device/uverbs/object.h"
#include "device/open_file.h"

struct ur_engine_process;
struct ur_shared_engine;

/* Bytes of a context's sparse file, which has a page that shows whether the file was imported, and device memory. */
#define UR_UFILE_BYTES UROCE_TUN_UVERBS_BYTES

struct ur_ufile {
	struct ur_device_file on_device;
	struct ur_loop_after after; /* for closing the file, with loop */
	struct ur_loop *loop;
	struct ur_session *session; /* its command runs or ran last */
	bool closing;
	struct ur_device *dev;
	u64 id;	    /* never reused */
	uid_t uid;  /* opened it, and is charged */
	u64 opener; /* id of the session that opened it */
	int memfd;
	bool has_context; /* after GET_CONTEXT */
	u64 dm_next;	  /* where the next device memory begins in memfd */
	u32 adverse, adverse_seed; /* requested by the provider */
	/* slot of its engine; 0: the file has no engine yet, or never gets one */
	u32 slot;
	/* the process with that engine; NULL: the program itself */
	struct ur_engine_process *apart;
	bool small;			 /* slot is a small one */
	struct ur_shared_engine *shared; /* a further engine, or NULL */
	/* charged for rings and objects in apart and shared */
	u32 apart_kib, shared_kib;
	u32 room_kib;		/* by ENGINE_ROOM */
	struct ur_list imports; /* imports.h */
	/* imports.h: socket of the opener's context in shared until it asks for that; 0: none */
	int opener_sock;
	bool relayed;  /* the device receives for the program */
	u8 raw_grants; /* times it got packet sockets */
	/* the device sends, too: it is in another network namespace */
	bool far;
	/* if relayed: bit mask of large slots to which it got rings */
	u32 rings;
	/* socket that hangs up in the program when the file ends; 0: none */
	int liveness;
	/* destroy_hint.h; 0: none. destroy_hint: a handle read from it */
	int destroy_hint_fd;
	u64 destroy_hint;
	struct ur_handles handles;
	/* The default asynchronous event file: the first that was made. */
	struct ur_obj_async *async;
};

extern const struct ur_file_ops ur_ufile_ops;

/* Returns the uverbs file, or NULL if the file is of another kind. Lock held. */
struct ur_ufile *ur_ufile_of(struct ur_device_file *file);
/* Returns the device's next uverbs file after file (NULL: the first), or NULL at the end.
 * Lock held. */
struct ur_ufile *ur_ufile_next(const struct ur_device *dev,
			       const struct ur_ufile *file);
/* Iterates over the uverbs files of a device. */
#define ur_ufile_for_each(file, dev)                                   \
	for (struct ur_ufile *file = ur_ufile_next(dev, NULL); (file); \
	     (file) = ur_ufile_next(dev, file))

/* Returns how packets of the file's engine leave and arrive. */
static inline enum ur_grant_mode
ur_ufile_grant_mode(const struct ur_ufile *file)
{
	return file->far       ? UR_GRANT_FAR
	       : file->relayed ? UR_GRANT_RELAYED
			       : UR_GRANT_SOCKETS;
}

/* Returns whether the command comes from another user than the file's: the file's slot and memory are
 * its user's, and an engine would be the session's. */
static inline bool ur_ufile_is_anothers(const struct ur_ufile *file)
{
	return file->session->uid != file->uid;
}

/* Returns the realm of the file's queue pairs: its user's, if users are isolated, else 0. */
static inline u32 ur_ufile_realm(const struct ur_ufile *file)
{
	return file->dev->daemon->by_user ? file->uid + 1 : 0;
}

/* Returns whether the engines of the device's programs are in engine processes: a program could
 * switch off user isolation in its own engine. With RoCEv1 it could send any Ethernet frame, and
 * which queue pairs need that is unknown when they are made. */
static inline bool ur_ufile_is_apart(const struct ur_ufile *file)
{
	return ur_ufile_realm(file) || file->dev->roce_v1 ||
	       file->dev->daemon->engines_apart;
}

/* program_engine.c: wakes the file's engine in the program, if any, so that it looks for
 * changes. */
void ur_program_engine_wake(const struct ur_ufile *file);
/* Hangs up the files whose engine was in a process that has ended. Lock held. */
void ur_ufile_end_apart(const struct ur_daemon *daemon,
			const struct ur_engine_process *process);
/* Takes back the slot of the file's engine and all that came with it. */
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
	u32 in_len, out_len; /* write form: lengths from the client */
	/* The driver's part (udata). */
	u8 udata[UR_UDATA_MAX];
	u32 udata_in_len;
	u64 udata_out_addr;
	u32 udata_out_len;
	/* The outputs to copy once the handler has returned 0. */
	struct ur_out *outs, **outs_tail;
	/* Object made by this command, destroyed if copying out fails. */
	struct ur_object *created;
	struct ur_attr *attrs; /* ioctl form */
	u32 n_attrs;
	/* Room for outs. The outs of all commands that change something fit here: such a
	 * command cannot be undone, and must be able to reply without allocating memory. */
	u32 room_used;
	u8 room[1024] __attribute__((aligned(8)));
};

/* Makes an empty command of the file. */
void ur_cmd_init(struct ur_cmd *cmd, struct ur_ufile *file);
/* Queues a copy of len bytes for the client's address addr. Returns 0 or -ENOMEM. */
int ur_cmd_out(struct ur_cmd *cmd, u64 addr, const void *data, size_t len);
/* Ends a command whose handler has returned ret: copies out, or destroys cmd->created.
 * Returns the result of the system call. Lock not held. */
int ur_cmd_finish(struct ur_cmd *cmd, int ret);

/* Copies the driver's request to dst, padded with zeros. */
void ur_udata_in(const struct ur_cmd *cmd, void *dst, size_t len);
/* Queues the driver's response, truncated to the client's room. Returns 0 or -ENOMEM. */
int ur_udata_out(struct ur_cmd *cmd, const void *src, size_t len);

/* uverbs_ioctl.c, uverbs_write.c: carry out a command; see struct ur_file_ops.
 * Lock not held. */
s64 ur_uverbs_ioctl(void *file, u64 request, u64 arg);
s64 ur_uverbs_write(void *file, u64 addr, u64 len);

#endif
