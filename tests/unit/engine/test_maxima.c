// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The maxima that the device reports can be had: of address handles, all of
 * them in one context; of a queue pair's sizes, all of them together.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/ground/limits.h"
#include "engine/ground/loop.h"
#include "engine/ground/own_memory.h"
#include "tests/check.h"
#include "tests/lo_engine.h"
#include "tests/own_net.h"

#define RINGS_FILE (1ull << 40)
#define PD	   5

static const u8 gid[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1};

static struct ur_engine *engine;
static struct ur_ectx *ectx;

static void start(void)
{
	struct ur_engine_config config = {
		LO_ENGINE,
		.kind = &ur_program_kind,
	};
	int rings = memfd_create("rings", MFD_CLOEXEC);
	struct ur_ectx_info info;
	struct ur_user_mem *mem;

	CHECK(rings >= 0 && !ftruncate(rings, (off_t)RINGS_FILE));
	CHECK(!ur_loop_create(&config.loop));
	ur_loop_lock(config.loop);
	CHECK(!ur_engine_create(&config, &engine));
	CHECK(!ur_engine_set_gid(engine, 0, gid, UR_GID_ROCE_V2));
	CHECK(!ur_user_mem_own(&mem));
	CHECK(!ur_ectx_create(engine, rings, mem, 0, &ectx, &info));
}

static void address_handles(void)
{
	struct ur_eah **ah = calloc(UR_MAX_AH, sizeof(struct ur_eah *)), *more;
	struct ur_epath path = {.hop_limit = 64};

	CHECK(ah);
	memcpy(path.sgid, gid, 16);
	memcpy(path.dgid, gid, 16);
	for (u32 i = 0; i < UR_MAX_AH; i++)
		CHECK(!ur_eah_create(ectx, PD, &path, &ah[i]));
	CHECK_EQ(ur_eah_create(ectx, PD, &path, &more), -ENOMEM);
	/* Each has a number, and is of its domain. */
	for (u32 i = 0; i < UR_MAX_AH; i += 4093) {
		CHECK(ur_ah_lookup(ectx, ah[i]->number, PD) == ah[i]->av);
		CHECK(!ur_ah_lookup(ectx, ah[i]->number, PD + 1));
	}
	/* One that goes makes room. */
	ur_eah_destroy(ah[77]);
	CHECK(!ur_eah_create(ectx, PD, &path, &ah[77]));
	for (u32 i = 0; i < UR_MAX_AH; i++)
		ur_eah_destroy(ah[i]);
	free(ah);
}

static void queue_pairs(void)
{
	static const enum ur_qp_type types[] = {UR_QPT_RC, UR_QPT_UC, UR_QPT_UD,
						UR_QPT_XRC_INI};

	for (u32 i = 0; i < UR_ARRAY_SIZE(types); i++) {
		struct ur_eqp_init init = {
			.type = types[i],
			.caps.max_send_wr = UR_MAX_QP_WR,
			.caps.max_recv_wr = UR_MAX_QP_WR,
			.caps.max_send_sge = UR_MAX_SGE_COUNT,
			.caps.max_recv_sge = UR_MAX_SGE_COUNT,
			.caps.max_inline = UR_MAX_INLINE};
		struct ur_qp_rings l;

		CHECK(!ur_qp_rings_plan(&init, &l));
		/* Not even the longest requests are more than there is room for. */
		CHECK((u64)l.sq_bbs * UROCE_SQ_BB / UR_MAX_QP_WR >=
		      UR_MAX_SGE_COUNT * sizeof(struct uroce_wqe_data));
		CHECK_EQ(init.caps.max_inline, UR_MAX_INLINE);
		CHECK(l.rq_off >= l.sq_off + (u64)l.sq_bbs * UROCE_SQ_BB ||
		      !l.rq_entries);
		CHECK(l.bytes >= l.rq_off + (u64)l.rq_entries * l.rq_stride);
		/* So small that users of ordinary machines may have several. */
		CHECK(l.bytes <= 129ull << 20);
		init.caps.max_send_wr++;
		CHECK_EQ(ur_qp_rings_plan(&init, &l), -EINVAL);
	}
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	if (!own_net())
		SKIP("no network namespace");
	start();
	STEP(address_handles());
	STEP(queue_pairs());
	return cases_status();
}
