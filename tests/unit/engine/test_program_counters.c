// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Counters of engines in programs: what the device reads of what they count, while they
 * run, lie, and have ended. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/program_counters.h"
#include "tests/check.h"

#define SLOT  3u
#define FIRST (SLOT << (24 - UR_PLACE_BITS) | 7)
#define APART 2048u /* numbers with the same places */

static struct ur_engine *device;
static struct ur_counter_page *page;

static void make_grant(void)
{
	int fd;

	CHECK(!ur_counters_grant(device, SLOT, &fd));
	CHECK(!ur_counters_map(fd, &page));
	/* Nobody cuts it short under the device. */
	CHECK(ftruncate(fd, 0) < 0 && errno == EPERM);
}

static void begin(void)
{
	device = calloc(1, sizeof(*device));
	CHECK(device);
	make_grant();
}

static void end(void)
{
	ur_counters_unmap(page);
	ur_counters_grant_fini(device);
	free(device);
}

static u64 sent(void)
{
	u64 values[UR_CNT_COUNT];

	ur_counters_programs(device, values);
	return values[UR_CNT_sent_pkts];
}

static void counted(void)
{
	u64 *port;

	begin();
	port = ur_counters_of_port(page);
	port[UR_CNT_sent_pkts] = 5;
	CHECK_EQ(sent(), 5);
	ur_counters_grant_end(device, SLOT);
	CHECK_EQ(sent(), 5);
	/* Whoever keeps the memory of before counts nothing any more. */
	port[UR_CNT_sent_pkts] = 100;
	ur_counters_unmap(page);
	make_grant();
	CHECK_EQ(sent(), 5);
	ur_counters_of_port(page)[UR_CNT_sent_pkts] = 2;
	CHECK_EQ(sent(), 7);
	end();
}

static void lies(void)
{
	u64 *port;

	begin();
	port = ur_counters_of_port(page);
	port[UR_CNT_sent_pkts] = 50;
	CHECK_EQ(sent(), 50);
	port[UR_CNT_sent_pkts] = 3;
	CHECK_EQ(sent(), 50);
	/* It has counted for as long as this test runs. */
	port[UR_CNT_sent_pkts] = UINT64_MAX;
	CHECK(sent() < 1ull << 40);
	CHECK(sent() >= 50);
	end();
}

static void queue_pairs(void)
{
	u64 values[UR_QP_SHOWN], *shown[9];
	u32 n = 0;

	begin();
	CHECK(!ur_engine_shown_qp(device, FIRST, values));
	for (; n < 9; n++) {
		shown[n] = ur_counters_of_qp(page, FIRST + n * APART);
		if (!shown[n])
			break;
		shown[n][UR_QP_SHOWN_STATE] = n + 1;
	}
	CHECK_EQ(n, 8);
	for (u32 i = 0; i < n; i++) {
		CHECK(ur_engine_shown_qp(device, FIRST + i * APART, values));
		CHECK_EQ(values[UR_QP_SHOWN_STATE], i + 1);
	}
	ur_counters_qp_gone(page, FIRST + 2 * APART);
	CHECK(!ur_engine_shown_qp(device, FIRST + 2 * APART, values));
	CHECK(ur_counters_of_qp(page, FIRST + 8 * APART) == shown[2]);
	CHECK_EQ(shown[2][UR_QP_SHOWN_STATE], 0);
	/* A number of another slot, whatever stands here. */
	CHECK(!ur_engine_shown_qp(device, 1u << 21 | 7, values));
	CHECK(!ur_engine_shown_qp(device, UINT32_MAX, values));
	end();
}

/* Said by the program, seen while it runs, and remembered. */
static void sl_refused(void)
{
	begin();
	CHECK(!ur_engine_sl_refused(device));
	*ur_counters_sl(page) = 1;
	CHECK(ur_engine_sl_refused(device));
	ur_counters_grant_end(device, SLOT);
	CHECK(ur_engine_sl_refused(device));
	end();
	/* Nobody asked while it ran. */
	begin();
	*ur_counters_sl(page) = 1;
	ur_counters_grant_end(device, SLOT);
	CHECK(ur_engine_sl_refused(device));
	end();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(counted());
	CASE(lies());
	CASE(queue_pairs());
	CASE(sl_refused());
	return cases_status();
}
