/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Regions of GPUs' memory, of an engine in a program. Bytes move by way of pieces of pinned memory (runtime.h): those that a
 * message is about to read are fetched ahead of it, and those in the middle of one that comes are left under way until its
 * last bytes are written, which waits for all. So what follows a payload, a completion, an acknowledgement, a flag or an
 * answer, finds it there.
 *
 * While there is such a region the engine's own thread alone runs the engine (guest.h): a call of the runtime may wait for
 * what the program's own thread holds.
 *
 * An address may be another allocation's by now. Bytes are read from what was registered or the request fails: the
 * allocation is looked at after they have come. Before bytes are written it is looked at, too, and once more after the last
 * copy of a message has started.
 */
#ifndef UR_ENGINE_GPU_GPU_H
#define UR_ENGINE_GPU_GPU_H

#include "util/bytes.h"

struct ur_emr;
struct ur_engine;
struct ur_mem_ops;

/* Returns whether the program has memory of a GPU that could be registered: a runtime that it has initialized, and that has
 * a GPU. Not with UROCE_GPU=off in the environment, and not in a child of fork. A thread that registers. */
bool ur_gpu_is_there(void);
/* Returns 0 where all of the range is in one allocation of a GPU, else -EFAULT. A thread that registers. */
int ur_gpu_look(u64 addr, u64 length);

/* Makes mr one of the GPU's memory at mr->attr.addr. Returns 0, -EFAULT (it is no such memory), -ENOMEM or -EIO. A thread
 * that registers, one at a time for each engine. */
int ur_gpu_attach(struct ur_emr *mr);
/* Undoes that, for a region that ur_gpu_settle() was called for or that no engine ever had. The same threads. */
void ur_gpu_detach(struct ur_emr *mr);
/* Nobody uses the region any more: its copies end before this returns. Engine thread. */
void ur_gpu_settle(struct ur_emr *mr);
/* Ends what the engine has for all of them. */
void ur_gpu_fini(struct ur_engine *engine);

/* How the transport reaches them: mem is the ur_emr. */
extern const struct ur_mem_ops ur_gpu_mem_ops;

#endif
