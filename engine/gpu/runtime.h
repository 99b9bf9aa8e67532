/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A runtime of GPUs, as gpu.c uses it: a table of functions for each, of which the program has loaded one. cuda.c is the
 * first. HIP would have the same shape (hipPointerGetAttributes(), hipMemcpyDtoHAsync(), events); Level Zero needs an
 * immediate command list in a stream's place (zeMemGetAllocProperties(), zeCommandListAppendMemoryCopy()).
 *
 * The library is the program's own: a runtime takes it as it is there, and never loads it. No function is called in a post,
 * a poll or a handler of a signal. Those of the first group run on the thread that registers, whose current context and
 * capture mode are afterwards what they were; those of the second group on the engine's own thread alone.
 *
 * A lane is what copies go through in one context: a stream that waits for no other, and memory of the host that the GPU
 * reaches. That memory is UR_GPU_PIECES pieces of UR_GPU_PIECE_BYTES.
 */
#ifndef UR_ENGINE_GPU_RUNTIME_H
#define UR_ENGINE_GPU_RUNTIME_H

#include "util/bytes.h"

#define UR_GPU_PIECES	   64u
#define UR_GPU_PIECE_BYTES (64u << 10)

/* Memory as the runtime has allocated it. */
struct ur_gpu_place {
	u64 base, bytes;
	u64 id;	       /* no other allocation of this process has it */
	void *context; /* that can copy it */
};

struct ur_gpu_runtime {
	const char *name;

	/* Returns whether the program has the library, with all that is used of it, has initialized it, and has a GPU. */
	bool (*is_there)(void);
	/* Fills *place with the allocation that addr is in. Returns 0, or -EFAULT: it is not the GPU's memory. */
	int (*find)(u64 addr, struct ur_gpu_place *place);
	/* Makes a lane in that context, in *lane, with its pieces at *pieces, one after the other. Returns 0, -ENOMEM, or
	 * -EIO where the context fails. */
	int (*open)(void *context, void **lane, u8 **pieces);
	/* Ends it; nothing is under way. A context that has gone took its own with it. */
	void (*close)(void *lane);
	/* Returns whether the lane's context is still there. */
	bool (*lives)(void *lane);

	/* Returns whether addr is still in the allocation with that id. */
	bool (*is_same)(u64 addr, u64 id);
	/* The calling thread copies in that lane from now on. Returns 0 or -EIO. */
	int (*enter)(void *lane);
	/* Start copies between a piece of the lane and the GPU's memory, in the order of the calls. Return 0 or -EIO. */
	int (*to_host)(void *lane, void *piece, u64 addr, u32 len);
	int (*from_host)(void *lane, u64 addr, const void *piece, u32 len);
	/* Notes the copies started so far under the number of a piece. Returns 0 or -EIO. */
	int (*mark)(void *lane, u32 piece);
	/* Returns 0 where those are done, -EAGAIN where they are not yet, or -EIO where one has failed. */
	int (*is_done)(void *lane, u32 piece);
};

extern const struct ur_gpu_runtime ur_gpu_cuda;

#endif
