// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An example of uroce-fault.h: does a program survive that memory cannot be
 * registered? Under `uroce run`; ends with 0 where all is as it should be.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <uroce-fault.h>

static char buffer[4096];

/* The code under test: it tries once more before it gives up. */
static struct ibv_mr *register_buffer(struct ibv_pd *pd)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, buffer, sizeof(buffer), 0);

	return mr || errno != ENOMEM
		       ? mr
		       : ibv_reg_mr(pd, buffer, sizeof(buffer), 0);
}

#define MUST(what) ((what) ? (void)0 : fail(#what))

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	uroce_fault_clear();
	exit(1);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned long long met, struck;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	long rule;

	MUST(list && list[0]);
	context = ibv_open_device(list[0]);
	MUST(context);
	pd = ibv_alloc_pd(context);
	MUST(pd);

	rule = uroce_fault_add("reg-enomem count=1");
	MUST(rule > 0);
	mr = register_buffer(pd);
	MUST(mr);
	MUST(!ibv_dereg_mr(mr));
	MUST(!uroce_fault_counts(rule, &met, &struck));
	MUST(met == 2 && struck == 1);
	MUST(!uroce_fault_del(rule));
	MUST(uroce_fault_del(rule) == -1 && errno == EINVAL);
	MUST(uroce_fault_counts(rule, &met, &struck) == -1 && errno == ENOENT);

	/* Without end it fails, as it should. */
	MUST(uroce_fault_add("reg-enomem") > 0);
	MUST(!register_buffer(pd) && errno == ENOMEM);
	MUST(!uroce_fault_clear());
	MUST(uroce_fault_add("frob") == -1 && errno == EINVAL);

	MUST(!ibv_dealloc_pd(pd));
	MUST(!ibv_close_device(context));
	ibv_free_device_list(list);
	puts("it survives");
	return 0;
}
