/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parts of rdma/rdma_user_cm.h that the oldest supported headers lack. Numbers and layouts
 * are the kernel's. */
#ifndef UR_DEVICE_UCMA_UCMA_ABI_H
#define UR_DEVICE_UCMA_UCMA_ABI_H

#include <rdma/rdma_user_cm.h>

/* Commands, behind RDMA_USER_CM_CMD_JOIN_MCAST. */
enum {
	UCMA_CMD_RESOLVE_IB_SERVICE = 23,
	UCMA_CMD_WRITE_CM_EVENT = 24,
};

/* struct rdma_ucm_resolve_ib_service */
struct ucma_abi_resolve_ib_service {
	__u32 id;
	__u32 reserved;
	__aligned_u64 service_id;
	__u8 service_name[64];
	__u32 flags;
	__u32 reserved2;
};

/* struct rdma_ucm_write_cm_event. The kernel uses only arg. */
struct ucma_abi_write_cm_event {
	__u32 id;
	__u32 reserved;
	__u32 event; /* enum ucma_event_number */
	__u32 status;
	union {
		struct rdma_ucm_conn_param conn;
		struct rdma_ucm_ud_param ud;
		__aligned_u64 arg;
	} param;
};

#endif
