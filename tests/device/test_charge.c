// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Things that users make the device hold are charged before it holds them: descriptors,
 * with few of them; mapped regions, in a control group with little
 * memory, which the kernel ends when it takes more.
 *
 * usage: test_charge UROCED
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/quota.h"
#include "tests/check.h"
#include "tests/device/client.h"

#define GREEDY 65534
#define OTHER  65533
#define FILES  1024u
#define MIB    (1ull << 20)
/* The limit of the control group. All users have half of it, and one half of
 * that. */
#define LIMIT (128 * MIB)
#define SHARE (LIMIT / 4)

/* ---- descriptors ---- */

/* The things that this process holds of one context. */
struct held {
	int sock, visible, async;
};

static int64_t make_async(int sock, int *fd)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attr[1];
	} cmd = {
		.hdr = {.length = sizeof(cmd),
			.object_id = UVERBS_OBJECT_ASYNC_EVENT,
			.method_id = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
			.num_attrs = 1},
		.attr = {{.attr_id = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
			  .flags = UVERBS_ATTR_F_MANDATORY}},
	};
	int64_t ret = client_ioctl(sock, &cmd);

	*fd = ret ? -1 : (int)cmd.attr[0].data;
	return ret;
}

static void drop(struct held *h)
{
	close(h->sock);
	if (h->visible >= 0)
		close(h->visible);
	if (h->async >= 0)
		close(h->async);
}

/* As rdma-core does: open, context, asynchronous event file. */
static int64_t open_context(const struct daemon_proc *d, struct held *h)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_UVERBS,
				    .open.version = UROCE_TUN_VERSION,
				    .name = "uverbs0"};
	int fds[2] = {client_mem(),
		      open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
	struct uroce_alloc_ucontext_resp resp;
	int64_t ret;

	h->sock = client_connect(d);
	h->visible = h->async = -1;
	client_send(h->sock, &msg, fds, 2);
	close(fds[0]);
	close(fds[1]);
	/* A client that is turned away may get the error of bytes that were not
	 * read first. */
	ret = client_recv(h->sock, &msg, &h->visible) ? -ECONNRESET : msg.ret;
	if (!ret)
		ret = client_get_context(h->sock, &resp);
	if (!ret)
		ret = make_async(h->sock, &h->async);
	if (ret)
		drop(h);
	return ret;
}

/* Until one is refused, n at most; how many. */
static unsigned int open_all(struct daemon_proc *d, uid_t uid, struct held *h,
			     unsigned int max)
{
	unsigned int n = 0;
	int64_t ret = 0;

	d->as = uid;
	while (n < max && !(ret = open_context(d, &h[n])))
		n++;
	d->as = 0;
	CHECK(ret == -EMFILE || ret == -ENFILE || ret == -ECONNRESET);
	return n;
}

static unsigned int descriptors(pid_t pid)
{
	unsigned int n = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* Each has half of what the others left, whoever he is. */
static void test_descriptors(const char *uroced)
{
	static struct held greedy[FILES], other[FILES], root[FILES];
	struct daemon_proc d = {.max_files = FILES};
	unsigned int own, n, m, r, share = (FILES - FILES / 8) / 2;

	daemon_start(&d, uroced, 0);
	CHECK(!chmod(d.dir, 0755));
	own = descriptors(d.pid);
	n = open_all(&d, GREEDY, greedy, FILES);
	CHECK(n >= share / (UR_FDS_SESSION + UR_FDS_UVERBS + 2));
	/* All that it holds for him is charged: nothing beyond his part, but for
	 * sockets of those turned away that are about to be closed. */
	printf("%u contexts have %u of %u descriptors\n", n,
	       descriptors(d.pid) - own, FILES);
	CHECK(descriptors(d.pid) - own <= share + 1);
	m = open_all(&d, OTHER, other, FILES);
	printf("the next user has %u contexts\n", m);
	CHECK(m + 1 >= n / 2 && m <= n / 2 + 1);
	r = open_all(&d, 0, root, FILES);
	printf("and root %u\n", r);
	CHECK(r + 1 >= m / 2 && r <= m / 2 + 1);
	while (r)
		drop(&root[--r]);
	client_settle_to(&d, (int)(n + m));
	client_check(&d);
	while (m)
		drop(&other[--m]);
	m = n;
	while (n)
		drop(&greedy[--n]);
	/* As soon as they have ended nothing of it is left. */
	do {
		client_settle(&d);
		r = n = open_all(&d, GREEDY, greedy, FILES);
		while (n)
			drop(&greedy[--n]);
	} while (r < m);
	CHECK(r == m);
	daemon_stop(&d);
}

/* ---- memory ---- */

static char outer[64], inner[80];
static int hierarchy; /* its folder */
static struct daemon_proc inside;

static bool put(const char *folder, const char *name, const char *text)
{
	char path[600];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	done = fd >= 0 &&
	       write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0)
		close(fd);
	return done;
}

/* By the folder, which may be hidden by then. */
static void remove_groups(void)
{
	char name[64];

	/* A group that something is in stays. */
	if (inside.pid && !kill(inside.pid, SIGKILL))
		waitpid(inside.pid, NULL, 0);
	snprintf(name, sizeof(name), "uroce-test-%d/inner", (int)getpid());
	unlinkat(hierarchy, name, AT_REMOVEDIR);
	*strchr(name, '/') = 0;
	unlinkat(hierarchy, name, AT_REMOVEDIR);
}

/* Mounts made from here on belong to this process and its children alone. */
static void own_mounts(void)
{
	CHECK(!unshare(CLONE_NEWNS));
	CHECK(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

/* As below `ip netns exec`, which mounts a /sys without control groups. */
static void hide_groups(void)
{
	int fd = open(inner, O_PATH | O_DIRECTORY | O_CLOEXEC);

	CHECK(fd >= 0);
	snprintf(inner, sizeof(inner), "/proc/self/fd/%d", fd);
	CHECK(!mount("sysfs", "/sys", "sysfs", 0, NULL));
}

/* A group in another one, which has the limit. False: not allowed here. */
static bool make_groups(const char *mount, const char *limit)
{
	char text[24];

	snprintf(outer, sizeof(outer), "%s/uroce-test-%d", mount,
		 (int)getpid());
	snprintf(inner, sizeof(inner), "%s/inner", outer);
	snprintf(text, sizeof(text), "%llu", LIMIT);
	hierarchy = open(mount, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (hierarchy < 0 || mkdir(outer, 0755))
		return false;
	put(outer, "cgroup.subtree_control", "+memory");
	if (!mkdir(inner, 0755) && put(outer, limit, text))
		return true;
	remove_groups();
	return false;
}

static void move(pid_t pid, const char *folder)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	CHECK(put(folder, "cgroup.procs", text));
}

/* And in its group: that is what its rings are charged to. */
static void start(struct daemon_proc *d, const char *uroced)
{
	daemon_start(d, uroced, 0);
	move(d->pid, inner);
	CHECK(!chmod(d->dir, 0755));
}

static int user_session(struct daemon_proc *d, uid_t uid)
{
	int sock;

	d->as = uid;
	sock = client_session(d);
	d->as = 0;
	return sock;
}

/* MiB of the daemon's mappings of the file. */
static unsigned long long mapped(const struct daemon_proc *d)
{
	unsigned long long from, to, bytes = 0;
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)d->pid);
	f = fopen(path, "re");
	CHECK(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "/memfd:sparse") &&
		    sscanf(line, "%llx-%llx", &from, &to) == 2)
			bytes += to - from;
	fclose(f);
	return bytes / MIB;
}

/* uroced maps no region of a file, so a file with no page is not charged, however large. */
static void test_regions(struct daemon_proc *d)
{
	int fd = memfd_create("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int sock = user_session(d, GREEDY);
	uint32_t pd = client_alloc_pd(sock), mr;

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)(2 * LIMIT)));
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK));
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(client_reg_dmabuf(sock, pd, fd, 0, 2 * SHARE, &mr), 0);
		CHECK_EQ(mapped(d), 0);
	}
	close(sock);
	close(fd);
	client_settle(d);
}

static void end(struct daemon_proc *d)
{
	daemon_stop(d);
	d->pid = 0;
}

static void test_memory(const char *uroced)
{
	own_mounts();
	if (!make_groups("/sys/fs/cgroup/memory", "memory.limit_in_bytes") &&
	    !make_groups("/sys/fs/cgroup", "memory.max"))
		SKIP("no control group of memory can be made here");
	atexit(remove_groups);
	start(&inside, uroced);
	test_regions(&inside);
	end(&inside);
	hide_groups();
	start(&inside, uroced);
	end(&inside);
}

int main(int argc, char **argv)
{
	struct rlimit rl;

	cases(&argc, argv);
	CHECK(argc > 1);
	if (geteuid())
		SKIP("only root can be several users");
	CHECK(!getrlimit(RLIMIT_NOFILE, &rl));
	rl.rlim_cur = rl.rlim_max;
	CHECK(!setrlimit(RLIMIT_NOFILE, &rl));
	client_private_net();
	STEP(test_descriptors(argv[1]));
	STEP(test_memory(argv[1]));
	return cases_status();
}
