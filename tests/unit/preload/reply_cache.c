// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The front-end answers commands whose answer the device has given ahead, and
 * nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel-abi/uroce-tunnel.h"
#include "tests/check.h"
#include "tests/unit/preload/cases.h"
#include "tests/unit/preload/fake_device.h"

struct question {
	uint32_t cmd;
	uint16_t in, out;
	uint64_t *response;
	uint32_t id, option;
};

static void cache_reply(int cm, const struct question *q, uint64_t answer)
{
	struct {
		uint32_t cmd, len;
		struct question q;
		uint64_t answer;
	} told = {FAKE_CACHE_REPLY, 32, *q, answer};

	told.q.response = NULL;
	CHECK_EQ(write(cm, &told, sizeof(told)), sizeof(told));
}

/* True when the device was asked. */
static bool asked(int fd, int cm, const void *question, ssize_t len)
{
	int before = ioctl(fd, FAKE_WRITES, 0);

	CHECK_EQ(write(cm, question, (size_t)len), len);
	return ioctl(fd, FAKE_WRITES, 0) != before;
}

void test_reply_cache(void)
{
	int fd = open_node();
	int cm = open(CM, O_RDWR | O_CLOEXEC), cm2;
	static uint64_t elsewhere;
	int ends[2], st;
	uint64_t answer = 0;
	pid_t pid;
	struct question q = {19, 16, 8, &answer, 5, 1}, other = q;

	/* Nothing is known before the first answer. */
	CHECK(asked(fd, cm, &q, sizeof(q)));
	cache_reply(cm, &q, 1234);
	CHECK(!asked(fd, cm, &q, sizeof(q)));
	CHECK_EQ(answer, 1234);
	/* Any number of times, and the last that was given. */
	cache_reply(cm, &q, 1235);
	CHECK(!asked(fd, cm, &q, sizeof(q)));
	CHECK_EQ(answer, 1235);
	/* Another question, form, length or file. */
	other.id = 6;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	other = q;
	other.option = 2;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	other = q;
	other.out = 16;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	CHECK(asked(fd, cm, &q, sizeof(q) - 1));
	/* A response that is not on the stack is the device's to write, and to
	 * refuse. */
	other = q;
	other.response = &elsewhere;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	other.response = NULL;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	CHECK_EQ(elsewhere, 0);
	/* It holds until the device takes it back. */
	CHECK(!asked(fd, cm, &q, sizeof(q)));
	CHECK_EQ(ioctl(fd, FAKE_CHANGE, 0), 0);
	CHECK(asked(fd, cm, &q, sizeof(q)));
	cache_reply(cm, &q, 1236);
	CHECK(!asked(fd, cm, &q, sizeof(q)));
	CHECK_EQ(answer, 1236);
	cm2 = open(CM, O_RDWR | O_CLOEXEC);
	CHECK(asked(fd, cm2, &q, sizeof(q)));
	close(cm2);
	/* A forked child has no business with the file. */
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(write(cm, &q, sizeof(q)) < 0 && errno == EACCES);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK_EQ(st, 0);
	/* The number has become another file's behind our back. */
	CHECK(!pipe(ends));
	CHECK_EQ(syscall(SYS_dup3, ends[1], cm, 0), cm);
	answer = 0;
	CHECK_EQ(write(cm, &q, sizeof(q)), sizeof(q));
	CHECK_EQ(read(ends[0], &other, sizeof(other)), sizeof(other));
	CHECK(!memcmp(&q, &other, sizeof(q)));
	CHECK_EQ(answer, 0);
	close(ends[0]);
	close(ends[1]);
	close(cm);
	close(fd);
}

struct get_event {
	uint32_t cmd;
	uint16_t in, out;
	uint64_t *response;
};

/* A command that the device refuses to answer ahead. */
static void other_command(int fd, int cm, int taken)
{
	uint32_t other[2] = {1};

	CHECK(asked(fd, cm, other, sizeof(other)));
	CHECK_EQ(ioctl(fd, FAKE_TAKEN, 0), taken);
}

static void resolve(int cm)
{
	uint32_t resolve[2] = {FAKE_RESOLVE};

	CHECK_EQ(write(cm, resolve, sizeof(resolve)), sizeof(resolve));
}

/* An event that came with a reply, or in a datagram, is taken once, and the
 * next command tells. */
void test_events_ahead(void)
{
	int fd = open_node();
	int cm = open(CM, O_RDWR | O_CLOEXEC);
	uint64_t event = 0;
	struct get_event get = {12, 8, FAKE_EVENT_ROOM, &event}, other = get;
	struct {
		uint32_t cmd;
		uint16_t in, out;
		uint64_t response;
		uint32_t id, fd;
	} migrate = {RDMA_USER_CM_CMD_MIGRATE_ID, 16, 4, 0, 0, 0};
	int before, cm2, st;
	pid_t pid;
	static uint64_t elsewhere;

	/* with a reply */
	resolve(cm);
	CHECK(!asked(fd, cm, &get, sizeof(get)));
	CHECK_EQ(event, 2000);
	other_command(fd, cm, UROCE_TUN_TAKEN);
	other_command(fd, cm, 0);
	/* in a datagram */
	event = 0;
	CHECK_EQ(ioctl(fd, FAKE_AHEAD, 0), 0);
	CHECK(!asked(fd, cm, &get, sizeof(get)));
	CHECK_EQ(event, 1000);
	/* once: the next datagram has none */
	CHECK_EQ(ioctl(fd, FAKE_PEERS, 0), 0);
	CHECK(asked(fd, cm, &get, sizeof(get)));
	CHECK_EQ(ioctl(fd, FAKE_TAKEN, 0), UROCE_TUN_TAKEN);
	/* not after another command, either way */
	resolve(cm);
	other_command(fd, cm, 0);
	CHECK(asked(fd, cm, &get, sizeof(get)));
	CHECK_EQ(ioctl(fd, FAKE_AHEAD, 0), 0);
	other_command(fd, cm, 0);
	CHECK(asked(fd, cm, &get, sizeof(get)));
	CHECK_EQ(ioctl(fd, FAKE_TAKEN, 0), 0);
	CHECK_EQ(ioctl(fd, FAKE_AHEAD, 1), 0);
	CHECK(asked(fd, cm, &get, sizeof(get)));
	/* not once the page has changed */
	resolve(cm);
	CHECK_EQ(ioctl(fd, FAKE_CHANGE, 0), 0);
	CHECK(asked(fd, cm, &get, sizeof(get)));
	CHECK_EQ(ioctl(fd, FAKE_TAKEN, 0), 0);
	/* not for another form, or a place that is not on the stack */
	resolve(cm);
	other.out = FAKE_EVENT_ROOM + 8;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	resolve(cm);
	other = get;
	other.response = &elsewhere;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	CHECK_EQ(elsewhere, 0);
	/* A forked child has no business with the file, and takes nothing. */
	resolve(cm);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(write(cm, &get, sizeof(get)) < 0 && errno == EACCES);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &st, 0), pid);
	CHECK_EQ(st, 0);
	/* The device hears of it before an id leaves the file. */
	CHECK(!asked(fd, cm, &get, sizeof(get)));
	cm2 = open(CM, O_RDWR | O_CLOEXEC);
	before = ioctl(fd, FAKE_WRITES, 0);
	migrate.fd = (uint32_t)cm;
	CHECK_EQ(write(cm2, &migrate, sizeof(migrate)), sizeof(migrate));
	CHECK_EQ(write(cm2, &migrate, sizeof(migrate)), sizeof(migrate));
	CHECK_EQ(ioctl(fd, FAKE_WRITES, 0), before + 3);
	close(cm2);
	close(cm);
	close(fd);
}

struct create {
	uint32_t cmd;
	uint16_t in, out;
	uint64_t uid;
	uint32_t *response;
	uint16_t ps;
	uint8_t qp_type, reserved[5];
};

static void make_spare(int cm)
{
	uint32_t spare[2] = {FAKE_SPARE};

	CHECK_EQ(write(cm, spare, sizeof(spare)), sizeof(spare));
}

/* An id that was sent ahead is given once, to a CREATE_ID of its kind; the next command tells of it. */
void test_reply_cache_spare(void)
{
	int fd = open_node(), cm = open(CM, O_RDWR | O_CLOEXEC), cm2, before;
	static uint32_t elsewhere;
	uint32_t id = 0;
	struct create create = {0, 24, 4, 77, &id, FAKE_PS, 2, {0}},
		      other = create;
	struct rdma_ucm_cmd_hdr hdr = {
		.cmd = RDMA_USER_CM_CMD_MIGRATE_ID, .in = 16, .out = 4};
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		struct rdma_ucm_migrate_id cmd;
	} migrate = {.hdr = hdr, .cmd.fd = (uint32_t)cm};

	CHECK(asked(fd, cm, &create, sizeof(create)));
	make_spare(cm);
	CHECK(!asked(fd, cm, &create, sizeof(create)));
	CHECK_EQ(id, FAKE_ID);
	other_command(fd, cm, UROCE_TUN_CREATED);
	CHECK_EQ(ioctl(fd, FAKE_CREATED, 0), 77 << 16 | FAKE_ID);
	other_command(fd, cm, 0);
	CHECK_EQ(ioctl(fd, FAKE_CREATED, 0), 0);
	/* once */
	CHECK(asked(fd, cm, &create, sizeof(create)));
	/* another kind, length, room or place */
	make_spare(cm);
	other.ps = 0x111;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	other = create;
	other.reserved[4] = 1;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	CHECK(asked(fd, cm, &create, sizeof(create) - 1));
	other = create;
	other.out = 8;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	other = create;
	other.response = &elsewhere;
	CHECK(asked(fd, cm, &other, sizeof(other)));
	CHECK_EQ(elsewhere, 0);
	/* After another command the id is still good. */
	CHECK(!asked(fd, cm, &create, sizeof(create)));
	/* The CREATE_ID after it is a command, which tells of the first. */
	CHECK(asked(fd, cm, &create, sizeof(create)));
	CHECK_EQ(ioctl(fd, FAKE_TAKEN, 0), UROCE_TUN_CREATED);
	/* The device hears of it before the id leaves the file. */
	make_spare(cm);
	CHECK(!asked(fd, cm, &create, sizeof(create)));
	cm2 = open(CM, O_RDWR | O_CLOEXEC);
	before = ioctl(fd, FAKE_WRITES, 0);
	CHECK_EQ(write(cm2, &migrate, sizeof(migrate)), sizeof(migrate));
	CHECK_EQ(ioctl(fd, FAKE_WRITES, 0), before + 2);
	close(cm2);
	close(cm);
	close(fd);
}
