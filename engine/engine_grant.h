/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Grants of the device to an engine in a program: a slot (the first bits of its queue pair numbers), a
 * port to send from to engines of this host, and for each address a socket that receives the
 * packets of the slot. uroced's engine grants. A part of engine.h, which has the rules
 * for threads and results.
 *
 * The holder of such a socket can detach the filter that gives each socket its packets
 * (SO_DETACH_REUSEPORT_BPF takes no privilege), and then receives the packets of others. Programs that
 * control does not trust with that get no socket: the device keeps their sockets and copies what comes into
 * a ring (local/udp_relay.h).
 */
#ifndef UR_ENGINE_ENGINE_GRANT_H
#define UR_ENGINE_ENGINE_GRANT_H

#include "engine/engine.h"
#include "engine/slots.h"

/* The files of a pair of rings between two slots (local/udp_pair.h). In the device the descriptors are the caller's. */
struct ur_granted_ring {
	u32 peer;     /* the neighbour's slot */
	u32 grant_id; /* number of the grant by which the neighbour has its slot */
	int words, out, in;
	bool relayed;	/* the neighbour has no sockets */
	bool same_user; /* both slots belong to one user; control fills it in */
};

/* How a process sends and receives. */
enum ur_grant_mode {
	UR_GRANT_SOCKETS,
	UR_GRANT_RELAYED, /* receives by a ring */
	UR_GRANT_FAR,	  /* sends by a ring, too: another network namespace */
};

/* Grants a free slot (slots.h; a small one has no sockets) and a port to that user's process, or, with pid 0, to the engine of
 * several of them. Returns 0, -EOPNOTSUPP (the kernel has no seals), -EBUSY (no such slot is free) or -errno of the
 * wire. */
int ur_engine_grant(struct ur_engine *engine, uid_t uid, pid_t pid, bool small,
		    enum ur_grant_mode mode, struct ur_grant *grant);
/* Returns the realm of a slot that this uroced or an earlier one has granted; 0: none. Control. */
u32 ur_engine_granted_realm(const struct ur_engine *engine, u32 slot);
/* Returns the user of a granted slot. Control. */
uid_t ur_engine_granted_to(const struct ur_engine *engine, u32 slot);
/* Returns whether the slot's present holder was given that queue pair number. Control. */
bool ur_engine_granted_number(const struct ur_engine *engine, u32 slot,
			      u32 number);
/* Returns whether that number, at an address of the device, lies in a granted slot whose holder was never given it: an earlier
 * holder may have had it. Control. */
bool ur_engine_is_nobodys(const struct ur_engine *engine, const u8 gid[16],
			  u32 number);
/* Returns the number of large slots that can be granted; of small ones there are UR_SMALL_SLOTS. Control. */
u32 ur_engine_grant_room(const struct ur_engine *engine);
/* Ends the grant. The program has no queue pair any more. Its packets count until the slot is granted again. */
void ur_engine_grant_end(struct ur_engine *engine, u32 slot);
/* Returns the slot's socket for entry index of the GID table in *fd, and the entry in gid. The socket stays the engine's and
 * may hold packets for numbers of earlier holders. *fd is -1 if the slot receives by a ring, which starts now.
 * Returns 0, -EINVAL (no such entry), -EOPNOTSUPP (a GID of RoCEv1) or -errno of the wire. */
int ur_engine_grant_socket(struct ur_engine *engine, u32 slot, u32 index,
			   u8 gid[16], int *fd);

/* Joins a multicast group for a queue pair of a program with UR_GRANT_FAR, or leaves it. Joins are counted. Joining returns 0
 * or -errno. */
int ur_engine_grant_group(struct ur_engine *engine, u32 slot, const u8 gid[16],
			  bool joins);

/* Grants the rings between two large slots to the program in slot; makes them if needed. Neither slot is 0. Returns 0, -EINVAL
 * (a slot is not granted, or small), -EALREADY (the program has them) or -errno. */
int ur_engine_grant_ring(struct ur_engine *engine, u32 slot, u32 peer,
			 struct ur_granted_ring *ring);
/* Returns the granted large slots, a bit each, if the GID is this device's, else 0. */
u32 ur_engine_peers(const struct ur_engine *engine, const u8 gid[16]);
/* In a program: attaches the rings, in place of earlier ones with that slot. The descriptors stay the caller's. Returns 0 or
 * -errno. */
int ur_engine_use_ring(struct ur_engine *engine,
		       const struct ur_granted_ring *ring);
/* In a program: returns whether it has the rings with the present holder of that slot. */
bool ur_engine_has_ring(struct ur_engine *engine, u32 peer);

/* In a program: sets entry index of the GID table with its granted socket, or with -1 if it receives by a ring. The socket
 * becomes the engine's. Returns 0, -EALREADY (set already), -EBUSY (another GID is there) or -errno; on error the
 * socket stays the caller's. */
int ur_engine_use_gid(struct ur_engine *engine, u32 index, const u8 *gid,
		      int fd);
/* In a program: returns whether that entry has that GID. */
bool ur_engine_has_gid(struct ur_engine *engine, u32 index, const u8 *gid);

/* Sets what the engine process with a slot may use for rings, in KiB, beyond what it was begun
 * with (uroce_apart_context.ring_bytes). Control; the process reads it when a ring needs more. */
void ur_engine_set_ring_room(struct ur_engine *engine, u32 slot, u32 kib);
/* Returns what this uroced or an earlier one has set. Control. */
u32 ur_engine_ring_room_of(const struct ur_engine *engine, u32 slot);

/* In an engine process: returns the bytes that ur_engine_set_ring_room() has set for this engine's slot. Any thread. */
u64 ur_engine_ring_room(const struct ur_engine *engine);

/* ---- queue pairs of programs; control ---- */

/* Draws the next queue pair number for the slot, which is granted. */
u32 ur_engine_next_number(struct ur_engine *engine, u32 slot);
/* Put another traffic class and hop limit (0: the host's default) into the packets of an RC queue
 * pair, and clear them. There is room for some thousand of each program, which reads them after
 * ur_engine_show_classes(). */
void ur_engine_put_class(struct ur_engine *engine, u32 qpn, u8 traffic_class,
			 u8 hop_limit);
void ur_engine_forget_class(struct ur_engine *engine, u32 qpn);
void ur_engine_show_classes(struct ur_engine *engine);
/* Fills UR_QP_SHOWN values of a queue pair, which are its program's claim. Returns false if the
 * program does not show it. */
bool ur_engine_shown_qp(const struct ur_engine *engine, u32 qpn, u64 *values);
/* Fills *failure with the failure of a queue pair: of a request of its peer if peers, else of its
 * own. Returns whether there is one. */
bool ur_engine_shown_failure(const struct ur_engine *engine, u32 qpn,
			     bool peers, struct ur_failure *failure);
/* Returns 0 if packets can be sent on that path, -EINVAL, -EOPNOTSUPP (no such wire), or
 * -ENETUNREACH and the like. */
int ur_engine_check_path(struct ur_engine *engine, const struct ur_epath *path);

/* ---- recovery after uroced was killed (ground/keep.h) ---- */

/* For the keeper, which has the table of ports: uroced has ended. */
void ur_engine_left(int ports);
/* The holder of a slot: its process, and the socket that hangs up with it (UR_KEPT_LIVENESS). */
struct ur_kept_liveness {
	int fd;
	uid_t uid;
	pid_t pid;
};
/* Restores the grants of an earlier uroced for a device on that netdev. Fills *slots with those that programs hold, and
 * liveness for each; its descriptor is the caller's. Call it once, before the first grant. */
void ur_engine_inherit(struct ur_engine *engine, struct ur_slot_set *slots,
		       struct ur_kept_liveness liveness[UR_SLOTS]);
/* Until ur_engine_recovery_done(): ur_engine_gid_at() returns the entry of the GID table at which running programs have that address, or
 * -1; ur_engine_gid_known() whether they have any address at that entry. */
int ur_engine_gid_at(const struct ur_engine *engine, const u8 gid[16]);
bool ur_engine_gid_known(const struct ur_engine *engine, u32 index);
/* Recovery is complete: frees what the earlier uroced had of this device and this one has not. */
void ur_engine_recovery_done(struct ur_engine *engine);
/* The same for devices that this uroced does not have. */
void ur_engine_recovery_done_all(void);
/* Gives the keeper the device's end of the socket to the slot's program, until the grant ends. Returns 0 or -errno. */
int ur_engine_keep_liveness(struct ur_engine *engine, u32 slot,
			    const struct ur_kept_liveness *liveness);
/* Records that the socket belongs to another process of the same user now. */
void ur_engine_pass_liveness_on(struct ur_engine *engine, u32 slot,
				const struct ur_kept_liveness *liveness);

/* ---- the flight recorder (ground/program_record.h) ---- */

struct ur_program_record;

/* Fills the list with the recorder rings of programs, also of ended ones, and *run with the number of the recording. Returns their
 * number. Release each with ur_program_record_put(). */
u32 ur_engine_program_records(const struct ur_engine *engine,
			      struct ur_program_record *list[UR_SLOTS],
			      u32 *run);
/* Returns whether a work request of a program has failed since the last call. */
bool ur_engine_record_failed(struct ur_engine *engine);

/* ---- completion channels, asynchronous events ---- */

/* Returns the sending end of a completion channel, which stays the channel's. */
int ur_echan_sender(const struct ur_echan *chan);
/* In a program: makes a channel from its sending end and its receiving end. They become the engine's. Returns 0 or -errno; on
 * error both stay the caller's. */
int ur_echan_attach(struct ur_ectx *ectx, int tx, int rx,
		    struct ur_echan **chan);
/* In a program: makes a file of asynchronous events from its two ends, as ur_echan_attach() does. */
int ur_easync_attach(struct ur_ectx *ectx, int tx, int rx,
		     struct ur_easync **async);
/* In a program: watches fd, which hangs up when the device is removed. Then the engine shuts down all channels and event files
 * that it has, and calls ended(arg) in a turn, for those that it has not. Call it once; fd stays the caller's and open. Returns
 * 0 or -errno. */
int ur_engine_end_with(struct ur_engine *engine, int fd,
		       void (*ended)(void *arg), void *arg);
/* In a program: it is about to sleep until a queue with a channel has an event. Any thread. */
void ur_engine_armed(struct ur_engine *engine);

#endif
