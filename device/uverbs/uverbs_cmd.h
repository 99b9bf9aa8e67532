/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Handlers of commands, one file for each object. All run with the control lock held and
 * return 0 or -errno as the kernel does.
 *
 * ur_w_*, ur_x_*: legacy and extended write commands. in: the core request, zero-filled to
 * its full size; out: the core response, zeroed.
 *
 * ur_m_*: ioctl methods, with the accessors below.
 */
#ifndef UR_DEVICE_UVERBS_UVERBS_CMD_H
#define UR_DEVICE_UVERBS_UVERBS_CMD_H

#include <rdma/ib_user_verbs.h>
#include "device/uverbs/ufile.h"

/* The core part of a write command, in the client's memory. */
struct ur_core {
	u64 in_addr, out_addr;
	u32 in_len, out_len;
	bool in_inline; /* in_addr is the data itself, at most 8 bytes */
};

/* Carries out a write command: copies its core in, calls its handler with the lock held,
 * and queues the response. Returns 0 or -errno. Lock not held. */
int ur_write_invoke(struct ur_cmd *cmd, u32 command,
		    const struct ur_core *core);

/* ---- attributes of an ioctl command ---- */

/* Returns whether the attribute was given. */
bool ur_attr_given(const struct ur_cmd *cmd, u16 id);
/* Returns the length of an input or output buffer, or 0 if it was not given. */
u32 ur_attr_len(const struct ur_cmd *cmd, u16 id);
/* Copies an input to dst, padded with zeros to len. */
void ur_attr_in(const struct ur_cmd *cmd, u16 id, void *dst, size_t len);
/* Returns a scalar of 4 or 8 bytes, or 0 if it was not given. */
u64 ur_attr_u64(const struct ur_cmd *cmd, u16 id);
/* Puts a scalar into *v. Returns 0, or -EINVAL if it exceeds 32 bits. */
int ur_attr_u32(const struct ur_cmd *cmd, u16 id, u32 *v);
/* Returns the object of a handle attribute, or NULL if it was not given. */
void *ur_attr_obj(const struct ur_cmd *cmd, u16 id);
/* Returns a descriptor number of the client, or -1 if it was not given. */
int ur_attr_fd(const struct ur_cmd *cmd, u16 id);
/* Fills an output, truncated to the client's room. Does nothing if it was not given.
 * Returns 0 or -ENOMEM. */
int ur_attr_out(struct ur_cmd *cmd, u16 id, const void *src, size_t len);
/* Sets a new handle or descriptor in the response. Returns 0 or -ENOMEM. */
int ur_attr_set(struct ur_cmd *cmd, u16 id, u64 value);

#define UR_WRITE_HANDLER(name) \
	int name(struct ur_cmd *cmd, const void *in, void *out)
#define UR_METHOD_HANDLER(name) int name(struct ur_cmd *cmd)

/* context.c, query.c */
UR_WRITE_HANDLER(ur_w_get_context);
UR_METHOD_HANDLER(ur_m_get_context);
UR_METHOD_HANDLER(ur_m_query_context);
UR_METHOD_HANDLER(ur_m_async_event_alloc);
UR_WRITE_HANDLER(ur_w_query_device);
UR_WRITE_HANDLER(ur_x_query_device);
UR_WRITE_HANDLER(ur_w_query_port);
UR_METHOD_HANDLER(ur_m_query_port);
UR_METHOD_HANDLER(ur_m_query_port_speed);
UR_METHOD_HANDLER(ur_m_query_gid_table);
UR_METHOD_HANDLER(ur_m_query_gid_entry);
UR_METHOD_HANDLER(ur_m_info_handles);
/* obj_pd.c */
UR_WRITE_HANDLER(ur_w_alloc_pd);
UR_METHOD_HANDLER(ur_m_engine_pd);
/* mr_reg.c, obj_mr.c, obj_mw.c, obj_dm.c */
UR_WRITE_HANDLER(ur_w_reg_mr);
UR_WRITE_HANDLER(ur_w_rereg_mr);
UR_METHOD_HANDLER(ur_m_advise_mr);
UR_METHOD_HANDLER(ur_m_query_mr);
UR_METHOD_HANDLER(ur_m_reg_dmabuf_mr);
UR_METHOD_HANDLER(ur_m_reg_dm_mr);
UR_WRITE_HANDLER(ur_w_alloc_mw);
UR_METHOD_HANDLER(ur_m_alloc_dm);
UR_METHOD_HANDLER(ur_m_query_dm);
/* program_engine.c */
UR_METHOD_HANDLER(ur_m_engine_open);
UR_METHOD_HANDLER(ur_m_engine_apart);
UR_METHOD_HANDLER(ur_m_engine_room);
UR_METHOD_HANDLER(ur_m_engine_socket);
UR_METHOD_HANDLER(ur_m_engine_qp);
UR_METHOD_HANDLER(ur_m_engine_ah);
UR_METHOD_HANDLER(ur_m_engine_cq);
UR_METHOD_HANDLER(ur_m_engine_async);
UR_METHOD_HANDLER(ur_m_engine_ring);
UR_METHOD_HANDLER(ur_m_engine_resume);
UR_METHOD_HANDLER(ur_m_engine_share);
UR_METHOD_HANDLER(ur_m_engine_import);
/* obj_chan.c, obj_cq.c */
UR_WRITE_HANDLER(ur_w_create_comp_channel);
UR_WRITE_HANDLER(ur_w_create_cq);
UR_WRITE_HANDLER(ur_x_create_cq);
UR_METHOD_HANDLER(ur_m_create_cq);
UR_WRITE_HANDLER(ur_w_resize_cq);
UR_WRITE_HANDLER(ur_w_req_notify_cq);
UR_WRITE_HANDLER(ur_x_modify_cq);
/* obj_srq.c */
UR_WRITE_HANDLER(ur_w_create_srq);
UR_WRITE_HANDLER(ur_w_create_xsrq);
UR_METHOD_HANDLER(ur_m_create_srq);
UR_WRITE_HANDLER(ur_w_modify_srq);
UR_WRITE_HANDLER(ur_w_query_srq);
/* obj_qp.c, qp_create.c, qp_modify.c */
UR_WRITE_HANDLER(ur_w_create_qp);
UR_WRITE_HANDLER(ur_x_create_qp);
UR_METHOD_HANDLER(ur_m_create_qp);
UR_WRITE_HANDLER(ur_w_open_qp);
UR_WRITE_HANDLER(ur_w_query_qp);
UR_WRITE_HANDLER(ur_w_modify_qp);
UR_WRITE_HANDLER(ur_x_modify_qp);
/* obj_ah.c, obj_mcast.c, obj_xrcd.c */
UR_WRITE_HANDLER(ur_w_create_ah);
UR_WRITE_HANDLER(ur_w_attach_mcast);
UR_WRITE_HANDLER(ur_w_detach_mcast);
UR_WRITE_HANDLER(ur_w_open_xrcd);
/* raw/obj_counters.c */
UR_METHOD_HANDLER(ur_m_create_counters);
UR_METHOD_HANDLER(ur_m_read_counters);
/* raw/obj_flow.c. UR_FLOW_PARTS: maximum number of specs of a flow, as in the kernel;
 * IPv6's spec is the longest. */
#define UR_FLOW_PARTS 10
#define UR_FLOW_CORE_MAX                        \
	(sizeof(struct ib_uverbs_create_flow) + \
	 UR_FLOW_PARTS * sizeof(struct ib_uverbs_flow_spec_ipv6))
UR_WRITE_HANDLER(ur_x_create_flow);
UR_WRITE_HANDLER(ur_x_destroy_flow);
UR_METHOD_HANDLER(ur_m_engine_flow);
UR_METHOD_HANDLER(ur_m_engine_raw);
/* raw/obj_wq.c, raw/obj_rwq_table.c */
UR_WRITE_HANDLER(ur_x_create_wq);
UR_METHOD_HANDLER(ur_m_create_wq);
UR_WRITE_HANDLER(ur_x_modify_wq);
UR_WRITE_HANDLER(ur_x_destroy_wq);
UR_WRITE_HANDLER(ur_x_create_rwq_table);
UR_WRITE_HANDLER(ur_x_destroy_rwq_table);
/* Destroys any object whose DESTROY has no response: attribute 0 is the handle. */
UR_METHOD_HANDLER(ur_m_destroy);

#endif
