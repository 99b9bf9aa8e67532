/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * libibverbs' private provider ABI, as far as this provider needs it.
 *
 * No installed header declares it, and its layout differs between releases even
 * under one version number. The differences are data here (struct ur_layout),
 * so that everything but the glue is the same code for all of them:
 *
 *   UR_PABI_34   rdma-core 34..56  (Debian 12 and 13, Ubuntu 22.04 and 24.04)
 *   UR_PABI_57   57, 58
 *   UR_PABI_59A  59..61            (Ubuntu 26.04)
 *   UR_PABI_59B  62, 63            same symbol version as 59A
 *   UR_PABI_64   64
 *   UR_PABI_65   65
 *
 * tests/abi checks the layouts and the symbol versions of the installed
 * library. Commands and responses are void here: a request is the command
 * header, the kernel's struct and ours in a row (UR_REQ, UR_RESP), and the
 * library fills everything but our part.
 */
#ifndef UR_PROVIDERS_UROCE_PABI_H
#define UR_PROVIDERS_UROCE_PABI_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "util/bytes.h"

enum ur_pabi {
	UR_PABI_34,
	UR_PABI_57,
	UR_PABI_59A,
	UR_PABI_59B,
	UR_PABI_64,
	UR_PABI_65,
	UR_PABI_COUNT,
};

enum ur_op {
#define UR_OP(name, first, whose) UR_OP_##name,
#include "ops.def"
#undef UR_OP
	UR_OP_COUNT,
};

/* Widest verbs_context_ops of all layouts. */
#define UR_OPS_MAX_BYTES (UR_OP_COUNT * sizeof(void *))
/* No layout puts more than this before the ibv_context in verbs_context. */
#define UR_VCTX_FRONT 384
/* Sizes and places in structs with a pthread_mutex_t were measured on x86-64,
 * where it has 40 bytes; elsewhere they are larger by this (arm64: 8). */
#define UR_MUTEX_MORE (sizeof(pthread_mutex_t) - 40)
/* Room for verbs_qp of any release: 368 or 376 bytes are known. */
#define UR_VQP_ROOM 448

struct ur_layout {
	enum ur_pabi pabi;
	u32 context_off; /* offset of the ibv_context in verbs_context */
};

/* Returns the byte offset of an operation in that layout, or -1 where it has
 * none. */
int ur_pabi_op_offset(enum ur_pabi pabi, enum ur_op op);
extern const struct ur_layout ur_pabi_layouts[UR_PABI_COUNT];

/* ---- structs that are the same in all known releases ---- */

struct verbs_list_node {
	struct verbs_list_node *next, *prev;
};

enum {
	VERBS_MATCH_SENTINEL = 0,
	VERBS_MATCH_MODALIAS = 2,
	VERBS_MATCH_DRIVER_ID = 3,
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

struct verbs_sysfs_dev;
struct verbs_device;

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	/* Both return the address of the verbs_context. */
	void *(*alloc_context)(struct ibv_device *device, int cmd_fd,
			       void *private_data);
	void *(*import_context)(struct ibv_device *device, int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

struct verbs_device {
	struct ibv_device device;
	const struct verbs_device_ops *ops;
	int refcount;
	struct verbs_list_node entry;
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

struct verbs_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

struct verbs_srq {
	struct ibv_srq srq;
	enum ibv_srq_type srq_type;
	struct verbs_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

enum ibv_mr_type {
	IBV_MR_TYPE_MR,
	IBV_MR_TYPE_NULL_MR,
	IBV_MR_TYPE_IMPORTED_MR,
	IBV_MR_TYPE_DMABUF_MR,
};

struct verbs_mr {
	struct ibv_mr ibv_mr;
	enum ibv_mr_type mr_type;
	int access;
};

/* Bits of the comp_mask behind ibv_qp_ex in verbs_qp. */
#define VERBS_QP_XRCD 1u
#define VERBS_QP_EX   2u

/* struct ibv_mr_init_attr, of 59 and later; 64 has one member more, which the
 * library keeps to itself. */
enum {
	UR_REG_MR_IOVA = 1 << 0,
	UR_REG_MR_ADDR = 1 << 1,
	UR_REG_MR_FD = 1 << 2,
	UR_REG_MR_FD_OFFSET = 1 << 3,
};

struct ur_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask; /* UR_REG_MR_* */
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

struct verbs_dm {
	struct ibv_dm dm;
	uint32_t handle;
};

struct verbs_counters {
	struct ibv_counters counters;
	uint32_t handle;
};

/* Attributes of an ioctl; one block for each caller, linked. */
struct ibv_command_buffer {
	struct ibv_command_buffer *next;
	struct ib_uverbs_attr *next_attr;
	struct ib_uverbs_attr *last_attr;
	uint8_t uhw_in_idx; /* 0xff: none */
	uint8_t uhw_out_idx;
	uint8_t uhw_in_headroom_dwords;
	uint8_t uhw_out_headroom_dwords;
	uint8_t error_and_fallback;
	uint64_t hdr[3]; /* struct ib_uverbs_ioctl_hdr without its array */
};

/* A command buffer with its attributes behind it, as the library wants. */
#define UR_CMDB(n)                              \
	struct {                                \
		struct ibv_command_buffer cmdb; \
		struct ib_uverbs_attr attr[n];  \
	}

/* Fills b for a method of an object, with attr, which follows it, as the
 * driver's response of size bytes at resp. */
static inline void ur_cmdb_uhw_out(struct ibv_command_buffer *b,
				   struct ib_uverbs_attr *attr, u16 object,
				   u16 method, void *resp, size_t size)
{
	struct ib_uverbs_ioctl_hdr hdr = {
		.object_id = object,
		.method_id = method,
	};

	*b = (struct ibv_command_buffer){
		.next_attr = attr + 1,
		.last_attr = attr + 1,
		.uhw_in_idx = 0xff,
		.uhw_out_idx = 0xff,
	};
	*attr = (struct ib_uverbs_attr){
		.attr_id = UVERBS_ATTR_UHW_OUT,
		.flags = UVERBS_ATTR_F_MANDATORY,
		.len = (u16)size,
		.data = (uintptr_t)resp,
	};
	memcpy(b->hdr, &hdr, sizeof(b->hdr));
}

/* ---- requests and responses of the write-class commands ---- */

#define UR_REQ(core, drv)                                   \
	struct {                                            \
		u64 cmd[(sizeof(struct ib_uverbs_cmd_hdr) + \
			 sizeof(struct core)) /             \
			8];                                 \
		drv;                                        \
	}
#define UR_REQ_EX(core, drv)                                   \
	struct {                                               \
		u64 cmd[(sizeof(struct ib_uverbs_cmd_hdr) +    \
			 sizeof(struct ib_uverbs_ex_cmd_hdr) + \
			 sizeof(struct core)) /                \
			8];                                    \
		drv;                                           \
	}
#define UR_RESP(core, drv)                               \
	struct {                                         \
		u32 core_words[sizeof(struct core) / 4]; \
		drv;                                     \
	}

/*
 * ---- functions ----
 * Where a later release has one more argument, it is declared and passed as
 * NULL: an older library does not look at it (the caller cleans up, on every
 * machine that rdma-core runs on).
 */

void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd,
				    size_t alloc_size, void *context_offset,
				    uint32_t driver_id);
void verbs_uninit_context(void *vctx);
void verbs_set_ops(void *vctx, const void *ops);
int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd);

/* The library's own entry point of each release registers the driver. */
void verbs_register_driver_34(const struct verbs_device_ops *ops);
void verbs_register_driver_57(const struct verbs_device_ops *ops);
void verbs_register_driver_59(const struct verbs_device_ops *ops);
void verbs_register_driver_64(const struct verbs_device_ops *ops);
void verbs_register_driver_65(const struct verbs_device_ops *ops);

/* Arguments were inserted in the middle of these two (57, 59): call them
 * through ur_cmd_get_context() and ur_cmd_create_cq_ex() only. */
void ibv_cmd_get_context(void);
void ibv_cmd_create_cq_ex(void);
int ur_cmd_get_context(const struct ur_layout *layout, void *vctx, void *cmd,
		       size_t cmd_size, void *resp, size_t resp_size);
int ur_cmd_create_cq_ex(const struct ur_layout *layout,
			struct ibv_context *context,
			const struct ibv_cq_init_attr_ex *attr,
			struct verbs_cq *cq, void *cmd, size_t cmd_size,
			void *resp, size_t resp_size, u32 cmd_flags);

int ibv_cmd_query_context(struct ibv_context *context,
			  struct ibv_command_buffer *driver);
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp,
			     size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *port_attr, void *cmd,
		       size_t cmd_size);
int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, void *cmd,
		     size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd,
		      int vxrcd_size, struct ibv_xrcd_init_attr *attr,
		      void *cmd, size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
		   uint64_t hca_va, int access, struct verbs_mr *vmr, void *cmd,
		   size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr,
		     size_t length, uint64_t hca_va, int access,
		     struct ibv_pd *pd, void *cmd, size_t cmd_size, void *resp,
		     size_t resp_size);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr,
		     uint32_t mr_handle);
int ibv_cmd_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice,
		      uint32_t flags, struct ibv_sge *sg_list,
		      uint32_t num_sge);
/* rdma-core 54 added 'driver', without a new private ABI: it is still 34. */
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access,
			  struct verbs_mr *vmr,
			  struct ibv_command_buffer *driver);
int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type,
		     struct ibv_mw *mw, void *cmd, size_t cmd_size, void *resp,
		     size_t resp_size);
int ibv_cmd_dealloc_mw(struct ibv_mw *mw);
int ibv_cmd_create_cq(struct ibv_context *context, int cqe,
		      struct ibv_comp_channel *channel, int comp_vector,
		      struct ibv_cq *cq, void *cmd, size_t cmd_size, void *resp,
		      size_t resp_size);
int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, void *cmd, size_t cmd_size,
		      void *resp, size_t resp_size);
int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      void *cmd, size_t cmd_size);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq,
		       struct ibv_srq_init_attr *attr, void *cmd,
		       size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr, void *cmd,
			  size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		       int attr_mask, void *cmd, size_t cmd_size);
int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, void *cmd,
		      size_t cmd_size);
int ibv_cmd_destroy_srq(struct ibv_srq *srq);
/* 'qp' is a verbs_qp, with UR_VQP_ROOM bytes to write to. */
int ibv_cmd_create_qp_ex(struct ibv_context *context, void *qp,
			 struct ibv_qp_init_attr_ex *attr, void *cmd,
			 size_t cmd_size, void *resp, size_t resp_size);
/* 'driver' came with 64. */
int ibv_cmd_create_qp_ex2(struct ibv_context *context, void *qp,
			  struct ibv_qp_init_attr_ex *attr, void *cmd,
			  size_t cmd_size, void *resp, size_t resp_size,
			  struct ibv_command_buffer *driver);
int ibv_cmd_open_qp(struct ibv_context *context, void *qp, int vqp_size,
		    struct ibv_qp_open_attr *attr, void *cmd, size_t cmd_size,
		    void *resp, size_t resp_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr, void *cmd,
		     size_t cmd_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
		      int attr_mask, void *cmd, size_t cmd_size);
int ibv_cmd_modify_qp_ex(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			 int attr_mask, void *cmd, size_t cmd_size, void *resp,
			 size_t resp_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah,
		      struct ibv_ah_attr *attr, void *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid,
			 uint16_t lid);
int ibv_cmd_create_wq(struct ibv_context *context,
		      struct ibv_wq_init_attr *attr, struct ibv_wq *wq,
		      void *cmd, size_t cmd_size, void *resp, size_t resp_size);
int ibv_cmd_modify_wq(struct ibv_wq *wq, struct ibv_wq_attr *attr, void *cmd,
		      size_t cmd_size);
int ibv_cmd_destroy_wq(struct ibv_wq *wq);
int ibv_cmd_create_rwq_ind_table(struct ibv_context *context,
				 struct ibv_rwq_ind_table_init_attr *attr,
				 struct ibv_rwq_ind_table *table, void *resp,
				 size_t resp_size);
int ibv_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table);
int ibv_cmd_create_counters(struct ibv_context *context,
			    struct ibv_counters_init_attr *init_attr,
			    struct verbs_counters *counters,
			    struct ibv_command_buffer *link);
int ibv_cmd_destroy_counters(struct verbs_counters *counters);
int ibv_cmd_read_counters(struct verbs_counters *counters, uint64_t *values,
			  uint32_t count, uint32_t flags,
			  struct ibv_command_buffer *link);
/* 'cmd' is the driver's part alone. */
int ibv_cmd_create_flow(struct ibv_qp *qp, struct ibv_flow *flow,
			struct ibv_flow_attr *attr, void *cmd, size_t cmd_size);
int ibv_cmd_destroy_flow(struct ibv_flow *flow);
int ibv_cmd_alloc_dm(struct ibv_context *context,
		     const struct ibv_alloc_dm_attr *attr, struct verbs_dm *dm,
		     struct ibv_command_buffer *link);
int ibv_cmd_free_dm(struct verbs_dm *dm);
int ibv_cmd_reg_dm_mr(struct ibv_pd *pd, struct verbs_dm *dm, uint64_t offset,
		      size_t length, unsigned int access, struct verbs_mr *vmr,
		      struct ibv_command_buffer *link);

#endif
