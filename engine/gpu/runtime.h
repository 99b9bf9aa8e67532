/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A GPU runtime as gpu.c uses it: a table of functions, of which cuda.c has the first. HIP would
 * have the same shape (hipPointerGetAttributes(), hipMemcpyDtoHAsync(), events). Level Zero needs
 * an immediate command list in place of a stream (zeMemGetAllocProperties(),
 * zeCommandListAppendMemoryCopy()).
 *
 * The runtime's library is the program's: it is used if it is loaded, and never loaded here. No
 * function is called in a post, in a poll or in a signal handler. The first group runs on the
 * thread that registers, and restores that thread's current context and capture mode. The second
 * group runs on the engine's own thread.
 *
 * A lane carries the copies of one context: a stream that waits for no other stream, and
 * UR_GPU_PIECES pieces of UR_GPU_PIECE_BYTES of host memory that the GPU can reach.
 */
#ifndef UR_ENGINE_GPU_RUNTIME_H
#define UR_ENGINE_GPU_RUNTIME_H

#include "util/bytes.h"

#define UR_GPU_PIECES	   64u
#define UR_GPU_PIECE_BYTES (64u << 10)

/* An allocation of GPU memory. */
struct ur_gpu_allocation {
	u64 base, bytes;
	u64 id;	       /* unique among the allocations of this process */
	void *context; /* the context that can copy it */
};

struct ur_gpu_runtime {
	const char *name;

	/* Returns whether the program has loaded the library with all functions that are used, has
	 * initialized it, and has a GPU. */
	bool (*is_there)(void);
	/* Fills *place with the allocation that contains addr. Returns 0, or -EFAULT (no GPU
	 * memory). */
	int (*find)(u64 addr, struct ur_gpu_allocation *place);
	/* Makes a lane of that context in *lane. *pieces: its pieces, back to back. Returns 0,
	 * -ENOMEM, or -EIO if the context fails. */
	int (*open)(void *context, void **lane, u8 **pieces);
	/* Frees a lane without copies under way. A context that was destroyed has freed its part
	 * already. */
	void (*close)(void *lane);
	/* Returns whether the lane's context is still there. */
	bool (*lives)(void *lane);

	/* Returns whether addr is still in the allocation with that id. */
	bool (*is_same)(u64 addr, u64 id);
	/* Makes the lane current for the calling thread. Returns 0 or -EIO. */
	int (*enter)(void *lane);
	/* Start a copy between a piece of the lane and GPU memory. Copies run in the order of the
	 * calls. Return 0 or -EIO. */
	int (*to_host)(void *lane, void *piece, u64 addr, u32 len);
	int (*from_host)(void *lane, u64 addr, const void *piece, u32 len);
	/* Marks the copies started so far with a piece's number. Returns 0 or -EIO. */
	int (*mark)(void *lane, u32 piece);
	/* Returns 0 if the marked copies are done, -EAGAIN if not yet, or -EIO if one has failed. */
	int (*is_done)(void *lane, u32 piece);
};

extern const struct ur_gpu_runtime ur_gpu_cuda;

#endif
