// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * memlock limited|free: registers around a limit of 16 locked pages, which holds
 * (UROCE_MEMLOCK=1, no CAP_IPC_LOCK) or does not.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/e2e/verbs/bench.h"

#define PAGES 16u

static struct bench t;
static size_t page;
static uint8_t *p;

static struct ibv_mr *reg(size_t off, size_t len, int access)
{
	errno = 0;
	return ibv_reg_mr(t.pd, p + off, len, IBV_ACCESS_LOCAL_WRITE | access);
}

static void refused(size_t off, size_t len)
{
	CHECK(!reg(off, len, 0));
	CHECK_EQ(errno, ENOMEM);
}

static void limited(void)
{
	struct ibv_mr *mr, *odp, *two;

	refused(0, (PAGES + 1) * page);
	mr = reg(0, PAGES * page, 0);
	CHECK(mr);
	refused(0, 1); /* pages that are there already count again */
	odp = reg(0, page, IBV_ACCESS_ON_DEMAND);
	CHECK(odp);
	/* The new pages count before the old ones go, as in Linux. */
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, t.pd, p,
			      page, 0),
		 IBV_REREG_MR_ERR_CMD);
	CHECK(!ibv_dereg_mr(mr));
	/* Two bytes on two pages. */
	two = reg(page - 1, 2, 0);
	CHECK(two);
	refused(0, (PAGES - 1) * page);
	mr = reg(0, (PAGES - 2) * page, 0);
	CHECK(mr);
	refused(0, 1);
	CHECK(!ibv_dereg_mr(two));
	CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, t.pd, p,
			      page, 0),
		 0);
	two = reg(0, (PAGES - 1) * page, 0);
	CHECK(two);
	refused(0, 1);
	/* A region that the device refuses is not counted. */
	CHECK(!ibv_dereg_mr(two));
	CHECK(!mprotect(p, page, PROT_READ));
	CHECK(!reg(0, page, 0) && errno == EFAULT);
	CHECK(!mprotect(p, page, PROT_READ | PROT_WRITE));
	two = reg(0, (PAGES - 1) * page, 0);
	CHECK(two);
	CHECK(!ibv_dereg_mr(two) && !ibv_dereg_mr(mr) && !ibv_dereg_mr(odp));
}

static void is_free(void)
{
	struct ibv_mr *mr = reg(0, 2 * PAGES * page, 0), *more;

	CHECK(mr);
	more = reg(0, 2 * PAGES * page, 0);
	CHECK(more);
	CHECK(!ibv_dereg_mr(more) && !ibv_dereg_mr(mr));
}

int main(int argc, char **argv)
{
	struct rlimit lim;

	CHECK(argc == 2);
	page = (size_t)sysconf(_SC_PAGESIZE);
	lim.rlim_cur = lim.rlim_max = PAGES * page;
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &lim));
	p = mmap(NULL, 2 * PAGES * page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	bench_bare(&t);
	if (!strcmp(argv[1], "limited"))
		limited();
	else
		is_free();
	printf("%s: right\n", argv[1]);
	return 0;
}
