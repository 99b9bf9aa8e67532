/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Regions in the memory of GPUs, for an engine in a program. Bytes are copied by way of pieces of
 * pinned host memory (runtime.h). A message that reads is copied ahead of the transport. Of a
 * message that writes, copies are started as packets come, and the last packet waits for all of
 * them. So a completion, acknowledgement, flag or answer never comes before the payload.
 *
 * While a context has such a region, the engine's own thread alone runs the engine (inproc.h): a
 * call of the runtime may wait for a lock that a thread of the program holds.
 *
 * The program may free the memory, and another allocation may get its address. So each read checks
 * the allocation after its bytes have come, and each write before and after it has started its
 * copies. A request whose check fails ends with an error.
 */
#ifndef UR_ENGINE_GPU_GPU_H
#define UR_ENGINE_GPU_GPU_H

#include "util/bytes.h"

struct ur_emr;
struct ur_engine;
struct ur_mem_ops;

/* Returns whether GPU memory could be registered: the program has initialized a runtime, which has
 * a GPU. Always false with UROCE_GPU=off in the environment, and in a child of fork. A thread that
 * registers. */
bool ur_gpu_is_there(void);
/* Returns 0 if the whole range is in one allocation of a GPU, else -EFAULT. A thread that
 * registers. */
int ur_gpu_check(u64 addr, u64 length);

/* Makes mr a region of GPU memory, at mr->attr.addr. Returns 0, -EFAULT (not such memory), -ENOMEM
 * or -EIO. A thread that registers, one at a time for each engine. */
int ur_gpu_attach(struct ur_emr *mr);
/* Undoes ur_gpu_attach(), after ur_gpu_finish(), or for a region that the engine never had. A
 * thread that registers. */
void ur_gpu_detach(struct ur_emr *mr);
/* Waits for the copies of a region that nobody uses any more. Engine thread. */
void ur_gpu_finish(struct ur_emr *mr);
/* Frees what the engine has for all such regions. */
void ur_gpu_fini(struct ur_engine *engine);

/* The transport's access to such regions; mem is the ur_emr. */
extern const struct ur_mem_ops ur_gpu_mem_ops;

#endif
