// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The rights of a process to its memory: asked for, and read in the text. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/ground/user.h"
#include "tests/check.h"

#define PAGE  4096ull
#define PAGES 6

static struct ur_user_mem *self;
static bool can_ask;

static int open_maps(pid_t pid)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

/* Is it the kernel's? qemu-user makes up its own, in a file that it shows in
 * the kernel's place. */
static bool has_maps(void)
{
	int fd = open_maps(getpid());
	struct statfs fs;

	CHECK(!fstatfs(fd, &fs));
	close(fd);
	return fs.f_type == PROC_SUPER_MAGIC;
}

/* rw, rw of a file with the longest name, r, none, rw, nothing. */
static u64 layout(void)
{
	static char name[4000];
	int fd, n = 0;
	u8 *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	strcpy(name, "/tmp/ur-maps.XXXXXX");
	CHECK(mkdtemp(name));
	CHECK(!chdir(name));
	while (strlen(name) < 3700) {
		size_t len = strlen(name);

		memset(name + len, 'd', 200);
		name[len] = '/';
		name[len + 200] = 0;
		CHECK(!mkdir(name + len + 1, 0700) && !chdir(name + len + 1));
		n++;
	}
	fd = open("file", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !ftruncate(fd, PAGE));
	CHECK(mmap(p + PAGE, PAGE, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	close(fd);
	/* The name stays in the line of the mapping, with (deleted). */
	unlink("file");
	while (n--) {
		const char *last = strrchr(name, '/') + 1;

		CHECK(!chdir(".."));
		CHECK(!rmdir(last));
		name[strlen(name) - 200] = 0;
	}
	CHECK(!chdir("/") && !rmdir(name));
	CHECK(!mprotect(p + 2 * PAGE, PAGE, PROT_READ));
	CHECK(!mprotect(p + 3 * PAGE, PAGE, PROT_NONE));
	CHECK(!munmap(p + 5 * PAGE, PAGE));
	return (uintptr_t)p;
}

static void test_rights(u64 at)
{
	const int rw = PROT_READ | PROT_WRITE;
	static const struct {
		u64 from, len;
		int prot, want;
	} cases[] = {
		{0, 1, PROT_READ, 0},
		{0, 2 * PAGE, PROT_READ | PROT_WRITE, 0},
		{100, 2 * PAGE - 100, PROT_WRITE, 0},
		{100, 2 * PAGE - 99, PROT_WRITE, -EFAULT},
		{100, 2 * PAGE - 99, PROT_READ, 0},
		{0, 3 * PAGE, PROT_READ, 0},
		{0, 3 * PAGE + 1, PROT_READ, -EFAULT},
		{3 * PAGE, 1, PROT_READ, -EFAULT},
		{3 * PAGE, 1, PROT_WRITE, -EFAULT},
		{4 * PAGE, PAGE, PROT_WRITE, 0},
		{4 * PAGE, PAGE + 1, PROT_READ, -EFAULT},
		{5 * PAGE, 1, PROT_READ, -EFAULT},
		{0, 0, PROT_WRITE, 0},
	};

	for (size_t i = 0; i < UR_ARRAY_SIZE(cases); i++)
		CHECK_EQ(ur_user_rights(self, at + cases[i].from, cases[i].len,
					cases[i].prot),
			 cases[i].want);
	CHECK_EQ(ur_user_rights(self, 0, 1, PROT_READ), -EFAULT);
	CHECK_EQ(ur_user_rights(self, ~0ull - 8, 8, PROT_READ), -EFAULT);
	CHECK_EQ(ur_user_rights(self, ~0ull - 8, 16, rw), -EFAULT);
}

/* Protections count for what is written, where they can be asked for. */
static void test_write(u64 at)
{
	u64 word = 1;

	if (!can_ask)
		return;
	CHECK_EQ(ur_user_write(self, at + 2 * PAGE - 8, &word, 8), 0);
	CHECK_EQ(ur_user_write(self, at + 2 * PAGE - 4, &word, 8), -EFAULT);
	CHECK_EQ(ur_user_write(self, at + 2 * PAGE, &word, 8), -EFAULT);
	CHECK_EQ(*(u64 *)(uintptr_t)(at + 2 * PAGE), 0);
	CHECK_EQ(ur_user_read(self, at + 2 * PAGE, &word, 8), 0);
	CHECK_EQ(ur_user_write(self, at + 3 * PAGE, &word, 8), -EFAULT);
}

/* Nothing but a maps file is asked anything. */
static void test_others(void)
{
	static const char *const names[] = {
		"/dev/null", "/proc/self/status", "/proc/self/mem",
		"/proc/self/smaps", "/proc/version"};
	struct ur_user_mem *m;
	int fd;

	CHECK(!ur_user_mem_create(open("/proc/self/mem", O_RDWR | O_CLOEXEC),
				  getpid(), &m));
	for (size_t i = 0; i < UR_ARRAY_SIZE(names); i++) {
		fd = open(names[i], O_RDONLY | O_CLOEXEC);
		CHECK(fd >= 0);
		CHECK_EQ(ur_user_mem_maps(m, fd, 0), -EINVAL);
		CHECK_EQ(ur_user_mem_maps(m, fd, (uintptr_t)&self), -EINVAL);
		close(fd);
	}
	CHECK_EQ(ur_user_rights(m, 0, 1, PROT_WRITE), 0); /* not known */
	fd = open_maps(getpid());
	CHECK_EQ(ur_user_mem_maps(m, fd, 0), 0);
	fd = open_maps(getpid());
	CHECK_EQ(ur_user_mem_maps(m, fd, 0), -EINVAL); /* one is enough */
	close(fd);
	ur_user_mem_put(m);
}

/* The kernel as before 6.11, which answers no question about maps. */
static void forget_query(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {UR_ARRAY_SIZE(code), code};

	CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		SKIP("no system call filters");
}

/* On such a kernel, of a client whose procfs is not the device's (a service of
 * systemd's, a container): its maps are no file that the device sees. */
static void test_other_procfs(u64 at)
{
	struct ur_user_mem *m;
	int fd;

	forget_query();
	CHECK(!ur_user_mem_create(open("/proc/self/mem", O_RDWR | O_CLOEXEC),
				  getppid(), &m));
	CHECK(!m->same);
	fd = open_maps(getpid());
	CHECK_EQ(ur_user_mem_maps(m, fd, 0), -EINVAL);
	CHECK_EQ(ur_user_mem_maps(m, fd, at + 3 * PAGE), -EINVAL);
	CHECK_EQ(ur_user_mem_maps(m, fd, (uintptr_t)&self), 0);
	CHECK(!m->query);
	CHECK_EQ(ur_user_rights(m, at, 2 * PAGE, PROT_WRITE), 0);
	CHECK_EQ(ur_user_rights(m, at, 3 * PAGE, PROT_WRITE), -EFAULT);
	ur_user_mem_put(m);
	test_others();
}

/* A process that has ended allows nothing. */
static void test_ended(void)
{
	char path[40], c;
	struct ur_user_mem *m;
	int p[2], st;
	pid_t pid;

	CHECK(!pipe(p));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(p[1]);
		_exit(read(p[0], &c, 1) != 0);
	}
	close(p[0]);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	CHECK(!ur_user_mem_create(open(path, O_RDWR | O_CLOEXEC), pid, &m));
	CHECK(!ur_user_mem_maps(m, open_maps(pid), 0));
	CHECK_EQ(ur_user_rights(m, (uintptr_t)&self, 8, PROT_WRITE), 0);
	close(p[1]);
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK(ur_user_rights(m, (uintptr_t)&self, 8, PROT_WRITE) < 0);
	m->query = false;
	CHECK(ur_user_rights(m, (uintptr_t)&self, 8, PROT_WRITE) < 0);
	ur_user_mem_put(m);
}

int main(int argc, char **argv)
{
	u64 at;

	cases(&argc, argv);
	if (!has_maps())
		SKIP("/proc/self/maps is not the kernel's");
	at = layout();
	CHECK(!ur_user_mem_create(open("/proc/self/mem", O_RDWR | O_CLOEXEC),
				  getpid(), &self));
	CHECK(!ur_user_mem_maps(self, open_maps(getpid()), 0));
	can_ask = self->query;
	STEP(test_rights(at));
	STEP(test_write(at));
	self->query = false; /* as before Linux 6.11 */
	STEP(test_rights(at));
	STEP(test_others());
	STEP(test_ended());
	STEP(test_other_procfs(at)); /* the last: the filter stays */
	ur_user_mem_put(self);
	return cases_status();
}
