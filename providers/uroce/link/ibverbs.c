// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Enough of libibverbs, with the layout and the symbol versions of one private
 * ABI, to link a plugin against where that release is not installed, and to
 * test the plugin's glue: it opens a device as the library does, with the
 * layout's offsets written out here once more, and a context and a queue
 * pair that it makes up. Never installed.
 *
 * SIM_NN, SIM_CONTEXT_OFF, SIM_OPS_BYTES, SIM_QP_TAIL: the layout.
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel-abi/uroce-abi.h"
#include "kernel-abi/uroce-apart.h"
#include "kernel-abi/uroce-ring.h"
#include "link/ibverbs.h"
#include "util/os/scm.h"

/* SIM_QP_TAIL is x86-64's, where a pthread_mutex_t has 40 bytes. */
#define QP_TAIL (SIM_QP_TAIL + sizeof(pthread_mutex_t) - 40)

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)

static struct sim_state sim = {
	.nn = SIM_NN,
	.context_off = SIM_CONTEXT_OFF,
	.ops_bytes = SIM_OPS_BYTES,
	.qp_tail = QP_TAIL,
};

struct sim_state *sim_get(void)
{
	return &sim;
}

void PASTE(verbs_register_driver_, SIM_NN)(const void *ops)
{
	sim.driver = ops;
}

void *_verbs_init_and_alloc_context(void *device, int cmd_fd, size_t size,
				    void *off, unsigned int driver_id)
{
	char *base = calloc(1, size);
	char *vctx = base + (uintptr_t)off;

	if ((size_t)(uintptr_t)off + SIM_CONTEXT_OFF + 328 > size)
		abort();
	/* ibv_context.cmd_fd */
	memcpy(vctx + SIM_CONTEXT_OFF + 264, &cmd_fd, sizeof(cmd_fd));
	return base;
}

void verbs_set_ops(void *vctx, const void *ops)
{
	sim.vctx = vctx;
	memcpy(sim.ops, ops, SIM_OPS_BYTES);
}

void verbs_uninit_context(void *vctx)
{
}

static int fill_context(void *resp, size_t resp_size)
{
	struct uroce_alloc_ucontext_resp r = {
		.db_map_len = 4096,
		.wake_fd = -1,
		.sq_bb = UROCE_SQ_BB,
		.cqe_size = sizeof(struct uroce_cqe),
		.max_inline = 128,
		.max_sge = 4,
	};

	if (resp_size != 8 + sizeof(r))
		return EINVAL;
	memcpy((char *)resp + 8, &r, sizeof(r));
	return 0;
}

#if SIM_NN >= 57
int ibv_cmd_get_context(void *vctx, void *cmd, size_t cmd_size, void *fd_arr,
			void *resp, size_t resp_size)
{
	return fd_arr ? EINVAL : fill_context(resp, resp_size);
}
#else
int ibv_cmd_get_context(void *vctx, void *cmd, size_t cmd_size, void *resp,
			size_t resp_size)
{
	return fill_context(resp, resp_size);
}
#endif

/* Writes to a new queue pair's tail, as the library does. */
int ibv_cmd_create_qp_ex(void *context, void *qp, void *attr, void *cmd,
			 size_t cmd_size, void *resp, size_t resp_size)
{
	memset((char *)qp + QP_TAIL, 0, 4);
	memcpy(qp, &context, sizeof(context));
	return 0;
}

int ibv_cmd_destroy_qp(void *qp)
{
	return 0;
}

void *ibv_qp_to_qp_ex(void *qp)
{
	unsigned int mask;

	memcpy(&mask, (char *)qp + QP_TAIL, sizeof(mask));
	return mask & 2 ? qp : NULL;
}

int ibv_cmd_reg_mr(void *pd, void *addr, size_t length, uint64_t iova,
		   int access, void *vmr, void *cmd, size_t cmd_size,
		   void *resp, size_t resp_size)
{
	sim.reg_addr = (uintptr_t)addr;
	sim.reg_length = length;
	sim.reg_iova = iova;
	sim.reg_access = access;
	sim.reg_fd = -1;
	memcpy(vmr, pd, sizeof(void *)); /* the context */
	return 0;
}

int ibv_cmd_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length,
			  uint64_t iova, int fd, int access, void *vmr,
			  void *driver)
{
	sim.reg_addr = offset;
	sim.reg_length = length;
	sim.reg_iova = iova;
	sim.reg_access = access;
	sim.reg_fd = fd;
	memcpy(vmr, pd, sizeof(void *));
	return driver ? EINVAL : 0;
}

int ibv_cmd_dereg_mr(void *vmr)
{
	return 0;
}

/* struct ibv_command_buffer, as the library has it. */
struct ioctl_command {
	void *next;
	struct ib_uverbs_attr *next_attr, *last_attr;
	uint8_t flags[5];
	uint64_t hdr[3];
};

/* ---- an engine process, which makes whatever it is asked for ---- */

static void send_reply(int sock, struct uroce_call_msg *msg)
{
	int fds[2] = {memfd_create("rings", MFD_CLOEXEC),
		      eventfd(0, EFD_CLOEXEC)};
	union ur_scm scm;
	struct iovec iov = {msg, sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	if (ftruncate(fds[0], 4096))
		abort();
	ur_scm_put(&mh, &scm, fds, msg->op == UROCE_CALL_BEGIN ? 2 : 0);
	if (sendmsg(sock, &mh, MSG_NOSIGNAL) < 0)
		abort();
	close(fds[0]);
	close(fds[1]);
}

static void *serve(void *arg)
{
	struct uroce_call_msg msg;
	uint32_t number = 0;
	int sock = (int)(intptr_t)arg;

	while (recv(sock, &msg, sizeof(msg), 0) > 0) {
		msg = (struct uroce_call_msg){.op = msg.op, .number = ++number};
		if (msg.op == UROCE_CALL_BEGIN)
			msg.begun.db_map_len = 4096;
		send_reply(sock, &msg);
	}
	close(sock);
	return NULL;
}

static int begin_apart(const struct ib_uverbs_attr *attr)
{
	struct uroce_engine_apart resp = {.slot = 1};
	pthread_t thread;
	int sock[2];

	if (attr->attr_id != UROCE_ATTR_ENGINE_APART_RESP ||
	    attr->len != sizeof(resp) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) ||
	    pthread_create(&thread, NULL, serve, (void *)(intptr_t)sock[0]))
		return EINVAL;
	pthread_detach(thread);
	resp.fd = sock[1];
	memcpy((void *)(uintptr_t)attr->data, &resp, sizeof(resp));
	return 0;
}

/* Answers a query of the port's speed, with the kernel's numbers, and grants an engine. Knows no other
 * method, as an older device. */
int execute_ioctl(void *context, struct ioctl_command *cmd)
{
	const struct ib_uverbs_attr *attr = cmd->next_attr - 2;
	const uint64_t speed = SIM_SPEED;
	struct ib_uverbs_ioctl_hdr hdr;

	memcpy(&hdr, cmd->hdr, sizeof(hdr));
	if (hdr.object_id == UVERBS_OBJECT_DEVICE &&
	    hdr.method_id == UROCE_METHOD_ENGINE_APART)
		return begin_apart(cmd->next_attr - 1);
	if (hdr.object_id != 0 || hdr.method_id != 7 || attr[0].attr_id != 0 ||
	    attr[1].attr_id != 1 || attr[1].len != sizeof(speed))
		return EPROTONOSUPPORT;
	if (attr[0].data != 1)
		return EINVAL;
	memcpy((void *)(uintptr_t)attr[1].data, &speed, sizeof(speed));
	return 0;
}

int ibv_is_fork_initialized(void);
int ibv_is_fork_initialized(void)
{
	return 0; /* IBV_FORK_DISABLED */
}

ssize_t _ibv_query_gid_table(void);
ssize_t _ibv_query_gid_table(void)
{
	return -EOPNOTSUPP;
}

#ifdef SIM_PORT_SPEED
int ibv_query_port_speed(void);
int ibv_query_port_speed(void)
{
	return EOPNOTSUPP;
}
#endif

/* All other functions exist only to be linked. */
#define UR_FN(name)                          \
	__attribute__((weak)) int name(void) \
	{                                    \
		return EOPNOTSUPP;           \
	}
#include "link/rest.def"
