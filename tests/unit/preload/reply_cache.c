// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The front-end answers commands whose answer the device has given ahead, and
 * nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
