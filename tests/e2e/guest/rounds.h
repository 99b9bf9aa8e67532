/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A reliable connection to the same program on another host, and messages both ways
 * whose every byte is looked at.
 */
#ifndef UR_TESTS_GUEST_ROUNDS_H
#define UR_TESTS_GUEST_ROUNDS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define ROUND_BYTES 3000

struct rounds {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* NULL: it polls */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *in, *out;
	bool client;
	uint32_t salt; /* of the bytes, the same on both sides */
	uint32_t sent, received, rounds;
};

struct rounds_peer {
	int sock; /* TCP, to the other program */
	bool client;
	int gid_index;
	union ibv_gid gid;
};

/* Ends the program with status 1 and a line unless ok. */
void must(bool ok, const char *what);

/* Opens the only device. */
struct ibv_context *rounds_open(void);
/* Reaches the other program: server NULL waits for it on the TCP port. */
void rounds_meet(struct rounds_peer *peer, const char *server, int port);
/* Does so as the arguments of main() say: MODE GID_INDEX GID PORT [SERVER]. */
void rounds_begin(struct rounds_peer *peer, int argc, char **argv);
/* Each gives the other so many bytes, and waits for the other's. */
void rounds_swap(const struct rounds_peer *peer, const void *mine, void *theirs,
		 size_t bytes);
/* Both have come so far. */
void rounds_both(const struct rounds_peer *peer);
/* From the first on SIGUSR1 is for the second, which says that so many things have been made and waits for the
 * signal. */
void rounds_will_wait(void);
void rounds_wait(uint32_t made);
/* Makes a connection of that context, with a completion channel where it sleeps,
 * and connects it to the one that the other program makes with its call. */
void rounds_connect(struct rounds *r, struct ibv_context *context,
		    const struct rounds_peer *peer, bool sleeps);
/* Runs n rounds: a message of the client, and the answer. Returns 0, or what a verb
 * returned (-EIO and the like), or the status of a failed completion. */
int rounds_run(struct rounds *r, uint32_t n);
/* Posts one message. Returns what ibv_post_send() does. */
int rounds_post(struct rounds *r);
/* Posts one and waits until it has arrived. Returns as rounds_run() does. */
int rounds_send(struct rounds *r);
/* Sleeps until the channel has an event, or a signal comes. Returns 0 or
 * -errno, -ENODATA at the end of the file. */
int rounds_sleep(struct rounds *r);
void rounds_end(struct rounds *r);

/* gone.c: memory goes away under traffic, in every way. Returns whether the kernel's
 * handler of SIGSEGV is another than the program's. */
bool lose_memory(struct ibv_context *context, const struct rounds_peer *peer);

#endif
