// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One thread for each connection; the test makes few. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "kernel-abi/uroce-tunnel.h"
#include "tests/check.h"
#include "tests/unit/preload/fake_device.h"
#include "util/os/event_pair.h"
#include "util/os/scm.h"

struct window {
	size_t len;
	char bytes[UROCE_TUN_WINDOW];
};

struct conn {
	int sock, mem, event; /* event: our end of the last installed file */
	int cm;		      /* rdma_cm: our end of the token socket */
	uint64_t closed;
	struct window window, none; /* of the command; of an answer */
	struct {
		struct uroce_tun_out out;
		uint64_t value;
	} add; /* goes with the answer, if out.len */
	struct cached_reply {
		struct uroce_tun_out out;
		struct uroce_tun_cached_reply cached;
		uint64_t answer;
	} cached_reply; /* the same */
};

static _Atomic int files, syncs, cm_end = -1, withdrawn, outs, writes, taken,
				 created;
static _Atomic uint32_t answers; /* on the newest rdma_cm file */
static const char *rundir;
static _Atomic uint32_t *changes; /* the page of the newest rdma_cm file */

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	CHECK(f);
	fputs(text, f);
	fclose(f);
}

void fake_device_make_tree(const char *dir)
{
	put(dir, "sys/class/infiniband_verbs/abi_version", "6\n");
	put(dir, "sys/class/infiniband_verbs/uverbs0/ibdev", "uroce0\n");
	put(dir, "sys/class/infiniband_verbs/uverbs0/dev", "231:192\n");
	put(dir, "sys/class/infiniband/uroce0/node_type", "1: CA\n");
	put(dir, "sys/class/infiniband/uroce0/ports/1/counters/x", "0\n");
	put(dir, "sys/class/misc/rdma_cm/abi_version", "4\n");
	put(dir, "sys/devices/pci7572:00/7572:01:00.0/modalias", "uroce\n");
	put(dir, "dev/infiniband/uverbs0", "231:192\n");
	put(dir, "dev/infiniband/umad0", "231:0\n");
	put(dir, "dev/infiniband/rdma_cm", "10:58\n");
	/* Any user may look. */
	CHECK(!chmod(dir, 0755));
}

static void send_fds(int sock, struct uroce_tun_msg *msg, const int *fds,
		     unsigned int n)
{
	union ur_scm scm;
	struct iovec iov = {msg, sizeof(*msg)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	msg->nfds = n;
	ur_scm_put(&mh, &scm, fds, n);
	CHECK_EQ(sendmsg(sock, &mh, MSG_NOSIGNAL), sizeof(*msg));
}

static void send_msg(int sock, struct uroce_tun_msg *msg, int fd)
{
	send_fds(sock, msg, &fd, fd >= 0);
}

static int recv_msg(int sock, struct uroce_tun_msg *msg, struct window *w)
{
	union ur_scm scm;
	struct iovec iov[] = {{msg, sizeof(*msg)},
			      {w->bytes, sizeof(w->bytes)}};
	struct msghdr mh = {.msg_iov = iov,
			    .msg_iovlen = 2,
			    .msg_control = scm.buf,
			    .msg_controllen = sizeof(scm.buf)};
	int fd = -1;
	ssize_t n;

	n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
	if (n < (ssize_t)sizeof(*msg) || (mh.msg_flags & MSG_TRUNC))
		return -2;
	w->len = (size_t)n - sizeof(*msg);
	ur_scm_take(&mh, &fd, 1, close);
	return fd;
}

static void done(struct conn *c, int64_t ret)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_DONE, .ret = ret};
	struct iovec iov[] = {
		{&msg, sizeof(msg)},
		{&c->add, c->add.out.len ? sizeof(c->add) : 0},
		{&c->cached_reply,
		 c->cached_reply.out.len ? sizeof(c->cached_reply) : 0}};
	struct msghdr mh = {.msg_iov = iov, .msg_iovlen = 3};

	CHECK(sendmsg(c->sock, &mh, MSG_NOSIGNAL) >= (ssize_t)sizeof(msg));
	c->add.out.len = 0;
	c->cached_reply.out.len = 0;
}

static void open_file(struct conn *c, const struct uroce_tun_msg *req)
{
	/* With words set that a later release may have given a meaning. */
	struct uroce_tun_msg msg = {.op = UROCE_TUN_DONE,
				    .opened.features = req->open.features,
				    .opened.rsv = {~0ull, ~0ull},
				    .opened.cookie = 5,
				    .cpu = ~0u};
	int fd, pair[2], fds[2];

	if (req->open.version != UROCE_TUN_VERSION)
		return done(c, -EPROTO);
	files++;
	if (req->kind == UROCE_TUN_RDMA_CM) {
		CHECK(strcmp(req->name, "rdma_cm") == 0);
		CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
		c->cm = pair[1];
		answers = 0;
		cm_end = pair[1];
		msg.opened.rdev = makedev(10, 58);
		fds[0] = pair[0];
		fds[1] = memfd_create("changes", 0);
		CHECK(!ftruncate(fds[1], UROCE_TUN_PAGE_BYTES));
		changes = mmap(NULL, UROCE_TUN_PAGE_BYTES,
			       PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
		CHECK(changes != MAP_FAILED);
		send_fds(c->sock, &msg, fds, 2);
		close(fds[0]);
		close(fds[1]);
		return;
	}
	CHECK(strcmp(req->name, "uverbs0") == 0);
	fd = memfd_create("rings", 0);
	CHECK(!ftruncate(fd, 1 << 20));
	CHECK_EQ(pwrite(fd, "ring", 4, 8192), 4);
	msg.opened.rdev = makedev(FAKE_MAJOR, FAKE_MINOR);
	send_msg(c->sock, &msg, fd);
	close(fd);
}

static int64_t install(struct conn *c, uint32_t kind, bool with_sender)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_INSTALL,
				    .kind = kind,
				    .install.cookie = FAKE_COOKIE};
	int pair[2];

	CHECK_EQ(ur_event_pair(pair), 0);
	close(c->event);
	c->event = pair[0];
	send_fds(c->sock, &msg, (int[]){pair[1], pair[0]}, with_sender ? 2 : 1);
	close(pair[1]);
	CHECK_EQ(recv_msg(c->sock, &msg, &c->none), -1);
	CHECK_EQ(msg.op, UROCE_TUN_FD);
	return msg.ret;
}

static int64_t send_event(struct conn *c, uint64_t value)
{
	uint64_t event[2] = {value, 3};

	CHECK(send(c->event, event, 16, 0) > 0);
	return 0;
}

static int64_t fget(struct conn *c, uint64_t number)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_FGET,
				    .ret = (int64_t)number};
	int fd;

	send_msg(c->sock, &msg, -1);
	fd = recv_msg(c->sock, &msg, &c->none);
	CHECK_EQ(msg.op, UROCE_TUN_FD);
	if (msg.ret < 0)
		return msg.ret;
	CHECK(fd >= 0);
	close(fd);
	return 0;
}

/* Fills an event for a GET_EVENT with that room. */
static void fill_event(struct cached_reply *f, uint64_t event)
{
	const uint32_t hdr[2] = {12, 8 | FAKE_EVENT_ROOM << 16},
		       slot = FAKE_SLOT;

	f->out.addr = 0;
	f->out.len = sizeof(f->cached) + sizeof(f->answer);
	f->cached.slot = UROCE_TUN_AHEAD;
	f->cached.change = changes[FAKE_SLOT];
	memset(f->cached.question, 0, sizeof(f->cached.question));
	memcpy(f->cached.question, hdr, sizeof(hdr));
	memcpy(f->cached.question + UROCE_TUN_AHEAD_SLOT, &slot, sizeof(slot));
	f->answer = event;
}

/* Sends the event 1000 in a datagram, as one after more answers than there were. */
static int64_t say_ahead(uint32_t more)
{
	struct {
		struct uroce_tun_event head;
		struct cached_reply event;
	} m = {.head.answers = answers + more};

	fill_event(&m.event, 1000);
	return send(cm_end, &m, sizeof(m), 0) == sizeof(m) ? 0 : -EPIPE;
}

static int64_t known(const struct uroce_tun_msg *req)
{
	int64_t all = 0;

	for (int i = 0; i < UROCE_TUN_MAX_KNOWN && req->known[i].kind; i++) {
		CHECK_EQ(req->known[i].cookie, FAKE_COOKIE);
		all = all * 10 + req->known[i].kind;
	}
	return all;
}

static int64_t do_ioctl(struct conn *c, const struct uroce_tun_msg *req)
{
	uint64_t value;

	switch (req->call.request) {
	case FAKE_ADD_ONE:
		if (pread(c->mem, &value, 8, (off_t)req->call.arg) != 8) {
			CHECK(!c->window.len);
			return -EFAULT;
		}
		if (c->window.len)
			CHECK(c->window.len >= 8 &&
			      !memcmp(c->window.bytes, &value, 8));
		value++;
		if (req->call.out_from <= req->call.arg &&
		    req->call.arg + 8 <= req->call.out_to) {
			CHECK(c->window.len);
			c->add.out.addr = req->call.arg;
			c->add.out.len = 8;
			c->add.value = value;
			outs++;
			return 0;
		}
		return pwrite(c->mem, &value, 8, (off_t)req->call.arg) == 8
			       ? 0
			       : -EFAULT;
	case FAKE_FGET:
		return fget(c, req->call.arg);
	case FAKE_COMP:
		return install(c, UROCE_TUN_COMP, false);
	case FAKE_COMP_SENDER:
		return install(c, UROCE_TUN_COMP, true);
	case FAKE_ASYNC:
		return install(c, UROCE_TUN_ASYNC, false);
	case FAKE_EVENT:
		return send_event(c, req->call.arg);
	case FAKE_CLOSED:
		return (int64_t)c->closed;
	case FAKE_FAIL_LATE:
		install(c, UROCE_TUN_COMP, false);
		return -EPERM;
	case FAKE_REFUSE:
		return -EOPNOTSUPP;
	case FAKE_FILES:
		return files;
	case FAKE_OUTS:
		return outs;
	case FAKE_CHANGE:
		changes[FAKE_SLOT]++;
		return 0;
	case FAKE_WRITES:
		return writes;
	case FAKE_AHEAD:
		return say_ahead((uint32_t)req->call.arg);
	case FAKE_TAKEN:
		return taken;
	case FAKE_CREATED:
		return created;
	case FAKE_SYNCS:
		return syncs;
	case FAKE_KNOWN:
		return known(req);
	case FAKE_DIE:
		_exit(0);
	case FAKE_WITHDRAWN:
		withdrawn++;
		/* fall through */
	case FAKE_PEERS:
		return send(cm_end, "", 1, 0) == 1 ? 0 : -EPIPE;
	default:
		return -ENOTTY;
	}
}

/* The question and eight bytes of answer follow the command, from its 8th byte
 * on. */
static void cache_reply(struct conn *c)
{
	struct cached_reply *f = &c->cached_reply;

	CHECK(c->window.len >= 8 + sizeof(f->cached.question) + 8);
	f->out.addr = 0;
	f->out.len = sizeof(f->cached) + sizeof(f->answer);
	f->cached.slot = FAKE_SLOT;
	f->cached.change = changes[FAKE_SLOT];
	memcpy(f->cached.question, c->window.bytes + 8,
	       sizeof(f->cached.question));
	memcpy(&f->answer, c->window.bytes + 8 + sizeof(f->cached.question), 8);
}

static void fill_spare(struct cached_reply *f)
{
	const struct rdma_ucm_cmd_hdr hdr = {
		.cmd = RDMA_USER_CM_CMD_CREATE_ID, .in = 24, .out = 4};
	const uint64_t end = FAKE_PS | 2 << 16;

	f->out.addr = 0;
	f->out.len = sizeof(f->cached) + sizeof(f->answer);
	f->cached.slot = UROCE_TUN_SPARE;
	f->cached.change = FAKE_ID;
	memset(f->cached.question, 0, sizeof(f->cached.question));
	memcpy(f->cached.question, &hdr, sizeof(hdr));
	memcpy(f->cached.question + 8, &end, sizeof(end));
	f->answer = FAKE_ID;
}

static int64_t do_write(struct conn *c, const struct uroce_tun_msg *req)
{
	uint32_t command = 0;

	writes++;
	answers++;
	taken = (int)req->call.request;
	created = (int)(req->created.uid << 16 | req->created.id);
	if (req->call.len < 8)
		return -EINVAL;
	if (pread(c->mem, &command, 4, (off_t)req->call.arg) != 4)
		return -EFAULT;
	CHECK(c->window.len >= req->call.len ||
	      c->window.len == UROCE_TUN_WINDOW);
	CHECK(!memcmp(c->window.bytes, &command, 4));
	if (c->cm >= 0 && command == 12 && withdrawn) {
		withdrawn--;
		return -EAGAIN;
	}
	if (c->cm >= 0 && command == FAKE_CACHE_REPLY)
		cache_reply(c);
	if (c->cm >= 0 && command == FAKE_SPARE)
		fill_spare(&c->cached_reply);
	if (c->cm >= 0 && command == FAKE_RESOLVE) {
		fill_event(&c->cached_reply, 2000);
		CHECK_EQ(send(c->cm, "", 1, 0), 1);
	}
	return (int64_t)req->call.len;
}

/* Answers each message with the one of BIND. */
static void serve_netlink(int sock)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_DONE};
	struct uroce_tun_bind told = {0};
	ssize_t n;

	send_msg(sock, &msg, -1);
	while ((n = recv(sock, &msg, sizeof(msg), 0)) > 0) {
		if (n == sizeof(msg) && msg.op == UROCE_TUN_BIND)
			told = msg.bind;
		else
			CHECK(send(sock, &told, sizeof(told), MSG_NOSIGNAL) >
			      0);
	}
}

static void *serve_one(void *arg)
{
	struct conn c = {
		.sock = (int)(intptr_t)arg, .mem = -1, .event = -1, .cm = -1};
	struct uroce_tun_msg msg;
	char text[32];
	int fd;

	while ((fd = recv_msg(c.sock, &msg, &c.window)) != -2) {
		switch (msg.op) {
		case UROCE_TUN_OPEN:
			if (msg.kind == UROCE_TUN_NETLINK) {
				CHECK(fd < 0 && !msg.name[0]);
				serve_netlink(c.sock);
				break;
			}
			CHECK(fd >= 0);
			c.mem = fd;
			if (!msg.open.cookie) {
				open_file(&c, &msg);
				break;
			}
			files++;
			done(&c, 0); /* a child joins */
			break;
		case UROCE_TUN_IOCTL:
			done(&c, do_ioctl(&c, &msg));
			break;
		case UROCE_TUN_WRITE:
			done(&c, do_write(&c, &msg));
			break;
		case UROCE_TUN_CLOSE_FD:
			c.closed = msg.closed.cookie;
			break;
		case UROCE_TUN_SYNC:
			snprintf(text, sizeof(text), "%d\n", ++syncs);
			put(rundir,
			    "sys/class/infiniband/uroce0/ports/1/"
			    "counters/x",
			    text);
			done(&c, 0);
			break;
		default:
			CHECK(!"an operation of the front-end");
		}
	}
	if (c.mem >= 0)
		files--;
	close(c.mem);
	close(c.event);
	close(c.cm);
	close(c.sock);
	return NULL;
}

int fake_device_listen(const char *dir)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/%s", dir,
		 UROCE_TUN_SOCKET);
	unlink(sun.sun_path);
	CHECK(!bind(fd, (struct sockaddr *)&sun, sizeof(sun)));
	CHECK(!listen(fd, 16));
	return fd;
}

void fake_device_serve(int listener, const char *dir)
{
	pthread_t thread;

	rundir = dir;
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0)
			pthread_create(&thread, NULL, serve_one,
				       (void *)(intptr_t)fd);
	}
}
