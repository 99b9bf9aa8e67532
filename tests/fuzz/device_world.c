// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A whole device process, without its main(). */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/administrator.h"
#include "device/client_rights.h"
#include "device/fault.h"
#include "device/netdev.h"
#include "device/netlink.h"
#include "device/nldev/nldev.h"
#include "device/report/record.h"
#include "device/tree/sysfs.h"
#include "device/ucma/ucma.h"
#include "device/umad/umad.h"
#include "device/settings/setting.h"
#include "device/uverbs/ufile.h"
#include "tests/check.h"
#include "tests/device/company.h"
#include "tests/fuzz/device_world.h"
#include "util/os/proof.h"

struct ur_daemon device_world = {
	.listen_fd = -1,
	.lock_fd = -1,
	.file_ops = {[UROCE_TUN_UVERBS] = &ur_ufile_ops},
	.setting_ops = &ur_setting_ops,
};

int device_world_client(void (*prepare)(void))
{
	char path[64];
	pid_t pid = fork();
	int mem;

	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (prepare)
			prepare();
		for (;;)
			pause();
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		SKIP("the memory of a child process cannot be opened");
	return mem;
}

/* Port 4791 of 127.0.0.1 and ::1 must be free, and stay inside. */
static void own_network(void)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	int sock;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP("network namespaces are not allowed here");
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(sock >= 0);
	CHECK(!ioctl(sock, SIOCGIFFLAGS, &ifr));
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(sock, SIOCSIFFLAGS, &ifr))
		SKIP("the loopback of a new namespace cannot be set up");
	close(sock);
}

/* Removes the files that the recorder has written. */
static void remove_records(void)
{
	char path[PATH_MAX + 64];

	for (u32 n = 1; n <= UR_RECORD_FILES; n++) {
		snprintf(path, sizeof(path), "%s/record/uroce0-%u",
			 device_world.run_dir, n);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/record", device_world.run_dir);
	rmdir(path);
}

static void remove_run_dir(void)
{
	remove_records();
	ur_sysfs_fini(&device_world);
	if (rmdir(device_world.run_dir))
		fprintf(stderr, "%s stays behind\n", device_world.run_dir);
}

static void make_run_dir(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(device_world.run_dir, sizeof(device_world.run_dir),
		 "%s/uroce-fuzz-XXXXXX", tmp ? tmp : "/tmp");
	CHECK(mkdtemp(device_world.run_dir));
	atexit(remove_run_dir);
}

static void start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, fn, arg));
	pthread_detach(thread);
}

static void *serve(void *arg)
{
	ur_loop_serve(device_world.loop);
	return NULL;
}

/* ---- the company ---- */

static int connect_inside(const void *arg)
{
	int pair[2], err;

	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	ur_loop_lock(device_world.loop);
	err = ur_session_start(&device_world, pair[1]);
	ur_loop_unlock(device_world.loop);
	CHECK(!err);
	return pair[0];
}

static struct company company = {.connect = connect_inside, .full = true};
static u64 last_session; /* of its own; later ones are others' */

void device_world_meet(void)
{
	const struct ur_device *dev =
		ur_list_first(&device_world.devices, struct ur_device, node);

	company.device = dev->name;
	company.uverbs = dev->uverbs;
	company.umad = dev->umad;
	company_open(&company);
	ur_loop_lock(device_world.loop);
	last_session = device_world.next_session;
	ur_loop_unlock(device_world.loop);
	device_world_settle();
}

void device_world_part(void)
{
	bool any;

	company_close(&company);
	do {
		sched_yield();
		ur_loop_lock(device_world.loop);
		any = device_world.n_sessions;
		ur_loop_unlock(device_world.loop);
	} while (any);
	CHECK(ur_list_empty(&device_world.files));
}

/* Those that have ended are off the list before they are off the count. */
void device_world_settle(void)
{
	u32 others, listed;

	do {
		sched_yield();
		others = listed = 0;
		ur_loop_lock(device_world.loop);
		ur_list_for_each(it, &device_world.sessions) {
			others +=
				ur_list_entry(it, struct ur_session, node)->id >
				last_session;
			listed++;
		}
		others += device_world.n_sessions - listed;
		ur_loop_unlock(device_world.loop);
	} while (others);
}

/* An input has to close before this all that it has opened. */
void device_world_look(void)
{
	u32 files = 0;

	company_look(&company);
	device_world_settle();
	ur_loop_lock(device_world.loop);
	ur_list_for_each(it, &device_world.files)
		files++;
	ur_loop_unlock(device_world.loop);
	CHECK_EQ(files, COMPANY_FILES);
}

void device_world_start(void)
{
	int lock, proof;

	own_network();
	make_run_dir();
	ur_daemon_init(&device_world);
	ur_administrators_init();
	lock = memfd_create("lock", MFD_CLOEXEC);
	CHECK(lock >= 0);
	CHECK(!ur_client_rights_init(lock));
	proof = ur_proof_net_admin();
	if (proof < 0 && !geteuid())
		SKIP("no socket that shows a right can be made");
	close(proof);
	close(lock);
	ur_nldev_watch(&device_world);
	ur_fault_watch(&device_world);
	ur_record_watch(&device_world);
	CHECK(!ur_loop_create(&device_world.loop));
	ur_loop_lock(device_world.loop);
	CHECK(!ur_ucma_init(&device_world));
	CHECK(!ur_umad_init(&device_world));
	CHECK(!ur_sysfs_init(&device_world));
	CHECK(!ur_netlink_open(&device_world, ur_netdevs_changed));
	CHECK(!ur_ucma_open_netlink(&device_world));
	CHECK(!ur_device_create(&device_world, "lo", NULL, -1));
	ur_loop_unlock(device_world.loop);
	start_thread(serve, NULL);
	device_world_meet();
}

struct front_end {
	void (*fn)(int sock);
	int sock;
};

static void *run_front_end(void *arg)
{
	struct front_end *f = arg;

	f->fn(f->sock);
	free(f);
	return NULL;
}

void device_world_session(struct ur_session *s, int mem, void (*fn)(int sock))
{
	struct front_end *f = malloc(sizeof(*f));
	int pair[2];

	CHECK(f);
	CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	s->daemon = &device_world;
	s->sock = pair[0];
	s->administers = true;
	CHECK(!ur_user_mem_create(mem, getpid(), &s->mem));
	*f = (struct front_end){fn, pair[1]};
	start_thread(run_front_end, f);
}
