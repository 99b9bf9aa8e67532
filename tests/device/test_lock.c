// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Whatever a user has, and however he ends it: the control lock, which all
 * others wait for, is held for a millisecond at a time at most. Processor time is
 * measured, so a busy machine is no slower.
 *
 * usage: test_lock UROCED
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/kinds.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_NS 20000000ull
#else
#define LIMIT_NS 3000000ull
#endif
/* Some tenths of a millisecond are meant. Interrupts count too, and what a virtual
 * machine is not given. */
#define TRIES 3

static struct daemon_proc dev;

/* Nanoseconds since the last question. */
static uint64_t longest(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_STATUS, .name = "lock"};
	int sock = client_connect(&dev), fd;
	unsigned long long ns;
	char text[64] = "";

	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	CHECK(pread(fd, text, sizeof(text) - 1, 0) > 0);
	CHECK_EQ(sscanf(text, "{\"longest_ns\":%llu}", &ns), 1);
	close(fd);
	close(sock);
	return ns;
}

static void link_command(uint64_t what, const char *name)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_LINK, .link.what = what};
	int sock, fd;

	dev.admin = true;
	sock = client_connect(&dev);
	dev.admin = false;
	strcpy(msg.name, name);
	client_send(sock, &msg, NULL, 0);
	CHECK(!client_recv(sock, &msg, &fd));
	CHECK_EQ(msg.ret, 0);
	close(sock);
}

/* To make the files of one takes longer, and is nobody's but an administrator's
 * doing. */
static void add_device(void)
{
	link_command(UROCE_TUN_LINK_ADD, "lo uroce0");
	longest();
}

/* ---- a user with many objects, and connections ---- */

#define OBJECTS 1500

static int open_cm(void)
{
	struct uroce_tun_msg msg = {.op = UROCE_TUN_OPEN,
				    .kind = UROCE_TUN_RDMA_CM,
				    .open.version = UROCE_TUN_VERSION,
				    .name = "rdma_cm"};
	int sock = client_connect(&dev), mem = client_mem();

	client_send(sock, &msg, &mem, 1);
	close(mem);
	CHECK_EQ(client_hear(sock, &msg), 0);
	return sock;
}

static void make_many(struct user *u)
{
	static int64_t (*const make[])(struct user *) = {
		make_srq, make_qp, make_mr, make_mw, make_ah, make_id,
	};

	u->sock = client_session_with_engine(&dev);
	u->cm = open_cm();
	CHECK_EQ(make_pd(u), 0);
	CHECK_EQ(make_cq(u), 0);
	CHECK_EQ(make_xrcd(u), 0);
	for (size_t k = 0; k < sizeof(make) / sizeof(make[0]); k++)
		for (int i = 0; i < OBJECTS; i++)
			CHECK_EQ(make[k](u), 0);
}

static void hang_up(struct user *u)
{
	close(u->sock);
	close(u->cm);
	client_settle(&dev);
}

/* A process that has it open ends as well. */
static void remove_device(struct user *u)
{
	link_command(UROCE_TUN_LINK_DEL, "uroce0");
	hang_up(u);
}

static void check_many(void (*end)(struct user *u))
{
	uint64_t made = 0, ended = 0;

	for (int i = 0; i < TRIES; i++) {
		struct user u = {0};

		longest();
		make_many(&u);
		made = longest();
		end(&u);
		ended = longest();
		if (end == remove_device)
			add_device();
		if (made < LIMIT_NS && ended < LIMIT_NS)
			return;
	}
	fprintf(stderr, "made in %llu ns, and ended in %llu\n",
		(unsigned long long)made, (unsigned long long)ended);
	CHECK(made < LIMIT_NS && ended < LIMIT_NS);
}

int main(int argc, char **argv)
{
	char lock[80];

	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	CHECK(!setenv("UROCE_MEASURE_LOCK", "1", 1));
	/* As /run is: elsewhere to make a file may take long. */
	strcpy(dev.dir, "/dev/shm/uroce-test.XXXXXX");
	CHECK(mkdtemp(dev.dir));
	daemon_start(&dev, argv[1], 0);
	STEP(check_many(hang_up));
	STEP(check_many(remove_device));
	daemon_stop(&dev);
	snprintf(lock, sizeof(lock), "%s/lock", dev.dir);
	CHECK(!unlink(lock));
	CHECK(!rmdir(dev.dir));
	return cases_status();
}
