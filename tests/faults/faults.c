// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * faults UROCED start|verbs|cm|traffic|kinds: see faults.h, and run.sh for what it
 * needs around it. UROCE_FULL=1 leaves no call out.
 */
#include "tests/faults/faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/device/company.h"
#include "engine/slots.h"
#include "tests/faults/inject.h"
#include "util/os/proof.h"

struct daemon_proc device;
struct ibv_context *eth1, *eth2;
static struct inject *page;
static const char *uroced;
static int files_before, connections_before, rounds;

static void make_page(void)
{
	int fd = memfd_create("inject", 0);
	char text[16];

	CHECK(fd >= 0 && !ftruncate(fd, sizeof(*page)));
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    0);
	CHECK(page != MAP_FAILED);
	snprintf(text, sizeof(text), "%d", fd);
	CHECK(!setenv(INJECT_ENV, text, 1));
}

void faults_arm(int64_t n)
{
	atomic_store(&page->err, 0);
	atomic_store(&page->left, n);
}

int faults_disarm(void)
{
	atomic_store(&page->left, 0);
	return atomic_load(&page->err);
}

int64_t faults_next(int64_t n)
{
	rounds++;
	if (getenv("UROCE_FULL") || n < 8)
		return n + 1;
	return n + 1 + n / 4;
}

/* Those for traffic come and go with it, and some are kept. */
static int count_files(void)
{
	struct dirent *e;
	char path[32];
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)device.pid);
	dir = opendir(path);
	CHECK(dir);
	while ((e = readdir(dir)))
		if (readlinkat(dirfd(dir), e->d_name, path, 6) < 6 ||
		    memcmp(path, "socket", 6))
			n++;
	closedir(dir);
	return n;
}

static int connect_to(const void *arg)
{
	return client_connect(arg);
}

/* Open all the while, so that whatever fails does so among all kinds. */
static struct company company = {.connect = connect_to,
				 .arg = &device,
				 .device = "uroce0",
				 .no_engine = true};

int faults_show_right(int sock)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_SYNC};
	int proof = ur_proof_net_admin(), fd, err;

	/* A user has his number alone to show. */
	if (proof < 0)
		return 0;
	client_send(sock, &msg, &proof, 1);
	close(proof);
	err = client_recv(sock, &msg, &fd) ? EPIPE : (int)-msg.ret;
	CHECK(fd < 0);
	return err;
}

/* What uroced grants with a place stays open until the next one has the place, so each has been somebody's before
 * descriptors are counted. */
static void use_places(void)
{
	for (u32 i = 0; i < UR_PLACES; i++) {
		faults_open();
		faults_close();
	}
}

void faults_start(void)
{
	snprintf(device.dir, sizeof(device.dir), "%s", getenv("UROCE_RUN_DIR"));
	CHECK(faults_spawn(uroced, &device.pid));
	client_settle(&device);
	company_open(&company);
	use_places();
	faults_baseline(0);
}

void faults_baseline(int connections)
{
	connections_before = connections + COMPANY_SESSIONS;
	client_settle_to(&device, connections_before);
	files_before = count_files();
}

void faults_settle(void)
{
	time_t end = time(NULL) + 20;

	client_settle_to(&device, connections_before);
	/* The files of a connection go after the connection. */
	while (count_files() > files_before)
		CHECK(time(NULL) < end);
}

void faults_stop(void)
{
	company_look(&company);
	company_close(&company);
	daemon_stop(&device);
	printf("%d rounds\n", rounds);
	CHECK(rounds);
}

static struct ibv_context *open_at(struct ibv_device **list, int n)
{
	struct ibv_context *ctx;

	CHECK(list && list[n]);
	ctx = ibv_open_device(list[n]);
	CHECK(ctx);
	return ctx;
}

void faults_open(void)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	CHECK_EQ(n, 2);
	eth1 = open_at(list, 0);
	eth2 = open_at(list, 1);
	ibv_free_device_list(list);
}

void faults_close(void)
{
	CHECK_EQ(ibv_close_device(eth1), 0);
	CHECK_EQ(ibv_close_device(eth2), 0);
}

static void say(const struct step *s, int64_t n, int fault, int err)
{
	fprintf(stderr, "%s, call %" PRId64 ": %s() at 0x%" PRIxPTR " %s: %s\n",
		s->name, n, page->what, page->caller, strerror(fault),
		err ? strerror(err) : "done");
}

static void once(const struct step *s, int64_t n, int *fault)
{
	int err;

	if (s->prepare)
		s->prepare();
	faults_arm(n);
	err = s->run();
	*fault = faults_disarm();
	if (*fault && getenv("FAULTS_VERBOSE"))
		say(s, n, *fault, err);
	/* The device's own limit is to its clients that of the system. */
	if (err == ENFILE && *fault == EMFILE)
		*fault = ENFILE;
	if (err && err != *fault && s->also != ANY_ERRNO && err != s->also) {
		say(s, n, *fault, err);
		exit(1);
	}
	if (err) {
		err = s->run();
		if (err) {
			say(s, n, *fault, err);
			fprintf(stderr, "%s: and then not again\n", s->name);
			exit(1);
		}
	}
	if (s->undo)
		s->undo();
}

void faults_each(const struct step *s)
{
	for (; s->name; s++) {
		int fault = 1;

		for (int64_t n = 1; fault; n = faults_next(n))
			once(s, n, &fault);
	}
}

int main(int argc, char **argv)
{
	CHECK_EQ(argc, 3);
	CHECK(getenv("UROCE_RUN_DIR"));
	uroced = argv[1];
	make_page();
	if (!strcmp(argv[2], "start")) {
		test_start(uroced);
		return 0;
	}
	faults_start();
	if (!strcmp(argv[2], "verbs"))
		test_verbs();
	else if (!strcmp(argv[2], "cm"))
		test_cm();
	else if (!strcmp(argv[2], "traffic"))
		test_traffic();
	else if (!strcmp(argv[2], "kinds"))
		test_kinds();
	else
		return 2;
	faults_stop();
	return 0;
}
