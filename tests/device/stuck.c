// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/stuck.h"

static int fuse_fd = -1, end_fd = -1;
/* A process of its own, which ends with this one: else a thread of this one that
 * waits for it would keep both for ever. */
static pid_t server, served;
static sem_t *waited;

static void reply(uint64_t unique, int err, const void *data, size_t len)
{
	static union {
		struct fuse_out_header out;
		char bytes[512];
	} buf;

	CHECK(len <= sizeof(buf) - sizeof(buf.out));
	buf.out.len = (uint32_t)(sizeof(buf.out) + len);
	buf.out.error = err;
	buf.out.unique = unique;
	if (len)
		memcpy(buf.bytes + sizeof(buf.out), data, len);
	CHECK_EQ(write(fuse_fd, &buf, buf.out.len), buf.out.len);
}

static void reply_init(uint64_t unique)
{
	struct fuse_init_out init = {.major = 7,
				     .minor = 31,
				     .max_write = 4096,
				     .max_background = 4,
				     .time_gran = 1};

	reply(unique, 0, &init, sizeof(init));
}

static void reply_attr(uint64_t unique)
{
	struct fuse_attr_out attr = {
		.attr_valid = 1000,
		.attr = {.ino = 1,
			 .size = STUCK_BYTES,
			 .mode = S_IFREG | 0666,
			 .nlink = 1,
			 .blksize = 4096},
	};

	reply(unique, 0, &attr, sizeof(attr));
}

static bool is_ours(const struct fuse_in_header *in)
{
	return in->pid == (uint32_t)served;
}

/* Everything is answered but READ, and what others than this process want to
 * know, or do at the end. */
static void answer(const struct fuse_in_header *in)
{
	struct fuse_open_out open_out = {.fh = 1};

	switch (in->opcode) {
	case FUSE_FLUSH:
	case FUSE_STATFS:
		if (is_ours(in))
			reply(in->unique, 0, NULL, 0);
		else
			sem_post(waited);
		break;
	case FUSE_INIT:
		reply_init(in->unique);
		break;
	case FUSE_GETATTR:
		reply_attr(in->unique);
		break;
	case FUSE_OPEN:
		reply(in->unique, 0, &open_out, sizeof(open_out));
		break;
	case FUSE_READ:
		sem_post(waited);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		reply(in->unique, -ENOSYS, NULL, 0);
	}
}

static _Noreturn void serve(void)
{
	static union {
		struct fuse_in_header in;
		char bytes[65536];
	} req;
	struct pollfd p[2] = {{fuse_fd, POLLIN, 0}, {end_fd, POLLIN, 0}};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		CHECK(poll(p, 2, -1) > 0);
		if (p[1].revents)
			break;
		CHECK(read(fuse_fd, &req, sizeof(req)) > 0);
		answer(&req.in);
	}
	_exit(0);
}

int stuck_open(void)
{
	char path[] = "/tmp/uroce-stuck.XXXXXX", opt[96];
	struct stat st;
	int fd, ret = -1;

	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_fd < 0)
		return -1;
	fd = mkstemp(path);
	CHECK(fd >= 0);
	close(fd);
	snprintf(opt, sizeof(opt),
		 "fd=%d,rootmode=100666,user_id=%u,group_id=%u", fuse_fd,
		 getuid(), getgid());
	if (!mount("stuck", path, "fuse", MS_NOSUID | MS_NODEV, opt)) {
		end_fd = eventfd(0, EFD_CLOEXEC);
		CHECK(end_fd >= 0);
		waited = mmap(NULL, sizeof(*waited), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		CHECK(waited != MAP_FAILED);
		CHECK(!sem_init(waited, 1, 0));
		served = getpid();
		server = fork();
		CHECK(server >= 0);
		if (!server)
			serve();
		close(fuse_fd);
		ret = open(path, O_RDWR | O_CLOEXEC);
		CHECK(ret >= 0);
		/* The kernel asks for the size only now. */
		CHECK(!fstat(ret, &st));
		CHECK_EQ(st.st_size, STUCK_BYTES);
		CHECK(!umount2(path, MNT_DETACH));
	}
	unlink(path);
	return ret;
}

void *stuck_map(void)
{
	void *p;
	int fd = stuck_open();

	if (fd < 0)
		return NULL;
	p = mmap(NULL, STUCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CHECK(p != MAP_FAILED);
	/* Each page is asked for by itself. */
	CHECK(!madvise(p, STUCK_BYTES, MADV_RANDOM));
	close(fd);
	return p;
}

void stuck_wait(void)
{
	while (sem_wait(waited))
		;
}

void stuck_end(void)
{
	uint64_t one = 1;

	CHECK_EQ(write(end_fd, &one, sizeof(one)), sizeof(one));
	CHECK_EQ(waitpid(server, NULL, 0), server);
	close(end_fd);
}

void *stuck_fault(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg;
	void *p;
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		return NULL;
	p = mmap(NULL, STUCK_BYTES, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	CHECK(!ioctl(fd, UFFDIO_API, &api));
	memset(&reg, 0, sizeof(reg));
	reg.range.start = (uintptr_t)p;
	reg.range.len = STUCK_BYTES;
	reg.mode = UFFDIO_REGISTER_MODE_MISSING;
	CHECK(!ioctl(fd, UFFDIO_REGISTER, &reg));
	return p;
}

struct stuck_socket stuck_socket(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct linger hour = {.l_onoff = 1, .l_linger = 3600};
	socklen_t len = sizeof(addr);
	int one = 1, l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stuck_socket s = {
		.sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	char bytes[4096] = {0};

	CHECK(l >= 0 && s.sock >= 0);
	CHECK(!setsockopt(l, SOL_SOCKET, SO_RCVBUF, &one, sizeof(one)));
	CHECK(!bind(l, (struct sockaddr *)&addr, sizeof(addr)));
	CHECK(!listen(l, 1));
	CHECK(!getsockname(l, (struct sockaddr *)&addr, &len));
	CHECK(!connect(s.sock, (struct sockaddr *)&addr, sizeof(addr)));
	s.reader = accept4(l, NULL, NULL, SOCK_CLOEXEC);
	CHECK(s.reader >= 0);
	close(l);
	while (send(s.sock, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	CHECK_EQ(errno, EAGAIN);
	CHECK(!setsockopt(s.sock, SOL_SOCKET, SO_LINGER, &hour, sizeof(hour)));
	return s;
}

void stuck_socket_end(const struct stuck_socket *s)
{
	close(s->reader); /* with bytes unread: a reset */
}
