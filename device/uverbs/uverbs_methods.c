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
/* A method: its object and name, its handler, its attributes. */
#define ROW(object_, name, handler, more, ...)                                 \
	{.object = (object_), .method = (name), .fn = (handler),               \
	 .specs = (const struct ur_attr_spec[]){__VA_ARGS__},                  \
	 .n_specs = sizeof((const struct ur_attr_spec[]){__VA_ARGS__}) /       \
		    sizeof(struct ur_attr_spec),                               \
	 more}
#define METHOD(obj, name, handler, ...)                                        \
	ROW(UVERBS_OBJECT_##obj, name, handler, .of_user = false, __VA_ARGS__)
#define EARLY(obj, name, handler, ...)                                         \
	ROW(UVERBS_OBJECT_##obj, name, handler, .without_context = true, __VA_ARGS__)
#define OF_USER(obj, name, handler, ...)                                       \
	ROW(UVERBS_OBJECT_##obj, name, handler, .of_user = true, __VA_ARGS__)

static const struct ur_method methods[] = {
	EARLY(DEVICE, UVERBS_METHOD_INVOKE_WRITE, NULL,
		M_SCALAR(UVERBS_ATTR_WRITE_CMD),
		/* not copied here: sizes depend on the command */
		O_OUT(UVERBS_ATTR_CORE_IN, 0),
		O_OUT(UVERBS_ATTR_CORE_OUT, 0),
		UHW),
	METHOD(DEVICE, UVERBS_METHOD_INFO_HANDLES, ur_m_info_handles,
		M_SCALAR(UVERBS_ATTR_INFO_OBJECT_ID),
		O_OUT(UVERBS_ATTR_INFO_TOTAL_HANDLES, 4),
		M_OUT(UVERBS_ATTR_INFO_HANDLES_LIST, 4)),
	METHOD(DEVICE, UVERBS_METHOD_QUERY_PORT, ur_m_query_port,
		M_SCALAR(UVERBS_ATTR_QUERY_PORT_PORT_NUM),
		M_OUT(UVERBS_ATTR_QUERY_PORT_RESP, 40)),
	METHOD(DEVICE, UROCE_METHOD_QUERY_PORT_SPEED, ur_m_query_port_speed,
		M_SCALAR(UROCE_ATTR_QUERY_PORT_SPEED_PORT_NUM),
		M_OUT(UROCE_ATTR_QUERY_PORT_SPEED_RESP, 8)),
	EARLY(DEVICE, UVERBS_METHOD_GET_CONTEXT, ur_m_get_context,
		O_OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
		O_OUT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
		UHW),
	METHOD(DEVICE, UVERBS_METHOD_QUERY_CONTEXT, ur_m_query_context,
		O_OUT(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4),
		O_OUT(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
		UHW),
	METHOD(DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, ur_m_query_gid_table,
		M_SCALAR(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE),
		O_IN(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 4, 8),
		M_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, 0),
		M_OUT(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, 8)),
	METHOD(DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, ur_m_query_gid_entry,
		M_SCALAR(UVERBS_ATTR_QUERY_GID_ENTRY_PORT),
		M_SCALAR(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX),
		M_SCALAR(UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS),
		M_OUT(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof(struct ib_uverbs_gid_entry))),
	METHOD(ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, ur_m_async_event_alloc,
		FD_NEW(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)),
	METHOD(PD, UVERBS_METHOD_PD_DESTROY, ur_m_destroy, M_OBJ(0, PD)),
	METHOD(CQ, UVERBS_METHOD_CQ_CREATE, ur_m_create_cq,
		NEW(UVERBS_ATTR_CREATE_CQ_HANDLE),
		M_SCALAR(UVERBS_ATTR_CREATE_CQ_CQE),
		M_IN(UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 8),
		O_FD(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL),
		M_SCALAR(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR),
		O_SCALAR(UVERBS_ATTR_CREATE_CQ_FLAGS),
		M_OUT(UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
		O_FD(UVERBS_ATTR_CREATE_CQ_EVENT_FD),
		UHW),
	METHOD(CQ, UVERBS_METHOD_CQ_DESTROY, ur_m_destroy,
		M_OBJ(UVERBS_ATTR_DESTROY_CQ_HANDLE, CQ),
		M_OUT(UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(struct ib_uverbs_destroy_cq_resp))),
	METHOD(QP, UVERBS_METHOD_QP_CREATE, ur_m_create_qp,
		NEW(UVERBS_ATTR_CREATE_QP_HANDLE),
		O_OBJ(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, XRCD),
		O_OBJ(UVERBS_ATTR_CREATE_QP_PD_HANDLE, PD),
		O_OBJ(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, SRQ),
		O_OBJ(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, CQ),
		O_OBJ(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, CQ),
		O_OBJ(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, UVERBS_OBJECT_RWQ_IND_TBL),
		M_IN(UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 8),
		M_IN(UVERBS_ATTR_CREATE_QP_CAP, sizeof(struct ib_uverbs_qp_cap),
		     sizeof(struct ib_uverbs_qp_cap)),
		M_SCALAR(UVERBS_ATTR_CREATE_QP_TYPE),
		O_SCALAR(UVERBS_ATTR_CREATE_QP_FLAGS),
		O_SCALAR(UVERBS_ATTR_CREATE_QP_SOURCE_QPN),
		O_FD(UVERBS_ATTR_CREATE_QP_EVENT_FD),
		M_OUT(UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(struct ib_uverbs_qp_cap)),
		M_OUT(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4),
		UHW),
	METHOD(QP, UVERBS_METHOD_QP_DESTROY, ur_m_destroy,
		M_OBJ(UVERBS_ATTR_DESTROY_QP_HANDLE, QP),
		M_OUT(UVERBS_ATTR_DESTROY_QP_RESP, sizeof(struct ib_uverbs_destroy_qp_resp))),
	METHOD(SRQ, UVERBS_METHOD_SRQ_CREATE, ur_m_create_srq,
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
		UHW),
	METHOD(SRQ, UVERBS_METHOD_SRQ_DESTROY, ur_m_destroy,
		M_OBJ(UVERBS_ATTR_DESTROY_SRQ_HANDLE, SRQ),
		M_OUT(UVERBS_ATTR_DESTROY_SRQ_RESP, sizeof(struct ib_uverbs_destroy_srq_resp))),
	METHOD(AH, UVERBS_METHOD_AH_DESTROY, ur_m_destroy, M_OBJ(0, UVERBS_OBJECT_AH)),
	METHOD(MR, UVERBS_METHOD_DM_MR_REG, ur_m_reg_dm_mr,
		NEW(UVERBS_ATTR_REG_DM_MR_HANDLE),
		M_IN(UVERBS_ATTR_REG_DM_MR_OFFSET, 8, 8),
		M_IN(UVERBS_ATTR_REG_DM_MR_LENGTH, 8, 8),
		M_OBJ(UVERBS_ATTR_REG_DM_MR_PD_HANDLE, PD),
		M_SCALAR(UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS),
		M_OBJ(UVERBS_ATTR_REG_DM_MR_DM_HANDLE, DM),
		M_OUT(UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4),
		M_OUT(UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4)),
	METHOD(MR, UVERBS_METHOD_MR_DESTROY, ur_m_destroy, M_OBJ(0, MR)),
	METHOD(MR, UVERBS_METHOD_ADVISE_MR, ur_m_advise_mr,
		M_OBJ(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, PD),
		M_SCALAR(UVERBS_ATTR_ADVISE_MR_ADVICE),
		M_SCALAR(UVERBS_ATTR_ADVISE_MR_FLAGS),
		M_IN(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sizeof(struct ib_uverbs_sge), 0)),
	METHOD(MR, UVERBS_METHOD_QUERY_MR, ur_m_query_mr,
		M_OBJ(UVERBS_ATTR_QUERY_MR_HANDLE, MR),
		M_OUT(UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4),
		M_OUT(UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4),
		M_OUT(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8),
		O_OUT(UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8)),
	METHOD(MR, UVERBS_METHOD_REG_DMABUF_MR, ur_m_reg_dmabuf_mr,
		NEW(UVERBS_ATTR_REG_DMABUF_MR_HANDLE),
		M_OBJ(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, PD),
		M_IN(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, 8),
		M_IN(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 8),
		M_IN(UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, 8),
		M_SCALAR(UVERBS_ATTR_REG_DMABUF_MR_FD),
		M_SCALAR(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS),
		M_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4),
		M_OUT(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4),
		UHW),
	METHOD(MW, UVERBS_METHOD_MW_DESTROY, ur_m_destroy, M_OBJ(0, UVERBS_OBJECT_MW)),
	METHOD(XRCD, UVERBS_METHOD_XRCD_DESTROY, ur_m_destroy, M_OBJ(0, XRCD)),
	METHOD(DM, UVERBS_METHOD_DM_ALLOC, ur_m_alloc_dm,
		NEW(UVERBS_ATTR_ALLOC_DM_HANDLE),
		M_IN(UVERBS_ATTR_ALLOC_DM_LENGTH, 8, 8),
		M_SCALAR(UVERBS_ATTR_ALLOC_DM_ALIGNMENT),
		UHW),
	METHOD(DM, UVERBS_METHOD_DM_FREE, ur_m_destroy, M_OBJ(0, DM)),
	METHOD(DM, UROCE_METHOD_DM_QUERY, ur_m_query_dm,
		M_OBJ(UROCE_ATTR_DM_QUERY_HANDLE, DM),
		M_OUT(UROCE_ATTR_DM_QUERY_RESP, sizeof(struct uroce_query_dm_resp))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_OPEN, ur_m_engine_open,
		M_OUT(UROCE_ATTR_ENGINE_OPEN_RESP, offsetof(struct uroce_engine_open, outbox_fd))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_APART, ur_m_engine_apart,
		M_OUT(UROCE_ATTR_ENGINE_APART_RESP, sizeof(struct uroce_engine_apart))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_ROOM, ur_m_engine_room,
		M_OUT(UROCE_ATTR_ENGINE_ROOM_RESP, 4)),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_SOCKET, ur_m_engine_socket,
		M_SCALAR(UROCE_ATTR_ENGINE_SOCKET_INDEX),
		M_OUT(UROCE_ATTR_ENGINE_SOCKET_RESP, sizeof(struct uroce_engine_socket))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_RING, ur_m_engine_ring,
		M_SCALAR(UROCE_ATTR_ENGINE_RING_SLOT),
		M_OUT(UROCE_ATTR_ENGINE_RING_RESP, offsetof(struct uroce_engine_ring, same_user))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_SHARE, ur_m_engine_share,
		M_SCALAR(UROCE_ATTR_ENGINE_SHARE_SLOT),
		M_OUT(UROCE_ATTR_ENGINE_SHARE_RESP, sizeof(struct uroce_engine_apart))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_IMPORT, ur_m_engine_import,
		M_OUT(UROCE_ATTR_ENGINE_IMPORT_RESP, sizeof(struct uroce_engine_apart))),
	METHOD(PD, UROCE_METHOD_ENGINE_PD, ur_m_engine_pd,
		M_OBJ(UROCE_ATTR_ENGINE_PD_HANDLE, PD),
		M_OUT(UROCE_ATTR_ENGINE_PD_RESP, sizeof(struct uroce_alloc_pd_resp))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_RESUME, ur_m_engine_resume,
		M_IN(UROCE_ATTR_ENGINE_RESUME, sizeof(struct uroce_engine_resume),
		     sizeof(struct uroce_engine_resume)),
		M_OUT(UROCE_ATTR_ENGINE_RESUME_RESP, sizeof(u32))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_ASYNC, ur_m_engine_async,
		M_OUT(UROCE_ATTR_ENGINE_ASYNC_RESP, offsetof(struct uroce_engine_async, destroy_hint)),
		O_FD(UROCE_ATTR_ENGINE_ASYNC_FILE)),
	METHOD(QP, UROCE_METHOD_ENGINE_QP, ur_m_engine_qp,
		M_OBJ(UROCE_ATTR_ENGINE_QP_HANDLE, QP),
		M_OUT(UROCE_ATTR_ENGINE_QP_RESP, sizeof(struct uroce_engine_qp)),
		O_IN(UROCE_ATTR_ENGINE_QP_MODIFY, sizeof(struct ib_uverbs_modify_qp),
		     UROCE_ENGINE_QP_MODIFIES * sizeof(struct ib_uverbs_modify_qp))),
	METHOD(AH, UROCE_METHOD_ENGINE_AH, ur_m_engine_ah,
		M_OBJ(UROCE_ATTR_ENGINE_AH_HANDLE, UVERBS_OBJECT_AH),
		M_OUT(UROCE_ATTR_ENGINE_AH_RESP, sizeof(struct uroce_engine_path))),
	OF_USER(CQ, UROCE_METHOD_ENGINE_CQ, ur_m_engine_cq,
		M_OBJ(UROCE_ATTR_ENGINE_CQ_HANDLE, CQ),
		M_OUT(UROCE_ATTR_ENGINE_CQ_RESP, 4)),
	/* raw/; without it the methods are unknown, as in a kernel without the objects. */
#if UROCE_WITH_RAW_PACKET
	METHOD(WQ, UVERBS_METHOD_WQ_CREATE, ur_m_create_wq,
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
		UHW),
	METHOD(WQ, UVERBS_METHOD_WQ_DESTROY, ur_m_destroy,
		M_OBJ(UVERBS_ATTR_DESTROY_WQ_HANDLE, UVERBS_OBJECT_WQ),
		M_OUT(UVERBS_ATTR_DESTROY_WQ_RESP, 4)),
	METHOD(RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY, ur_m_destroy,
		M_OBJ(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, UVERBS_OBJECT_RWQ_IND_TBL)),
	METHOD(FLOW, UVERBS_METHOD_FLOW_DESTROY, ur_m_destroy,
		M_OBJ(UVERBS_ATTR_DESTROY_FLOW_HANDLE, UVERBS_OBJECT_FLOW)),
	METHOD(FLOW, UROCE_METHOD_ENGINE_FLOW, ur_m_engine_flow,
		M_OBJ(UROCE_ATTR_ENGINE_FLOW_HANDLE, UVERBS_OBJECT_FLOW),
		M_OUT(UROCE_ATTR_ENGINE_FLOW_RESP, sizeof(struct uroce_engine_flow))),
	OF_USER(DEVICE, UROCE_METHOD_ENGINE_RAW, ur_m_engine_raw,
		M_OUT(UROCE_ATTR_ENGINE_RAW_RESP, sizeof(struct uroce_engine_raw))),
	METHOD(COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, ur_m_create_counters,
		NEW(UVERBS_ATTR_CREATE_COUNTERS_HANDLE)),
	METHOD(COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY, ur_m_destroy,
		M_OBJ(0, UVERBS_OBJECT_COUNTERS)),
	METHOD(COUNTERS, UVERBS_METHOD_COUNTERS_READ, ur_m_read_counters,
		M_OBJ(UVERBS_ATTR_READ_COUNTERS_HANDLE, UVERBS_OBJECT_COUNTERS),
		M_OUT(UVERBS_ATTR_READ_COUNTERS_BUFF, 8),
		M_SCALAR(UVERBS_ATTR_READ_COUNTERS_FLAGS)),
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
