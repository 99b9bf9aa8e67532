// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The table of methods and attributes. Any other method fails with EPROTONOSUPPORT, which
 * makes libibverbs fall back to the write form. */
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "device/uverbs/uverbs_methods.h"

#define M_IN(attr, lo, hi)                                                     \
	{                                                                      \
		.id = (attr), .kind = UR_A_IN, .mandatory = true, .min = (lo), \
		.max = (hi)                                                    \
	}
#define O_IN(attr, lo, hi)                                              \
	{                                                               \
		.id = (attr), .kind = UR_A_IN, .min = (lo), .max = (hi) \
	}
/* libibverbs sends scalars in 4 or 8 bytes. */
#define M_SCALAR(attr) M_IN(attr, 4, 8)
#define O_SCALAR(attr) O_IN(attr, 4, 8)
#define M_OUT(attr, lo)                                                        \
	{                                                                      \
		.id = (attr), .kind = UR_A_OUT, .mandatory = true, .min = (lo) \
	}
#define O_OUT(attr, lo)                                     \
	{                                                   \
		.id = (attr), .kind = UR_A_OUT, .min = (lo) \
	}
#define M_OBJ(attr, obj)                                           \
	{                                                          \
		.id = (attr), .kind = UR_A_OBJ, .mandatory = true, \
		.object = (obj)                                    \
	}
#define O_OBJ(attr, obj)                                        \
	{                                                       \
		.id = (attr), .kind = UR_A_OBJ, .object = (obj) \
	}
#define NEW(attr)                                                 \
	{                                                         \
		.id = (attr), .kind = UR_A_NEW, .mandatory = true \
	}
#define O_FD(attr)                            \
	{                                     \
		.id = (attr), .kind = UR_A_FD \
	}
#define FD_NEW(attr)                                                 \
	{                                                            \
		.id = (attr), .kind = UR_A_FD_NEW, .mandatory = true \
	}
#define UHW O_IN(UVERBS_ATTR_UHW_IN, 0, 0), O_OUT(UVERBS_ATTR_UHW_OUT, 0)

#define PD   UVERBS_OBJECT_PD
#define CQ   UVERBS_OBJECT_CQ
#define QP   UVERBS_OBJECT_QP
#define SRQ  UVERBS_OBJECT_SRQ
#define MR   UVERBS_OBJECT_MR
#define DM   UVERBS_OBJECT_DM
#define XRCD UVERBS_OBJECT_XRCD

/* clang-format off */
static const struct ur_attr_spec a_invoke_write[] = {
	M_SCALAR(UVERBS_ATTR_WRITE_CMD),
	/* not copied here: sizes depend on the command */
	O_OUT(UVERBS_ATTR_CORE_IN, 0),
	O_OUT(UVERBS_ATTR_CORE_OUT, 0),
	UHW,
};

static const struct ur_attr_spec a_info_handles[] = {
	M_SCALAR(UVERBS_ATTR_INFO_OBJECT_ID),
	O_OUT(UVERBS_ATTR_INFO_TOTAL_HANDLES, 4),
	M_OUT(UVERBS_ATTR_INFO_HANDLES_LIST, 4),
};

static const struct ur_attr_spec a_query_port[] = {
	M_SCALAR(UVERBS_ATTR_QUERY_PORT_PORT_NUM),
	M_OUT(UVERBS_ATTR_QUERY_PORT_RESP, 40),
};

static const struct ur_attr_spec a_port_speed[] = {
	M_SCALAR(UROCE_ATTR_QUERY_PORT_SPEED_PORT_NUM),
	M_OUT(UROCE_ATTR_QUERY_PORT_SPEED_RESP, 8),
};

static const struct ur_attr_spec a_context[] = {
	O_OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
	O_OUT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
	UHW,
};

static const struct ur_attr_spec a_gid_table[] = {
	M_SCALAR(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE),
	O_IN(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 4, 8),
	M_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0),
	M_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8),
};

static const struct ur_attr_spec a_gid_entry[] = {
	M_SCALAR(UVERBS_ATTR_QUERY_GID_ENTRY_PORT),
	M_SCALAR(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX),
	M_SCALAR(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS),
	M_OUT(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
	      sizeof(struct ib_uverbs_gid_entry)),
};

static const struct ur_attr_spec a_async_event[] = {
	FD_NEW(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE),
};

static const struct ur_attr_spec a_destroy_pd[] = {M_OBJ(0, PD)};
static const struct ur_attr_spec a_destroy_mr[] = {M_OBJ(0, MR)};
static const struct ur_attr_spec a_destroy_mw[] = {M_OBJ(0, UVERBS_OBJECT_MW)};
static const struct ur_attr_spec a_destroy_ah[] = {M_OBJ(0, UVERBS_OBJECT_AH)};
static const struct ur_attr_spec a_destroy_xrcd[] = {M_OBJ(0, XRCD)};
static const struct ur_attr_spec a_destroy_dm[] = {M_OBJ(0, DM)};

static const struct ur_attr_spec a_create_cq[] = {
	NEW(UVERBS_ATTR_CREATE_CQ_HANDLE),
	M_SCALAR(UVERBS_ATTR_CREATE_CQ_CQE),
	M_IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 8),
	O_FD(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL),
	M_SCALAR(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR),
	O_SCALAR(UVERBS_ATTR_CREATE_CQ_FLAGS),
	M_OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
	O_FD(UVERBS_ATTR_CREATE_CQ_EVENT_FD),
	UHW,
};

static const struct ur_attr_spec a_destroy_cq[] = {
	M_OBJ(UVERBS_ATTR_DESTROY_CQ_HANDLE, CQ),
	M_OUT(UVERBS_ATTR_DESTROY_CQ_RESP,
	      sizeof(struct ib_uverbs_destroy_cq_resp)),
};

static const struct ur_attr_spec a_create_qp[] = {
	NEW(UVERBS_ATTR_CREATE_QP_HANDLE),
	O_OBJ(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, XRCD),
	O_OBJ(UVERBS_ATTR_CREATE_QP_PD_HANDLE, PD),
	O_OBJ(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, SRQ),
	O_OBJ(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, CQ),
	O_OBJ(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, CQ),
	O_OBJ(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE,
	      UVERBS_OBJECT_RWQ_IND_TBL),
	M_IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 8),
	M_IN(UVERBS_ATTR_CREATE_QP_CAP, sizeof(struct ib_uverbs_qp_cap),
	     sizeof(struct ib_uverbs_qp_cap)),
	M_SCALAR(UVERBS_ATTR_CREATE_QP_TYPE),
	O_SCALAR(UVERBS_ATTR_CREATE_QP_FLAGS),
	O_SCALAR(UVERBS_ATTR_CREATE_QP_SOURCE_QPN),
	O_FD(UVERBS_ATTR_CREATE_QP_EVENT_FD),
	M_OUT(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(struct ib_uverbs_qp_cap)),
	M_OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4),
	UHW,
};

static const struct ur_attr_spec a_destroy_qp[] = {
	M_OBJ(UVERBS_ATTR_DESTROY_QP_HANDLE, QP),
	M_OUT(UVERBS_ATTR_DESTROY_QP_RESP,
	      sizeof(struct ib_uverbs_destroy_qp_resp)),
};

static const struct ur_attr_spec a_create_srq[] = {
	NEW(UVERBS_ATTR_CREATE_SRQ_HANDLE),
	M_OBJ(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, PD),
	O_OBJ(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, XRCD),
	O_OBJ(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, CQ),
	M_IN(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 8),
	M_SCALAR(UVERBS_ATTR_CREATE_SRQ_MAX_WR),
	M_SCALAR(UVERBS_ATTR_CREATE_SRQ_MAX_SGE),
	M_SCALAR(UVERBS_ATTR_CREATE_SRQ_LIMIT),
	O_SCALAR(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS),
	M_SCALAR(UVERBS_ATTR_CREATE_SRQ_TYPE),
	O_FD(UVERBS_ATTR_CREATE_SRQ_EVENT_FD),
	M_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4),
	M_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4),
	O_OUT(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, 4),
	UHW,
};

static const struct ur_attr_spec a_destroy_srq[] = {
	M_OBJ(UVERBS_ATTR_DESTROY_SRQ_HANDLE, SRQ),
	M_OUT(UVERBS_ATTR_DESTROY_SRQ_RESP,
	      sizeof(struct ib_uverbs_destroy_srq_resp)),
};

static const struct ur_attr_spec a_advise_mr[] = {
	M_OBJ(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, PD),
	M_SCALAR(UVERBS_ATTR_ADVISE_MR_ADVICE),
	M_SCALAR(UVERBS_ATTR_ADVISE_MR_FLAGS),
	M_IN(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sizeof(struct ib_uverbs_sge), 0),
};

static const struct ur_attr_spec a_query_mr[] = {
	M_OBJ(UVERBS_ATTR_QUERY_MR_HANDLE, MR),
	M_OUT(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4),
	M_OUT(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4),
	M_OUT(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8),
	O_OUT(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8),
};

static const struct ur_attr_spec a_reg_dmabuf_mr[] = {
	NEW(UVERBS_ATTR_REG_DMABUF_MR_HANDLE),
	M_OBJ(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, PD),
	M_IN(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, 8),
	M_IN(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 8),
	M_IN(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, 8),
	M_SCALAR(UVERBS_ATTR_REG_DMABUF_MR_FD),
	M_SCALAR(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS),
	M_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4),
	M_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4),
	UHW,
};

static const struct ur_attr_spec a_reg_dm_mr[] = {
	NEW(UVERBS_ATTR_REG_DM_MR_HANDLE),
	M_IN(UVERBS_ATTR_REG_DM_MR_OFFSET, 8, 8),
	M_IN(UVERBS_ATTR_REG_DM_MR_LENGTH, 8, 8),
	M_OBJ(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, PD),
	M_SCALAR(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS),
	M_OBJ(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, DM),
	M_OUT(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4),
	M_OUT(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4),
};

static const struct ur_attr_spec a_alloc_dm[] = {
	NEW(UVERBS_ATTR_ALLOC_DM_HANDLE),
	M_IN(UVERBS_ATTR_ALLOC_DM_LENGTH, 8, 8),
	M_SCALAR(UVERBS_ATTR_ALLOC_DM_ALIGNMENT),
	UHW,
};

static const struct ur_attr_spec a_query_dm[] = {
	M_OBJ(UROCE_ATTR_DM_QUERY_HANDLE, DM),
	M_OUT(UROCE_ATTR_DM_QUERY_RESP, sizeof(struct uroce_query_dm_resp)),
};

static const struct ur_attr_spec a_engine_open[] = {
	M_OUT(UROCE_ATTR_ENGINE_OPEN_RESP,
	      offsetof(struct uroce_engine_open, outbox_fd)),
};

static const struct ur_attr_spec a_engine_apart[] = {
	M_OUT(UROCE_ATTR_ENGINE_APART_RESP, sizeof(struct uroce_engine_apart)),
};

static const struct ur_attr_spec a_engine_room[] = {
	M_OUT(UROCE_ATTR_ENGINE_ROOM_RESP, 4),
};

static const struct ur_attr_spec a_engine_share[] = {
	M_SCALAR(UROCE_ATTR_ENGINE_SHARE_SLOT),
	M_OUT(UROCE_ATTR_ENGINE_SHARE_RESP, sizeof(struct uroce_engine_apart)),
};

static const struct ur_attr_spec a_engine_import[] = {
	M_OUT(UROCE_ATTR_ENGINE_IMPORT_RESP, sizeof(struct uroce_engine_apart)),
};

static const struct ur_attr_spec a_engine_pd[] = {
	M_OBJ(UROCE_ATTR_ENGINE_PD_HANDLE, PD),
	M_OUT(UROCE_ATTR_ENGINE_PD_RESP, sizeof(struct uroce_alloc_pd_resp)),
};

static const struct ur_attr_spec a_engine_socket[] = {
	M_SCALAR(UROCE_ATTR_ENGINE_SOCKET_INDEX),
	M_OUT(UROCE_ATTR_ENGINE_SOCKET_RESP,
	      sizeof(struct uroce_engine_socket)),
};

static const struct ur_attr_spec a_engine_ring[] = {
	M_SCALAR(UROCE_ATTR_ENGINE_RING_SLOT),
	M_OUT(UROCE_ATTR_ENGINE_RING_RESP,
	      offsetof(struct uroce_engine_ring, same_user)),
};

static const struct ur_attr_spec a_engine_resume[] = {
	M_IN(UROCE_ATTR_ENGINE_RESUME, sizeof(struct uroce_engine_resume),
	     sizeof(struct uroce_engine_resume)),
	M_OUT(UROCE_ATTR_ENGINE_RESUME_RESP, sizeof(u32)),
};

static const struct ur_attr_spec a_engine_async[] = {
	M_OUT(UROCE_ATTR_ENGINE_ASYNC_RESP,
	      offsetof(struct uroce_engine_async, dereg_hint)),
	O_FD(UROCE_ATTR_ENGINE_ASYNC_FILE),
};

static const struct ur_attr_spec a_engine_qp[] = {
	M_OBJ(UROCE_ATTR_ENGINE_QP_HANDLE, QP),
	M_OUT(UROCE_ATTR_ENGINE_QP_RESP, sizeof(struct uroce_engine_qp)),
	O_IN(UROCE_ATTR_ENGINE_QP_MODIFY, sizeof(struct ib_uverbs_modify_qp),
	     UROCE_ENGINE_QP_MODIFIES * sizeof(struct ib_uverbs_modify_qp)),
};

static const struct ur_attr_spec a_engine_ah[] = {
	M_OBJ(UROCE_ATTR_ENGINE_AH_HANDLE, UVERBS_OBJECT_AH),
	M_OUT(UROCE_ATTR_ENGINE_AH_RESP, sizeof(struct uroce_engine_path)),
};

static const struct ur_attr_spec a_engine_cq[] = {
	M_OBJ(UROCE_ATTR_ENGINE_CQ_HANDLE, CQ),
	M_OUT(UROCE_ATTR_ENGINE_CQ_RESP, 4),
};

/* raw/; without it the methods are unknown, as in a kernel without the objects. */
#if UROCE_WITH_RAW_PACKET
static const struct ur_attr_spec a_destroy_flow[] = {
	M_OBJ(UVERBS_ATTR_DESTROY_FLOW_HANDLE, UVERBS_OBJECT_FLOW)};
static const struct ur_attr_spec a_engine_flow[] = {
	M_OBJ(UROCE_ATTR_ENGINE_FLOW_HANDLE, UVERBS_OBJECT_FLOW),
	M_OUT(UROCE_ATTR_ENGINE_FLOW_RESP, sizeof(struct uroce_engine_flow)),
};
static const struct ur_attr_spec a_engine_raw[] = {
	M_OUT(UROCE_ATTR_ENGINE_RAW_RESP, sizeof(struct uroce_engine_raw)),
};
static const struct ur_attr_spec a_destroy_counters[] = {
	M_OBJ(0, UVERBS_OBJECT_COUNTERS)};

static const struct ur_attr_spec a_create_wq[] = {
	NEW(UVERBS_ATTR_CREATE_WQ_HANDLE),
	M_OBJ(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, PD),
	M_OBJ(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, CQ),
	M_IN(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8, 8),
	M_SCALAR(UVERBS_ATTR_CREATE_WQ_TYPE),
	O_FD(UVERBS_ATTR_CREATE_WQ_EVENT_FD),
	M_SCALAR(UVERBS_ATTR_CREATE_WQ_MAX_WR),
	M_SCALAR(UVERBS_ATTR_CREATE_WQ_MAX_SGE),
	O_SCALAR(UVERBS_ATTR_CREATE_WQ_FLAGS),
	M_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4),
	M_OUT(UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4),
	O_OUT(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4),
	UHW,
};

static const struct ur_attr_spec a_destroy_wq[] = {
	M_OBJ(UVERBS_ATTR_DESTROY_WQ_HANDLE, UVERBS_OBJECT_WQ),
	M_OUT(UVERBS_ATTR_DESTROY_WQ_RESP, 4),
};

static const struct ur_attr_spec a_destroy_rwq_table[] = {
	M_OBJ(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE,
	      UVERBS_OBJECT_RWQ_IND_TBL)};

static const struct ur_attr_spec a_create_counters[] = {
	NEW(UVERBS_ATTR_CREATE_COUNTERS_HANDLE),
};

static const struct ur_attr_spec a_read_counters[] = {
	M_OBJ(UVERBS_ATTR_READ_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS),
	M_OUT(UVERBS_ATTR_READ_COUNTERS_BUFF, 8),
	M_SCALAR(UVERBS_ATTR_READ_COUNTERS_FLAGS),
};
#endif

#define ASKS(name, attrs, handler)                                             \
	.method = (name), .specs = (attrs), .n_specs = UR_ARRAY_SIZE(attrs),   \
	.fn = (handler)
#define METHOD(obj, ...) {.object = UVERBS_OBJECT_##obj, ASKS(__VA_ARGS__)}
#define EARLY(obj, ...)                                                        \
	{.object = UVERBS_OBJECT_##obj,                                        \
	 ASKS(__VA_ARGS__),                                                    \
	 .without_context = true}
#define OF_USER(obj, ...)                                                      \
	{.object = UVERBS_OBJECT_##obj, ASKS(__VA_ARGS__), .of_user = true}

static const struct ur_method methods[] = {
	EARLY(DEVICE, UVERBS_METHOD_INVOKE_WRITE, a_invoke_write, NULL),
	METHOD(DEVICE, UVERBS_METHOD_INFO_HANDLES, a_info_handles,
	       ur_m_info_handles),
	METHOD(DEVICE, UVERBS_METHOD_QUERY_PORT, a_query_port,
	       ur_m_query_port),
	METHOD(DEVICE, UROCE_METHOD_QUERY_PORT_SPEED, a_port_speed,
	       ur_m_query_port_speed),
	EARLY(DEVICE, UVERBS_METHOD_GET_CONTEXT, a_context, ur_m_get_context),
	METHOD(DEVICE, UVERBS_METHOD_QUERY_CONTEXT, a_context,
	       ur_m_query_context),
	METHOD(DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, a_gid_table,
	       ur_m_query_gid_table),
	METHOD(DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, a_gid_entry,
	       ur_m_query_gid_entry),
	METHOD(ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, a_async_event,
	       ur_m_async_event_alloc),
	METHOD(PD, UVERBS_METHOD_PD_DESTROY, a_destroy_pd, ur_m_destroy),
	METHOD(CQ, UVERBS_METHOD_CQ_CREATE, a_create_cq, ur_m_create_cq),
	METHOD(CQ, UVERBS_METHOD_CQ_DESTROY, a_destroy_cq, ur_m_destroy),
	METHOD(QP, UVERBS_METHOD_QP_CREATE, a_create_qp, ur_m_create_qp),
	METHOD(QP, UVERBS_METHOD_QP_DESTROY, a_destroy_qp, ur_m_destroy),
	METHOD(SRQ, UVERBS_METHOD_SRQ_CREATE, a_create_srq, ur_m_create_srq),
	METHOD(SRQ, UVERBS_METHOD_SRQ_DESTROY, a_destroy_srq,
	       ur_m_destroy),
	METHOD(AH, UVERBS_METHOD_AH_DESTROY, a_destroy_ah, ur_m_destroy),
	METHOD(MR, UVERBS_METHOD_DM_MR_REG, a_reg_dm_mr, ur_m_reg_dm_mr),
	METHOD(MR, UVERBS_METHOD_MR_DESTROY, a_destroy_mr, ur_m_destroy),
	METHOD(MR, UVERBS_METHOD_ADVISE_MR, a_advise_mr, ur_m_advise_mr),
	METHOD(MR, UVERBS_METHOD_QUERY_MR, a_query_mr, ur_m_query_mr),
	METHOD(MR, UVERBS_METHOD_REG_DMABUF_MR, a_reg_dmabuf_mr,
	       ur_m_reg_dmabuf_mr),
	METHOD(MW, UVERBS_METHOD_MW_DESTROY, a_destroy_mw, ur_m_destroy),
	METHOD(XRCD, UVERBS_METHOD_XRCD_DESTROY, a_destroy_xrcd,
	       ur_m_destroy),
	METHOD(DM, UVERBS_METHOD_DM_ALLOC, a_alloc_dm, ur_m_alloc_dm),
	METHOD(DM, UVERBS_METHOD_DM_FREE, a_destroy_dm, ur_m_destroy),
	METHOD(DM, UROCE_METHOD_DM_QUERY, a_query_dm, ur_m_query_dm),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_OPEN, a_engine_open,
	       ur_m_engine_open),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_APART, a_engine_apart,
	       ur_m_engine_apart),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_ROOM, a_engine_room,
	       ur_m_engine_room),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_SOCKET, a_engine_socket,
	       ur_m_engine_socket),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_RING, a_engine_ring,
	       ur_m_engine_ring),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_SHARE, a_engine_share,
	       ur_m_engine_share),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_IMPORT, a_engine_import,
	       ur_m_engine_import),
	METHOD(PD, UROCE_METHOD_ENGINE_PD, a_engine_pd, ur_m_engine_pd),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_RESUME, a_engine_resume,
	       ur_m_engine_resume),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_ASYNC, a_engine_async,
	       ur_m_engine_async),
	METHOD(QP, UROCE_METHOD_ENGINE_QP, a_engine_qp, ur_m_engine_qp),
	METHOD(AH, UROCE_METHOD_ENGINE_AH, a_engine_ah, ur_m_engine_ah),
	OF_USER(CQ, UROCE_METHOD_ENGINE_CQ, a_engine_cq, ur_m_engine_cq),
#if UROCE_WITH_RAW_PACKET
	METHOD(WQ, UVERBS_METHOD_WQ_CREATE, a_create_wq, ur_m_create_wq),
	METHOD(WQ, UVERBS_METHOD_WQ_DESTROY, a_destroy_wq, ur_m_destroy),
	METHOD(RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
	       a_destroy_rwq_table, ur_m_destroy),
	METHOD(FLOW, UVERBS_METHOD_FLOW_DESTROY, a_destroy_flow, ur_m_destroy),
	METHOD(FLOW, UROCE_METHOD_ENGINE_FLOW, a_engine_flow,
	       ur_m_engine_flow),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_RAW, a_engine_raw, ur_m_engine_raw),
	METHOD(COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, a_create_counters,
	       ur_m_create_counters),
	METHOD(COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, a_destroy_counters,
	       ur_m_destroy),
	METHOD(COUNTERS, UVERBS_METHOD_COUNTERS_READ, a_read_counters,
	       ur_m_read_counters),
#endif
};
/* clang-format on */

const struct ur_method *ur_method_find(u16 object, u16 method)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(methods); i++)
		if (methods[i].object == object && methods[i].method == method)
			return &methods[i];
	return NULL;
}
