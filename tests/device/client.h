/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A front-end of its own for tests of the device process: raw tunnel messages
 * and uverbs commands, good and bad. Failed expectations end the test. */
#ifndef UR_TESTS_DEVICE_CLIENT_H
#define UR_TESTS_DEVICE_CLIENT_H

#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel-abi/uroce-abi.h"
#include "kernel-abi/uroce-tunnel.h"
#include "tests/check.h"

struct daemon_proc {
	pid_t pid;
	char dir[64];
	const char *netdev;	/* NULL: lo */
	unsigned int max_files; /* 0: as many as we may have */
	const char *user_share; /* NULL: the default */
	int raw_ethernet;
	int log;	      /* descriptor to write its messages to; 0: ours */
	uid_t as;	      /* whom clients connect as; 0: as we are */
	void (*before)(void); /* called in it before it begins; NULL: nothing */
	int admin; /* clients show that they may administer the network */
};

/* A network namespace of the test's own with lo up: nobody else has port 4791
 * there. Skips the test where that is not allowed. */
void client_private_net(void);

/* Start argv0 on a fresh or given (reuse) directory and wait for "ready". */
void daemon_start(struct daemon_proc *d, const char *uroced, int on_demand);
/* Does the same on the directory of one that was asked to stop and is not gone
 * yet: as often as it says that another serves there. */
void daemon_start_again(struct daemon_proc *d, const char *uroced);
/* Until client_hand_over(). */
void daemon_pause(const struct daemon_proc *d);
/* SIGTERM, and it must end with status 0. */
void daemon_stop(struct daemon_proc *d);
/* Wait until it has ended by itself; returns its wait status. */
int daemon_wait(struct daemon_proc *d);

int client_connect(const struct daemon_proc *d);
/* Shows the descriptor with a SYNC; what that returns. */
int64_t client_show(int sock, int fd);
void client_send(int sock, const struct uroce_tun_msg *msg, const int *fds,
		 int nfds);
/* Send to a device that is stopped, close fd, and let the device go on: its copy
 * of fd is the last. */
void client_hand_over(const struct daemon_proc *d, int sock,
		      const struct uroce_tun_msg *msg, int fd);
/* 0, or -1 at the end of the connection. First descriptor in *fd, or -1. */
int client_recv(int sock, struct uroce_tun_msg *msg, int *fd);
int client_mem(void);
/* Connected and open; *visible (may be NULL) gets the shown descriptor. */
int client_open(const struct daemon_proc *d, const char *name, int *visible);
/* A second connection to the uverbs file that visible shows. */
int client_join(const struct daemon_proc *d, int visible);
/* The same with features (UROCE_TUN_F_*), which the device must have. */
int client_open_with(const struct daemon_proc *d, const char *name,
		     uint64_t features, int *visible);

/*
 * One command with its upcalls: descriptors asked for are duplicates of this
 * process's own, installed ones get their own number, and rights asked for are
 * shown by client_proof. Returns what DONE says,
 * or INT64_MIN when the connection ended.
 */
int64_t client_hear(int sock, struct uroce_tun_msg *ret_msg);
/* How often it was asked for memory. */
extern unsigned int client_asked;
/* the right that was asked for last, and the function that makes the descriptor:
 * ur_proof_net_raw() */
extern uint32_t client_right;
extern int (*client_proof)(void);
/* The cookie of the last INSTALL. */
extern uint64_t client_installed;
int64_t client_ioctl(int sock, const void *hdr);
int64_t client_write(int sock, const void *buf, size_t len);

/* Legacy and extended commands by parts; resp may be NULL with out 0. */
int64_t client_legacy(int sock, uint32_t command, const void *core,
		      uint32_t len, void *resp, uint32_t out);
int client_get_context(int sock, struct uroce_alloc_ucontext_resp *resp);
int client_get_context_with(int sock, struct uroce_alloc_ucontext_req *req,
			    struct uroce_alloc_ucontext_resp *resp);
/* Connected, open, and with a context. */
int client_session(const struct daemon_proc *d);
/* Asks for an engine that contexts share (ENGINE_SHARE) and returns the answer. slot: 0, or the slot of an
 * engine that the client claims. has: where the slot is stored, or NULL. */
int64_t client_share(int sock, uint32_t slot, uint32_t *has);
/* client_session_with_engine(), which also has an engine shared with other files of its user, as
 * XRC domains of files need. */
int client_session_with_shared(const struct daemon_proc *d);
/* The handle of a new one. */
uint32_t client_alloc_pd(int sock);
/* Destroys it. Returns what the device does. */
int64_t client_destroy_cq(int sock, uint32_t cq);
/* Registers bytes of a file, which may be a memfd, from off on. Where it is made,
 * *mr (may be NULL) is its handle. */
int64_t client_reg_dmabuf(int sock, uint32_t pd, int fd, uint64_t off,
			  uint64_t length, uint32_t *mr);
/* The command of that, for client_send(); it is the caller's to keep. */
struct client_dmabuf {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[9];
	uint32_t keys[2];
};
void client_dmabuf_init(struct client_dmabuf *c, uint32_t pd, int fd,
			uint64_t off, uint64_t length);
/* A method of the device whose only attribute is its response, of len bytes. Returns the result. */
int64_t client_call_device(int sock, uint16_t method, uint16_t attr, void *resp,
			   uint16_t len);
/* ENGINE_OPEN: its result. The descriptors that came with it stay open. */
int64_t client_open_engine(int sock);
/* client_session(), and an engine, which queue pairs and SRQs need. */
int client_session_with_engine(const struct daemon_proc *d);
/* The descriptor of a new event file. */
int client_alloc_async(int sock);
/* Wait until no more than n connections are left. */
void client_settle_to(const struct daemon_proc *d, int n);
/* Wait until no other connection is left. */
void client_settle(const struct daemon_proc *d);
/* The text of a status subject contains what? */
int client_status_has(const struct daemon_proc *d, const char *subject,
		      const char *what);
/* Query the device; ends the test if it does not answer as it should. */
void client_check(const struct daemon_proc *d);

/* Their failures are reported with the line of the caller. */
#ifndef CLIENT_OWN_LINES
#define client_recv(sock, msg, fd) \
	(ck_at(__FILE__, __LINE__), client_recv(sock, msg, fd))
#define client_hear(sock, msg) \
	(ck_at(__FILE__, __LINE__), client_hear(sock, msg))
#define client_session(d) (ck_at(__FILE__, __LINE__), client_session(d))
#define client_session_with_engine(d) \
	(ck_at(__FILE__, __LINE__), client_session_with_engine(d))
#define client_alloc_pd(s) (ck_at(__FILE__, __LINE__), client_alloc_pd(s))
#define client_settle(d)   (ck_at(__FILE__, __LINE__), client_settle(d))
#define client_check(d)	   (ck_at(__FILE__, __LINE__), client_check(d))
#define daemon_start(d, u, demand) \
	(ck_at(__FILE__, __LINE__), daemon_start(d, u, demand))
#define daemon_stop(d) (ck_at(__FILE__, __LINE__), daemon_stop(d))
#endif

#endif
