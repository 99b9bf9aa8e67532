/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory of the matrix: of the host, and far: a GPU's, or a dma-buf's. A buffer has BYTES bytes. Each function ends
 * the program where it fails.
 */
#ifndef UR_TESTS_GPU_MEMORY_H
#define UR_TESTS_GPU_MEMORY_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES (1u << 20)
#define ACCESS                                                \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |    \
	 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND)

enum place { HOST, FAR, PLACES };

struct buffer {
	uint64_t addr; /* as the region has it */
	struct ibv_mr *mr;
};

struct far_memory {
	void (*begin)(void);
	uint64_t (*allocate)(void);
	void (*set)(uint64_t addr, const void *from, size_t n);
	void (*get)(void *to, uint64_t addr, size_t n);
	/* Returns NULL with errno where it is refused. */
	struct ibv_mr *(*reg)(struct ibv_pd *pd, uint64_t addr);
};

/* Of CUDA, on one GPU after the other where there are several. */
extern const struct far_memory cuda_memory;
/* Of /dev/udmabuf or vgem, or of the stand-in where neither is there. */
extern const struct far_memory dmabuf_memory;
/* The one in use. */
extern const struct far_memory *far_memory;
/* Each side's buffers. */
extern struct buffer own[PLACES];

/* Registers a buffer, and ends a region, as the program does: what belongs to the thread stays as it was. */
struct ibv_mr *reg(struct ibv_pd *pd, uint64_t addr, enum place p);
int dereg(struct ibv_mr *mr);
/* Between the two the calling thread calls CUDA, and has afterwards the same contexts and capture mode. */
void thread_lends(void);
void thread_is_as_before(void);
uint64_t allocate(enum place p);
void set_bytes(uint64_t addr, const void *from, size_t n, enum place p);
void get_bytes(void *to, uint64_t addr, size_t n, enum place p);

/* Returns byte i of pattern s. */
uint8_t byte_at(uint32_t s, uint32_t i);
/* Fills the own buffer there with pattern s. */
void fill(enum place p, uint32_t s);
/* The bytes from at to end are of s from position from on, and all others of other. */
void check(enum place p, uint32_t at, uint32_t end, uint32_t s, uint32_t from,
	   uint32_t other);

/* dmabuf_memory.c: the descriptor of a buffer, and its offset there. */
int dmabuf_of(uint64_t addr, uint64_t *offset);

#endif
