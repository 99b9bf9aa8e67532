/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Names of verbs' numbers, once for all programs, as libibverbs and librdmacm
 * spell them. Each list is X(number, name, ...), without the prefix of the
 * enum; lists _NEWER belong to releases newer than the oldest that this builds
 * with. Static asserts check them: against libibverbs in
 * providers/uroce/words.c, librdmacm in check/cm.c, the kernel's ABI in
 * device/uverbs/obj_qp.c, our own in engine/core/ring_io.c.
 *
 * Functions return constant strings, "?" for a number without a name. Any
 * thread.
 */
#ifndef UR_UTIL_VERBS_WORDS_H
#define UR_UTIL_VERBS_WORDS_H

#include "util/verbs_event.h"

/* enum ibv_wc_status: errors of this device's requests. The names of fault
 * rules, and the texts of ibv_wc_status_str(). */
#define UR_WC_ERROR_LIST(X)                                                   \
	X(1, LOC_LEN_ERR, "loc_len_err", "local length error")                \
	X(2, LOC_QP_OP_ERR, "loc_qp_op_err", "local QP operation error")      \
	X(4, LOC_PROT_ERR, "loc_prot_err", "local protection error")          \
	X(6, MW_BIND_ERR, "mw_bind_err", "memory management operation error") \
	X(7, BAD_RESP_ERR, "bad_resp_err", "bad response error")              \
	X(8, LOC_ACCESS_ERR, "loc_access_err", "local access error")          \
	X(9, REM_INV_REQ_ERR, "rem_inv_req_err",                              \
	  "remote invalid request error")                                     \
	X(10, REM_ACCESS_ERR, "rem_access_err", "remote access error")        \
	X(11, REM_OP_ERR, "rem_op_err", "remote operation error")             \
	X(12, RETRY_EXC_ERR, "retry_exc_err",                                 \
	  "transport retry counter exceeded")                                 \
	X(13, RNR_RETRY_EXC_ERR, "rnr_retry_exc_err",                         \
	  "RNR retry counter exceeded")                                       \
	X(16, REM_ABORT_ERR, "rem_abort_err", "aborted error")                \
	X(19, FATAL_ERR, "fatal_err", "fatal error")                          \
	X(21, GENERAL_ERR, "general_err", "general error")

/* enum ibv_wc_status: the others that this device reports. */
#define UR_WC_END_LIST(X)                   \
	X(0, SUCCESS, "success", "success") \
	X(5, WR_FLUSH_ERR, "wr_flush_err", "Work Request Flushed Error")

/* enum ibv_wc_status: those that this device never reports. */
#define UR_WC_FOREIGN_LIST(X)                                                 \
	X(3, LOC_EEC_OP_ERR, "loc_eec_op_err",                                \
	  "local EE context operation error")                                 \
	X(14, LOC_RDD_VIOL_ERR, "loc_rdd_viol_err",                           \
	  "local RDD violation error")                                        \
	X(15, REM_INV_RD_REQ_ERR, "rem_inv_rd_req_err",                       \
	  "remote invalid RD request")                                        \
	X(17, INV_EECN_ERR, "inv_eecn_err", "invalid EE context number")      \
	X(18, INV_EEC_STATE_ERR, "inv_eec_state_err",                         \
	  "invalid EE context state")                                         \
	X(20, RESP_TIMEOUT_ERR, "resp_timeout_err", "response timeout error") \
	X(22, TM_ERR, "tm_err", "TM error")                                   \
	X(23, TM_RNDV_INCOMPLETE, "tm_rndv_incomplete",                       \
	  "TM software rendezvous")

/* enum ibv_wc_opcode */
#define UR_WC_OPCODE_LIST(X) \
	X(0, SEND)           \
	X(1, RDMA_WRITE)     \
	X(2, RDMA_READ)      \
	X(3, COMP_SWAP)      \
	X(4, FETCH_ADD)      \
	X(5, BIND_MW)        \
	X(6, LOCAL_INV)      \
	X(128, RECV)         \
	X(129, RECV_RDMA_WITH_IMM)
#define UR_WC_OPCODE_LIST_NEWER(X) X(8, FLUSH) X(9, ATOMIC_WRITE)

/* enum uroce_wqe_opcode, with its name in a sentence. */
#define UR_WQE_OPCODE_LIST(X)                          \
	X(0, NOP, "request")                           \
	X(1, SEND, "SEND")                             \
	X(2, SEND_IMM, "SEND with immediate")          \
	X(3, SEND_INV, "SEND with invalidate")         \
	X(4, WRITE, "WRITE")                           \
	X(5, WRITE_IMM, "WRITE with immediate")        \
	X(6, READ, "READ")                             \
	X(7, CMP_SWAP, "compare and swap")             \
	X(8, FETCH_ADD, "fetch and add")               \
	X(9, MASK_CMP_SWAP, "masked compare and swap") \
	X(10, MASK_FETCH_ADD, "masked fetch and add")  \
	X(11, BIND_MW, "bind of a memory window")      \
	X(12, LOCAL_INV, "local invalidate")           \
	X(13, ATOMIC_WRITE, "ATOMIC WRITE")            \
	X(14, FLUSH, "FLUSH")

/* enum ibv_access_flags */
#define UR_ACCESS_LIST(X)         \
	X(1u << 0, LOCAL_WRITE)   \
	X(1u << 1, REMOTE_WRITE)  \
	X(1u << 2, REMOTE_READ)   \
	X(1u << 3, REMOTE_ATOMIC) \
	X(1u << 4, MW_BIND)       \
	X(1u << 5, ZERO_BASED)
#define UR_ACCESS_LIST_NEWER(X)  \
	X(1u << 8, FLUSH_GLOBAL) \
	X(1u << 9, FLUSH_PERSISTENT)

/* enum ib_uverbs_qp_type */
#define UR_QP_TYPE_LIST(X) \
	X(2, RC)           \
	X(3, UC)           \
	X(4, UD)           \
	X(8, RAW_PACKET)   \
	X(9, XRC_INI)      \
	X(10, XRC_TGT)

/* enum ibv_qp_state */
#define UR_QP_STATE_LIST(X) \
	X(0, RESET)         \
	X(1, INIT)          \
	X(2, RTR)           \
	X(3, RTS)           \
	X(4, SQD)           \
	X(5, SQE)           \
	X(6, ERR)

/* enum ibv_event_type */
#define UR_EVENT_LIST(X)                                     \
	X(UR_EVENT_CQ_ERR, CQ_ERR)                           \
	X(UR_EVENT_QP_FATAL, QP_FATAL)                       \
	X(UR_EVENT_QP_REQ_ERR, QP_REQ_ERR)                   \
	X(UR_EVENT_QP_ACCESS_ERR, QP_ACCESS_ERR)             \
	X(UR_EVENT_COMM_EST, COMM_EST)                       \
	X(UR_EVENT_SQ_DRAINED, SQ_DRAINED)                   \
	X(UR_EVENT_DEVICE_FATAL, DEVICE_FATAL)               \
	X(UR_EVENT_PORT_ACTIVE, PORT_ACTIVE)                 \
	X(UR_EVENT_PORT_ERR, PORT_ERR)                       \
	X(UR_EVENT_SRQ_ERR, SRQ_ERR)                         \
	X(UR_EVENT_SRQ_LIMIT_REACHED, SRQ_LIMIT_REACHED)     \
	X(UR_EVENT_QP_LAST_WQE_REACHED, QP_LAST_WQE_REACHED) \
	X(UR_EVENT_GID_CHANGE, GID_CHANGE)                   \
	X(UR_EVENT_WQ_FATAL, WQ_FATAL)

/* enum rdma_cm_event_type */
#define UR_RDMA_CM_EVENT_LIST(X) \
	X(0, ADDR_RESOLVED)      \
	X(1, ADDR_ERROR)         \
	X(2, ROUTE_RESOLVED)     \
	X(3, ROUTE_ERROR)        \
	X(4, CONNECT_REQUEST)    \
	X(5, CONNECT_RESPONSE)   \
	X(6, CONNECT_ERROR)      \
	X(7, UNREACHABLE)        \
	X(8, REJECTED)           \
	X(9, ESTABLISHED)        \
	X(10, DISCONNECTED)      \
	X(11, DEVICE_REMOVAL)    \
	X(12, MULTICAST_JOIN)    \
	X(13, MULTICAST_ERROR)   \
	X(14, ADDR_CHANGE)       \
	X(15, TIMEWAIT_EXIT)
#define UR_RDMA_CM_EVENT_LIST_NEWER(X) \
	X(16, ADDRINFO_RESOLVED)       \
	X(17, ADDRINFO_ERROR)          \
	X(18, USER)                    \
	X(19, INTERNAL)

#define UR_WORDS_NAME(number, name, ...) \
	case number:                     \
		return #name;
#define UR_WORDS_ACCESS(number, name) \
	case number:                  \
		return "IBV_ACCESS_" #name;
#define UR_WORDS_SENTENCE(number, name, words) \
	case number:                           \
		return words;
#define UR_WORDS_STATUS(number, name, word, words) \
	case number:                               \
		return words;

/* clang-format off */
static inline const char *ur_wc_status_str(unsigned int status)
{
	switch (status) {
	UR_WC_ERROR_LIST(UR_WORDS_STATUS)
	UR_WC_END_LIST(UR_WORDS_STATUS)
	UR_WC_FOREIGN_LIST(UR_WORDS_STATUS)
	}
	return "?";
}

static inline const char *ur_wc_opcode_name(unsigned int opcode)
{
	switch (opcode) {
	UR_WC_OPCODE_LIST(UR_WORDS_NAME)
	UR_WC_OPCODE_LIST_NEWER(UR_WORDS_NAME)
	}
	return "?";
}

static inline const char *ur_wqe_opcode_name(unsigned int opcode)
{
	switch (opcode) {
	UR_WQE_OPCODE_LIST(UR_WORDS_NAME)
	}
	return "?";
}

/* Returns the name of an opcode in a sentence, such as "SEND with immediate";
 * "request" for an unknown one. */
static inline const char *ur_wqe_opcode_words(unsigned int opcode)
{
	switch (opcode) {
	UR_WQE_OPCODE_LIST(UR_WORDS_SENTENCE)
	}
	return "request";
}

/* Returns the name of one flag: "IBV_ACCESS_REMOTE_READ". */
static inline const char *ur_access_flag_name(unsigned int flag)
{
	switch (flag) {
	UR_ACCESS_LIST(UR_WORDS_ACCESS)
	UR_ACCESS_LIST_NEWER(UR_WORDS_ACCESS)
	}
	return "?";
}

static inline const char *ur_qp_type_name(unsigned int type)
{
	switch (type) {
	UR_QP_TYPE_LIST(UR_WORDS_NAME)
	}
	return "?";
}

static inline const char *ur_qp_state_name(unsigned int state)
{
	switch (state) {
	UR_QP_STATE_LIST(UR_WORDS_NAME)
	}
	return "?";
}

static inline const char *ur_event_name(unsigned int event)
{
	switch (event) {
	UR_EVENT_LIST(UR_WORDS_NAME)
	}
	return "?";
}

static inline const char *ur_rdma_cm_event_name(unsigned int event)
{
	switch (event) {
	UR_RDMA_CM_EVENT_LIST(UR_WORDS_NAME)
	UR_RDMA_CM_EVENT_LIST_NEWER(UR_WORDS_NAME)
	}
	return "?";
}
/* clang-format on */

#endif
