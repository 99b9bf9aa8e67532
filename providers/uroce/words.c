// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Static asserts that our numbers of verbs' words equal libibverbs', which only
 * the provider may include.
 */
#include <infiniband/verbs.h>
#include "util/verbs_words.h"

#define SAME(prefix, number, name)                      \
	_Static_assert((int)(prefix##name) == (number), \
		       "of libibverbs: " #name);
#define WC(number, name, ...)  SAME(IBV_WC_, number, name)
#define ACCESS(number, name)   SAME(IBV_ACCESS_, number, name)
#define QP_STATE(number, name) SAME(IBV_QPS_, number, name)
#define EVENT(number, name)    SAME(IBV_EVENT_, number, name)

/* clang-format off */
UR_WC_ERROR_LIST(WC)
UR_WC_END_LIST(WC)
UR_WC_FOREIGN_LIST(WC)
UR_WC_OPCODE_LIST(WC)
UR_ACCESS_LIST(ACCESS)
UR_QP_STATE_LIST(QP_STATE)
UR_EVENT_LIST(EVENT)
