/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The engine process, uroce-engine (kernel-abi/uroce-apart.h). Its main thread receives
 * contexts from uroced; a thread per context serves the context's program. Only that thread
 * and the context's engine use descriptors of the program.
 */
#ifndef UR_DEVICE_APART_APART_H
#define UR_DEVICE_APART_APART_H

#include <stdbool.h>
#include "kernel-abi/uroce-apart.h"
#include "util/bytes.h"

/* Maximum number of objects of a context. */
#define UR_APART_OBJECTS (1u << 22)

enum ur_apart_kind {
	UR_APART_NONE,
	UR_APART_CQ,
	UR_APART_SRQ,
	UR_APART_AH,
	UR_APART_QP,
	UR_APART_MR,
	UR_APART_LISTED_MR, /* unclaimed: listed.c */
	UR_APART_MW,
	UR_APART_WQ,
	UR_APART_FLOW,
};

struct ur_apart_object {
	enum ur_apart_kind kind;
	u32 next; /* of a free slot: index of the next free slot, plus one */
	void *it;
	u8 (*groups)[16]; /* multicast groups of a queue pair */
	u32 n_groups;
	bool raw; /* a raw packet queue pair, which rules may name */
};

struct ur_apart_engine;
struct ur_apart_file;

/* A context and its program. */
struct ur_apart_client {
	const struct uroce_engine_ops *ops;
	/* The engine shared with other contexts; NULL: home is the context's own. */
	struct ur_apart_engine *engine;
	struct uroce_home *home;
	struct uroce_ectx *ctx; /* NULL before BEGIN */
	struct uroce_ectx_info info;
	int sock;
	u32 slot;
	struct ur_apart_object *objects;
	/* free: index of the first free slot, plus one */
	u32 n_objects, room, free;
	struct ur_apart_file *file; /* the shared engine's; else NULL */
	/* regions from uroced that the program has not claimed; listed[i].number is of a UR_APART_LISTED_MR */
	struct ur_apart_listed *listed;
	u32 n_listed;
	u32 kib, max_kib; /* charged for its objects; their limit */
	u32 raw_kib; /* of them, for packets on their way through packet sockets */
	void (*ended)(void); /* called last, on the context's thread */
};

/* client.c: starts a context from uroced's message, and a thread that serves its program
 * until the program hangs up. fds: UROCE_APART_FDS descriptors, -1 for none; the callee
 * takes them over. Returns 0, or -errno with the program's socket closed. */
int ur_apart_begin(const struct uroce_engine_ops *ops,
		   const struct uroce_apart_context *context, int *fds,
		   void (*ended)(void));

/* engines.c: engines that several contexts share. Any thread. */

/* Finds the engine with that number, or creates it from open and liveness, and counts one more
 * context in it. v1: see make_home() of uroce-engine.h. liveness: see enum uroce_apart_fd; a copy
 * is taken. Returns 0 or -errno. */
int ur_apart_engine_get(const struct uroce_engine_ops *ops, u32 number,
			const struct uroce_engine_open *open, const int *v1,
			bool isolated, int liveness,
			struct ur_apart_engine **engine);
void ur_apart_engine_put(struct ur_apart_engine *engine);
struct uroce_home *ur_apart_engine_home(struct ur_apart_engine *engine);
/* Finds or creates the engine's uverbs file with that number, and counts one more context of it. Returns NULL
 * without memory. */
struct ur_apart_file *ur_apart_file_get(struct ur_apart_engine *engine,
					u64 number);
void ur_apart_file_put(struct ur_apart_file *file);
/* Marks the engine with that number, or all with 0: uroced sends no more contexts for it.
 * It ends with its last context. */
void ur_apart_engine_done(u32 number);

/* A message of the program that is carried out. */
struct ur_apart_call {
	struct ur_apart_client *client;
	struct uroce_call call;
	u32 wq[UROCE_CALL_WQS]; /* behind the message */
	u32 n_wqs;
	/* What is added to the objects in the end. There is room for it. */
	enum ur_apart_kind makes;
	/* The object that it is about, or NULL. */
	struct ur_apart_object *named;
};
/* calls.c: carries out the message, with its descriptors, and fills call.reply and call.out. The caller closes the
 * descriptors, all but those that BEGIN put into call.out. */
void ur_apart_call(struct ur_apart_client *client, struct ur_apart_call *call);

/* objects.c: pass a call on to the engine, and one that destroys a rule. Return its result. */
int ur_apart_pass(struct ur_apart_call *c);
int ur_apart_destroy_flow(struct ur_apart_call *c);
/* Return another object that the message names, or NULL. */
void *ur_apart_given(const struct ur_apart_call *c, enum ur_apart_kind kind,
		     u32 number);

/* raw.c: messages about raw packets, and one that creates a raw packet queue pair or a work queue. Each returns its
 * result. */
int ur_apart_use_raw(struct ur_apart_call *c);
int ur_apart_create_raw(struct ur_apart_call *c);
int ur_apart_modify_wq(struct ur_apart_call *c);
int ur_apart_create_flow(struct ur_apart_call *c);
int ur_apart_read_flow(struct ur_apart_call *c);

/* domains.c */

/* A shared engine's protection domains that contexts of one uverbs file name. Lock of the caller. */
struct ur_apart_domains {
	struct ur_apart_domain *at; /* sorted by name */
	u32 n;
};
/* Returns the number of the domain with that name; a new one is one more than *last, the engine's last. Returns
 * 0 without memory or numbers. */
u32 ur_apart_domain_number(struct ur_apart_domains *domains, u32 name,
			   u32 *last);

/* engines.c: replaces the program's number of a protection domain by the engine's. Returns
 * 0 or -ENOMEM. */
int ur_apart_find_domain(struct ur_apart_client *client, u32 *pdn);

/* listed.c: regions that uroced names, in the place of the program. */

struct ur_apart_listed {
	u32 key, number;
};
/* Registers the n regions in the file fd that can be registered. */
void ur_apart_register_listed(struct ur_apart_client *client, int fd, u32 n);
/* Returns the number of the unclaimed region with that key, which is claimed from then on; 0: none. */
u32 ur_apart_claim(struct ur_apart_client *client, u32 key);
/* Destroys the unclaimed regions. */
void ur_apart_claimed(struct ur_apart_client *client);

/* objects.c: the table of a context's objects. Numbers begin with 1. */

/* Returns whether the context's memory limit allows so much more. */
bool ur_apart_fits(const struct ur_apart_client *client, u32 kib);
/* Makes room for one more object of that kind. Returns 0, -ENOMEM, or -EDQUOT if the
 * context's memory limit is reached (charges: device/memory.h), which UROCE_METHOD_ENGINE_ROOM raises. */
int ur_apart_make_room(struct ur_apart_client *client, enum ur_apart_kind kind);
/* Adds an object and returns its number. ur_apart_make_room() came before. */
u32 ur_apart_add(struct ur_apart_client *client, enum ur_apart_kind kind,
		 void *it);
/* Returns the object of that number and kind, or NULL. */
struct ur_apart_object *ur_apart_find(struct ur_apart_client *client,
				      enum ur_apart_kind kind, u32 number);
void ur_apart_del(struct ur_apart_client *client,
		  struct ur_apart_object *object);
/* Record that a queue pair is in a multicast group, or has left it. Joining returns as
 * ur_apart_make_room(). */
int ur_apart_join(struct ur_apart_client *client, struct ur_apart_object *qp,
		  const u8 gid[16]);
void ur_apart_leave(struct ur_apart_client *client, struct ur_apart_object *qp,
		    const u8 gid[16]);
/* An object of kind UR_APART_FLOW: a rule, and what it has counted. */
struct ur_apart_rule {
	void *it;
	struct uroce_eflow_counts counts;
};
/* Destroys all objects. */
void ur_apart_destroy_all(struct ur_apart_client *client);

/* checks.c: validation of arguments before they reach the engine. uroced makes the same
 * checks when it serves an engine in a program. */
bool ur_apart_qp_is_good(const struct uroce_eqp_init *qp, u32 slot);
/* Checks a raw packet queue pair or a work queue, with all its pointers but rss. n_wqs: number of work queues
 * that it spreads frames over. */
bool ur_apart_raw_is_good(const struct uroce_eqp_init *qp, u32 n_wqs, u32 slot);
bool ur_apart_flow_is_good(const struct uroce_engine_flow *flow);
/* Returns whether the descriptor is a packet socket. */
bool ur_apart_is_packet_socket(int fd);
/* Checks an XRC target that is created or opened. */
bool ur_apart_target_is_good(const struct uroce_eqp_init *qp, u32 slot);
/* Checks the arguments of MAY_MODIFY_QP. */
bool ur_apart_states_are_good(const struct uroce_call_modify *modify);
bool ur_apart_modify_is_good(const struct uroce_call_modify *modify);
bool ur_apart_mr_is_good(const struct uroce_emr_init *mr);
bool ur_apart_cq_is_good(const struct uroce_call_cq *cq);
/* xrc: srq is an XRC SRQ, and its completion queue exists. */
bool ur_apart_srq_is_good(const struct uroce_esrq_init *srq, bool xrc);
/* Returns whether the file is sealed so that it cannot shrink below its mapping. */
bool ur_apart_file_is_good(int fd);

#endif
