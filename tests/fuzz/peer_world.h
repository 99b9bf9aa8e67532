/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Around the door between neighbours: an engine as a program has it, with queue pairs and regions, and its neighbour
 * in another slot of the same device, anew for each input, who writes what he likes. Each copy to and from the
 * program's memory is made here, and may only be where a region allows it; each file that is mapped has to be one
 * that the neighbour could show.
 */
#ifndef UR_TESTS_FUZZ_PEER_WORLD_H
#define UR_TESTS_FUZZ_PEER_WORLD_H

#include <sys/stat.h>
#include "engine/core/engine_impl.h"
#include "engine/core/regions.h"
#include "engine/local/peer_ring.h"
#include "engine/wire/wire_udp.h"

#define PEER_OWN_SLOT 1u
#define PEER_SLOT     29u
#define PEER_QPN      (PEER_SLOT << 19 | 5)
#define PEER_PSN      0xfffff0u
#define PEER_QKEY     0x11111111u

enum { PEER_RC, PEER_RC_IDLE, PEER_UC, PEER_UD, PEER_QPS };

/* Regions: for the neighbour to read and write, for receives, one that others must not reach, one to be sent, and
 * one that is a file in memory. */
enum {
	PEER_REMOTE,
	PEER_LOCAL,
	PEER_CLOSED,
	PEER_SENT,
	PEER_FILE,
	PEER_REGIONS
};

/* Files: what a neighbour shows as a rule, and others. */
enum {
	SHOWN_SMALL,
	SHOWN_LARGE,
	SHOWN_TO_READ, /* opened so */
	SHOWN_CUT,     /* it gets shorter */
	SHOWN_HUGE,
	SHOWN_TO_WRITE, /* opened so */
	SHOWN_PIPE,
	SHOWN_DEVICE,
	SHOWN_PROGRAM, /* a file of a disk, or the like */
	SHOWN_GONE,    /* it has no name any more, and no writer */
	SHOWN_FILES,
};

/* Most have so many. */
#define SHOWN_BYTES (4u << 20)

struct peer_world {
	struct ur_engine *device, *engine;
	struct ur_wire_udp *wire; /* the program's */
	struct ur_user_mem *mem;
	struct ur_eqp *qp[PEER_QPS];
	struct uroce_create_qp_resp rings[PEER_QPS];
	struct ur_emr *mr[PEER_REGIONS];
	u8 *at[PEER_REGIONS];
	u32 bytes[PEER_REGIONS];
	/* The neighbour's: he writes his file and the words, and reads what the program sends. */
	u8 *file, *from;
	struct ur_peer_word *words;
	/* Packets of the network come to the program by another ring, which is the device's. */
	u8 *relay;
	struct ur_peer_word *relay_words;
	bool relay_used; /* by the input */
	int proof,
		known; /* his descriptors of his file, and of the program's */
	int files[SHOWN_FILES];
	pid_t stranger; /* another process, which has files of its own at the same descriptors: */
	struct stat its[SHOWN_FILES];
	_Atomic pid_t
		mortal; /* a process of the neighbour's, beside this one, which ends; 0: none */
	_Atomic bool ends_when_mapped; /* it does so while a file is */
	struct stat file_of,
		named; /* the files of the region that is one, and of the memory with a name: */
	u8 *named_at; /* NULL: it can have none */
	u8 *unnamed_at;
	_Atomic bool refuses; /* the processor may not copy now */
	u32 maps;	      /* of files of the neighbour, that are there */
	u32 ah;		      /* leads to the neighbour */
	void (*copies)(
		void *arg); /* called with each copy of this thread; or NULL */
	void *arg;
	pthread_t thread;
};
extern struct peer_world peer_world;

extern const u8 peer_gids[2][16];

void peer_world_start(void);
/* same_user: each could read the other's memory. */
void peer_world_grant(bool same_user);
void peer_world_end(void);
/* The program takes the region that is a file away, and registers one anew; named: whose file has a name. */
void peer_world_register_file(bool named);
/* The neighbour's process ends; waits until the program has noticed that, and maps nothing of it. Not in a copy. */
void peer_world_end_process(void);
/* The neighbour has read all that was put. inside: the caller is in a copy. */
void peer_world_read(bool inside);
/* From RESET to RTS. Returns 0 or -errno: what comes in RTR may end it. */
int peer_world_bring_up(u32 qp);
/* A turn of the program's engine; posted: something was just posted. */
void peer_world_turn(bool posted);
void peer_world_post_receive(u32 qp, u32 at, u32 len);
/* segments: of 16 bytes each. */
void peer_world_post_send(u32 qp, const void *wqe, u32 segments);

/* peer_files.c: makes files, and the process that is a stranger; and a file in memory. */
void peer_files_make(void);
int peer_file_make(size_t bytes);
/* All that is mapped is of one process, whose end would be noticed; its 0: nothing is. */
void peer_files_check(pid_t its);
/* peer_names.c: makes memory whose file has a name, and the names as they were. */
void peer_names_make(void);
void peer_names_again(void);
/* Does one of 12 things to them. */
void peer_names_change(u32 how);
/* peer_process.c: a process begins, and ends; all is as before the input. */
void peer_process_begin(void);
void peer_process_end(void);
void peer_process_again(void);
/* peer_memory.c: makes the memory of the regions. */
void peer_memory_make(void);
/* Nothing of the program's is in what its neighbour gets, and nothing was written beside its regions. As the engine. */
int peer_memory_check(struct ur_engine *e, void *arg);

#endif
