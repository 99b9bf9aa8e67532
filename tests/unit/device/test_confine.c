// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The parts of the confinement, each in a process of its own: what it takes
 * away is gone, and what the device lives on is there. */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device/confine/confine.h"
#include "tests/check.h"
#include "util/bytes.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#define SKIPPED 77

static char dir[] = "/tmp/uroce-confine.XXXXXX";

/* The wait status of a process that runs fn. */
static int apart(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		fn();
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

static void install(bool packet_sockets)
{
	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (ur_confine_calls(packet_sockets))
		_exit(SKIPPED);
}

/* Calls that the device may not make, and would survive. */
static void refused(void)
{
	struct rlimit rl = {1024, 1024};
	struct ifreq ifr = {.ifr_name = "lo"};
	int one = 1, udp;

	install(false);
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(udp >= 0);
#define EPERM_IS(call)                   \
	do {                             \
		errno = 0;               \
		CHECK((long)(call) < 0); \
		CHECK_EQ(errno, EPERM);  \
	} while (0)
	EPERM_IS(socket(AF_INET, SOCK_STREAM, 0));
	EPERM_IS(socket(AF_INET, SOCK_RAW, IPPROTO_RAW));
	EPERM_IS(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
	EPERM_IS(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
	EPERM_IS(socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT));
	EPERM_IS(socket(AF_PACKET, SOCK_DGRAM, 0));
	EPERM_IS(socket(AF_VSOCK, SOCK_STREAM, 0));
	EPERM_IS(ioctl(udp, SIOCSIFFLAGS, &ifr));
	EPERM_IS(setsockopt(udp, IPPROTO_IP, 64, &one, sizeof(one)));
	EPERM_IS(setsockopt(udp, IPPROTO_IPV6, 35, &one, sizeof(one)));
	EPERM_IS(syscall(SYS_linkat, AT_FDCWD, "a", AT_FDCWD, "b", 0));
	/* A device's directories are renamed before they are removed. */
	CHECK(syscall(SYS_renameat2, AT_FDCWD, "/nothing/a", AT_FDCWD,
		      "/nothing/b", 0) < 0);
	CHECK_EQ(errno, ENOENT);
	EPERM_IS(syscall(SYS_mknodat, AT_FDCWD, "a", S_IFIFO, 0));
	EPERM_IS(syscall(SYS_setuid, 0));
	EPERM_IS(syscall(SYS_capset, NULL, NULL));
	EPERM_IS(syscall(SYS_fchownat, AT_FDCWD, "/", 0, 0, 0));
	if (SANITIZED)
		return;
	EPERM_IS(kill(getppid(), 0));
	EPERM_IS(syscall(SYS_tgkill, getppid(), getppid(), 0));
	EPERM_IS(setrlimit(RLIMIT_NOFILE, &rl));
	EPERM_IS(prctl(PR_SET_DUMPABLE, 1));
	EPERM_IS(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	EPERM_IS(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	EPERM_IS(mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	EPERM_IS(mprotect(
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		4096, PROT_READ | PROT_EXEC));
}

static const char *const no_words[] = {NULL};

static void try_exec(void)
{
	install(false);
	syscall(SYS_execve, "/bin/true", no_words, no_words);
}

static void try_execveat(void)
{
	install(false);
	syscall(SYS_execveat, AT_FDCWD, "/bin/true", no_words, no_words, 0);
}

static void try_peek(void)
{
	install(false);
	syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0);
}

static void try_unshare(void)
{
	install(false);
	unshare(CLONE_NEWUSER);
}

static void try_setns(void)
{
	install(false);
	syscall(SYS_setns, 0, 0);
}

static void try_mount(void)
{
	install(false);
	syscall(SYS_mount, NULL, NULL, NULL, 0, NULL);
}

static void try_bpf(void)
{
	install(false);
	syscall(SYS_bpf, 0, NULL, 0);
}

static void try_io_uring(void)
{
	install(false);
	syscall(SYS_io_uring_setup, 1, NULL);
}

static void try_ptrace(void)
{
	install(false);
	syscall(SYS_ptrace, 0, 0, 0, 0);
}

static void *make_call(void *arg)
{
	volatile int *go = arg;

	while (!__atomic_load_n(go, __ATOMIC_ACQUIRE))
		sched_yield();
	syscall(SYS_execve, "/bin/true", no_words, no_words);
	return NULL;
}

/* A thread that was there before is held too. */
static void try_thread(void)
{
	static int go;
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, make_call, &go));
	install(false);
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

static void try_abort(void)
{
	struct rlimit none = {0, 0};

	CHECK(!setrlimit(RLIMIT_CORE, &none));
	install(false);
	abort();
}

static void *nothing(void *arg)
{
	return malloc(1 << 20);
}

/* Returns whether the kernel's log, from where fd is, has the refused call of
 * this process, which comes within a second. Another one, of which this thread
 * was made, it must not have. */
static bool log_tells(int fd, long call)
{
	char line[2048], pid[32], nr[32];

	snprintf(pid, sizeof(pid), " pid=%d ", getpid());
	snprintf(nr, sizeof(nr), " syscall=%ld ", call);
	for (int tries = 0; tries < 100;) {
		ssize_t n = read(fd, line, sizeof(line) - 1);

		if (n < 0) {
			usleep(10000);
			tries++;
			continue;
		}
		line[n] = 0;
		if (!strstr(line, "type=1326") || !strstr(line, pid))
			continue;
		if (strstr(line, nr))
			return true;
		CHECK(!strstr(line, " syscall=435 "));
	}
	return false;
}

/*
 * A thread is no event for the system's log, though the C library tries a call
 * for it that is refused; a call that nobody should make is one. The system
 * logs ten in five seconds.
 */
static void quiet(void)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	pthread_t t;

	if (log < 0 || lseek(log, 0, SEEK_END) < 0)
		_exit(SKIPPED);
	install(false);
	for (int i = 0; i < 8; i++) {
		CHECK(!pthread_create(&t, NULL, nothing, NULL));
		CHECK(!pthread_join(t, NULL));
		CHECK_EQ(syscall(SYS_setuid, 0), -1);
		if (log_tells(log, SYS_setuid))
			return;
	}
	_exit(SKIPPED); /* an audit daemon has it */
}

/* Calls that the device makes all the time. */
static void allowed(void)
{
	char name[IF_NAMESIZE];
	pthread_t thread;
	void *p;
	int two[2];

	install(true);
	for (int i = 0; i < 4; i++) {
		CHECK(!pthread_create(&thread, NULL, nothing, NULL));
		CHECK(!pthread_join(thread, &p));
		CHECK(p);
		free(p);
	}
	CHECK(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0);
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, two));
	CHECK(if_indextoname(if_nametoindex("lo"), name));
	CHECK(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) >= 0);
	/* Allowed by us; whether we may is the capability's. */
	CHECK(socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL)) >= 0 ||
	      geteuid());
	CHECK(fopen("/proc/self/cgroup", "re"));
	CHECK(ftruncate(memfd_create("x", MFD_CLOEXEC), 4096) == 0);
}

static int try_open(const char *at, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", at, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void files(void)
{
	char path[64];

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (ur_confine_files(dir))
		_exit(SKIPPED);
	CHECK(!try_open(dir, "x", O_WRONLY | O_CREAT | O_EXCL));
	snprintf(path, sizeof(path), "%s/y", dir);
	CHECK(!mkdir(path, 0700) && !rmdir(path));
	CHECK(!symlink("x", path) && !unlink(path));
	CHECK_EQ(try_open("/tmp", "uroce-confine-no", O_WRONLY | O_CREAT),
		 -EACCES);
	CHECK_EQ(try_open("/dev", "null", O_WRONLY), -EACCES);
	CHECK(!try_open("/dev", "null", O_RDONLY));
	CHECK_EQ(mkdir("/tmp/uroce-confine-no", 0700), -1);
	CHECK_EQ(errno, EACCES);
	CHECK_EQ(execl("/bin/true", "true", NULL), -1);
	CHECK_EQ(errno, EACCES);
	snprintf(path, sizeof(path), "%s/x", dir);
	CHECK(!unlink(path));
}

static void mounts(void)
{
	char path[64];

	if (ur_confine_mounts(dir))
		_exit(SKIPPED);
	CHECK(!try_open(dir, "x", O_WRONLY | O_CREAT | O_EXCL));
	snprintf(path, sizeof(path), "%s/x", dir);
	CHECK(!unlink(path));
	CHECK_EQ(try_open("/tmp", "uroce-confine-no", O_WRONLY | O_CREAT),
		 -EROFS);
	CHECK_EQ(chmod("/tmp", 01777), -1);
	CHECK_EQ(errno, EROFS);
}

static u64 caps_of_thread(void)
{
	char line[128];
	unsigned long long all = 0, one;
	FILE *f = fopen("/proc/thread-self/status", "re");

	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "Cap", 3) &&
		    sscanf(line + 7, "%llx", &one) == 1)
			all |= one;
	fclose(f);
	return all;
}

static int plain_socket(void *arg)
{
	/* Nothing in effect: no route can be changed by what is opened now. */
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

static void everything(void)
{
	u64 before = caps_of_thread(), after;

	CHECK(ur_confine_without(plain_socket, NULL) >= 0);
	CHECK_EQ(caps_of_thread(), before);
	ur_confine(dir, false);
	if (!ur_confinement()->calls)
		_exit(SKIPPED);
	after = caps_of_thread();
	/* CAP_NET_ADMIN, and only if it was there. */
	CHECK(!(after & ~(1ull << 12)));
	CHECK(!(after & ~before));
	CHECK_EQ(prctl(PR_SET_NAME, "confined"), 0);
	CHECK_EQ(try_open("/tmp", "uroce-confine-no", O_WRONLY | O_CREAT) &&
			 !try_open(dir, "z", O_WRONLY | O_CREAT),
		 ur_confinement()->files || ur_confinement()->mounts);
}

static bool any_skipped;

static void passes(const char *name, void (*fn)(void))
{
	int status = apart(fn);

	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		printf("%s: not on this machine\n", name);
		any_skipped = true;
		return;
	}
	if (status)
		fprintf(stderr, "%s: wait status 0x%x\n", name, status);
	CHECK_EQ(status, 0);
}

static void dies(const char *name, void (*fn)(void), int sig)
{
	int status = apart(fn);

	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
		return;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != sig)
		fprintf(stderr, "%s: wait status 0x%x\n", name, status);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == sig);
}

int main(void)
{
	char path[64];

	CHECK(mkdtemp(dir));
	passes("quiet", quiet);
	passes("refused", refused);
	passes("allowed", allowed);
	dies("execve", try_exec, SIGSYS);
	dies("execveat", try_execveat, SIGSYS);
	dies("process_vm_readv", try_peek, SIGSYS);
	dies("unshare", try_unshare, SIGSYS);
	dies("setns", try_setns, SIGSYS);
	dies("mount", try_mount, SIGSYS);
	dies("bpf", try_bpf, SIGSYS);
	dies("io_uring_setup", try_io_uring, SIGSYS);
	if (!SANITIZED) {
		dies("ptrace", try_ptrace, SIGSYS);
		dies("thread", try_thread, SIGSYS);
		dies("abort", try_abort, SIGABRT);
	}
	passes("files", files);
	passes("mounts", mounts);
	passes("everything", everything);
	snprintf(path, sizeof(path), "%s/z", dir);
	unlink(path);
	CHECK(!rmdir(dir));
	if (any_skipped)
		printf("the rest is as it should be\n");
	return 0;
}
