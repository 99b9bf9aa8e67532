// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The words that our programs have for verbs' numbers are the library's. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include "tests/check.h"
#include "util/verbs_words.h"

static void test_statuses(void)
{
	for (int s = IBV_WC_SUCCESS; s <= IBV_WC_GENERAL_ERR; s++) {
		const char *theirs = ibv_wc_status_str((enum ibv_wc_status)s);

		if (strcmp(ur_wc_status_str((unsigned int)s), theirs)) {
			printf("%d: \"%s\", not \"%s\"\n", s,
			       ur_wc_status_str((unsigned int)s), theirs);
			CHECK(false);
		}
	}
	CHECK(!strcmp(ur_wc_status_str(24), "?"));
}

static void test_names(void)
{
	CHECK(!strcmp(ur_wc_opcode_name(IBV_WC_RDMA_WRITE), "RDMA_WRITE"));
	CHECK(!strcmp(ur_wc_opcode_name(IBV_WC_RECV), "RECV"));
	CHECK(!strcmp(ur_wc_opcode_name(7), "?"));
	CHECK(!strcmp(ur_access_flag_name(IBV_ACCESS_REMOTE_ATOMIC),
		      "IBV_ACCESS_REMOTE_ATOMIC"));
	CHECK(!strcmp(ur_access_flag_name(0), "?"));
	CHECK(!strcmp(ur_qp_state_name(IBV_QPS_SQD), "SQD"));
	CHECK(!strcmp(ur_qp_state_name(IBV_QPS_UNKNOWN), "?"));
	CHECK(!strcmp(ur_event_name(IBV_EVENT_QP_LAST_WQE_REACHED),
		      "QP_LAST_WQE_REACHED"));
	CHECK(!strcmp(ur_wqe_opcode_name(2), "SEND_IMM"));
	CHECK(!strcmp(ur_wqe_opcode_words(2), "SEND with immediate"));
	CHECK(!strcmp(ur_wqe_opcode_words(15), "request"));
	CHECK(!strcmp(ur_rdma_cm_event_name(9), "ESTABLISHED"));
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_statuses());
	CASE(test_names());
	return cases_status();
}
