/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine process, uroce-engine (kernel-abi/uroce-apart.h): its main thread takes contexts
 * from uroced, and each context has a thread that answers its program. Descriptors of a
 * program are used by that thread, and by the context's engine.
 */
#ifndef UR_DEVICE_APART_APART_H
#define UR_DEVICE_APART_APART_H

#include <stdbool.h>
#include "kernel-abi/uroce-apart.h"
#include "util/bytes.h"

/* Most objects of a context. */
#define UR_APART_OBJECTS (1u << 22)

enum ur_apart_kind {
	UR_APART_NONE,
	UR_APART_CQ,
	UR_APART_SRQ,
	UR_APART_AH,
	UR_APART_QP,
	UR_APART_MR,
	UR_APART_MW,
};

struct ur_apart_object {
	enum ur_apart_kind kind;
	u32 next; /* of a free place: the next one, plus one */
	void *it;
	u8 (*groups)[16]; /* that a queue pair is in */
	u32 n_groups;
};

struct ur_apart_engine;

/* A context and its program. */
struct ur_apart_client {
	const struct uroce_door *door;
	struct ur_apart_engine *
		engine; /* that it shares with others; NULL: it has one of its own, */
	struct uroce_home *home;   /* which is this */
	struct uroce_guest *guest; /* NULL: not yet */
	struct uroce_guest_info info;
	int sock;
	u32 slot;
	struct ur_apart_object *objects;
	u32 n_objects, room, free; /* free: the first free place, plus one */
	struct ur_apart_domain *domains; /* by their names */
	u32 n_domains;
	u32 kib, max_kib;    /* that its objects take, and may take */
	void (*ended)(void); /* is called last, by its thread */
};

/* context.c: makes an engine of what uroced has sent, and answers the program until it hangs up, on a
 * thread of its own. fds: UROCE_APART_FDS of them, -1 for none, which become the callee's. Returns 0 or -errno:
 * the program's socket is closed then. */
int ur_apart_begin(const struct uroce_door *door,
		   const struct uroce_apart_context *context, int *fds,
		   void (*ended)(void));

/* engines.c: engines that several contexts have. */

/* Finds the engine with the number, or makes it with what uroced has sent, and counts one more context of it. Returns 0 or -errno. */
int ur_apart_engine_get(const struct uroce_door *door, u32 number,
			const struct uroce_engine_open *open, bool isolated,
			int life, struct ur_apart_engine **engine);
void ur_apart_engine_put(struct ur_apart_engine *engine);
struct uroce_home *ur_apart_engine_home(struct ur_apart_engine *engine);
/* Returns a number that no domain in the engine has had; 0: there is none left. */
u32 ur_apart_engine_new_domain(struct ur_apart_engine *engine);
/* uroced has no more contexts for the engine with the number, or, 0, for any. It goes with its last one. */
void ur_apart_engine_done(u32 number);

struct ur_apart_reply {
	struct uroce_apart_msg msg;
	int fds[2]; /* sent with it; -1: none */
	bool close; /* the sender closes them afterwards */
};
/* calls.c: carries out a message of the program and fills *reply. fds: the descriptors that came with it, -1 for none; the
 * callee sets to -1 those that it takes over. */
void ur_apart_call(struct ur_apart_client *client,
		   const struct uroce_apart_msg *msg, int *fds,
		   struct ur_apart_reply *reply);

/* domains.c: puts the engine's number of a protection domain in the place of the program's. Returns 0 or -ENOMEM. */
int ur_apart_find_domain(struct ur_apart_client *client, u32 *pdn);

/* objects.c: the objects of a context by their numbers, from 1 on. */

/* Makes room for one more of that kind. Returns false where there is none, or the objects take all the memory that
 * they may (device/memory.h says what each takes). */
bool ur_apart_has_room(struct ur_apart_client *client, enum ur_apart_kind kind);
/* Returns the number of a new one, for which there is room. */
u32 ur_apart_add(struct ur_apart_client *client, enum ur_apart_kind kind,
		 void *it);
/* Returns the object of that number and kind, or NULL. */
struct ur_apart_object *ur_apart_find(struct ur_apart_client *client,
				      enum ur_apart_kind kind, u32 number);
void ur_apart_del(struct ur_apart_client *client,
		  struct ur_apart_object *object);
/* Notes that a queue pair is in a group, or is in it no more. Returns 0 or -ENOMEM. */
int ur_apart_join(struct ur_apart_client *client, struct ur_apart_object *qp,
		  const u8 gid[16]);
void ur_apart_leave(struct ur_apart_client *client, struct ur_apart_object *qp,
		    const u8 gid[16]);
/* Destroys all of them. */
void ur_apart_destroy_all(struct ur_apart_client *client);

/* checks.c: return whether an engine may be asked so. uroced has checked the same of what it has given to an honest
 * program. */
bool ur_apart_qp_is_good(const struct uroce_guest_qp_init *qp, u32 slot);
/* The same of an XRC target that is made or opened. */
bool ur_apart_target_is_good(const struct uroce_guest_qp_init *qp, u32 slot);
/* The same of a question whether it may go from one state to another. */
bool ur_apart_states_are_good(const struct uroce_apart_modify *modify);
bool ur_apart_modify_is_good(const struct uroce_apart_modify *modify);
bool ur_apart_mr_is_good(const struct uroce_guest_mr_init *mr);
bool ur_apart_cq_is_good(const struct uroce_apart_cq *cq);
/* xrc: its completion queue is there. */
bool ur_apart_srq_is_good(const struct uroce_guest_srq_init *srq, bool xrc);
/* The file cannot become shorter than what is mapped of it. */
bool ur_apart_file_is_good(int fd);

#endif
