/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What record.c and record_work.c share: probes, and the making of records. */
#ifndef UR_ENGINE_RECORD_RECORD_IMPL_H
#define UR_ENGINE_RECORD_RECORD_IMPL_H

#include "engine/record/record.h"
#include "engine/ground/recorder.h"
#include "util/os/clock.h"

#ifdef UROCE_PROBES
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define PROBE(n, name, ...) STAP_PROBE##n(uroce, name, __VA_ARGS__)
#else
#define PROBE(n, name, ...) ((void)0)
#endif

static inline struct uroce_record ur_record_begin(u8 kind, u32 qpn)
{
	return (struct uroce_record){
		.ns = ur_clock_ns(CLOCK_MONOTONIC), .kind = kind, .qpn = qpn};
}

static inline void ur_record_owned(struct uroce_record *r, uid_t uid, pid_t pid)
{
	r->uid = uid;
	r->pid = (u32)pid;
}

static inline void ur_record_keep(struct ur_engine *e,
				  const struct uroce_record *r)
{
	if (e->record.recorder)
		ur_recorder_put(e->record.recorder, r);
}

#endif
