// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The thread of a connection runs where its client says that it runs, if that is
 * a processor of ours, and nowhere in particular where the client says nothing
 * or does not know the word.
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/device/client.h"

static struct daemon_proc dev;

/* Commands that are none, from processor cpu - 1. */
static void command(int sock, uint32_t cpu, int times)
{
	uint64_t nothing = 0;
	int fd;

	while (times--) {
		struct uroce_tun_msg msg = {.op = UROCE_TUN_WRITE,
					    .call.arg = (uintptr_t)&nothing,
					    .call.len = sizeof(nothing),
					    .cpu = cpu};

		client_send(sock, &msg, NULL, 0);
		CHECK(!client_recv(sock, &msg, &fd));
		CHECK_EQ(msg.op, UROCE_TUN_DONE);
		CHECK(msg.ret < 0);
	}
}

/* How many threads of the device may run on that processor alone. */
static int threads_on(int cpu)
{
	char path[300], line[128];
	struct dirent *e;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)dev.pid);
	dir = opendir(path);
	CHECK(dir);
	while ((e = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/status",
			 (int)dev.pid, e->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f)) {
			int only, len = 0;

			/* Neither a range nor a list. */
			if (sscanf(line, "Cpus_allowed_list: %d%n", &only,
				   &len) == 1 &&
			    only == cpu && line[len] == '\n')
				n++;
		}
		if (f)
			fclose(f);
	}
	closedir(dir);
	return n;
}

/* It moves when it has answered. */
static void wait_for_threads_on(int cpu, int n)
{
	struct timespec ms = {.tv_nsec = 1000000};

	while (threads_on(cpu) != n)
		nanosleep(&ms, NULL);
}

static void test_follows(int first, int second)
{
	int sock = client_open_with(&dev, "uverbs0", UROCE_TUN_F_CPU, NULL);

	command(sock, 0, 10);
	command(sock, UINT32_MAX, 10);
	command(sock, CPU_SETSIZE + 1, 10);
	CHECK_EQ(threads_on(first) + threads_on(second), 0);
	command(sock, (uint32_t)first + 1, 10);
	wait_for_threads_on(first, 1);
	command(sock, (uint32_t)second + 1, 100);
	wait_for_threads_on(second, 1);
	CHECK_EQ(threads_on(first), 0);
	/* A session that comes later is none of it. */
	close(client_session(&dev));
	CHECK_EQ(threads_on(second), 1);
	close(sock);
	client_settle(&dev);
}

/* An older front-end has other things in that word. */
static void test_not_asked(int cpu)
{
	int sock = client_open(&dev, "uverbs0", NULL);

	command(sock, (uint32_t)cpu + 1, 10);
	/* The one before has been handled to its end when the next is. */
	CHECK_EQ(threads_on(cpu), 0);
	close(sock);
	client_settle(&dev);
}

int main(int argc, char **argv)
{
	int cpu[2] = {-1, -1}, n = 0;
	cpu_set_t set;

	cases(&argc, argv);
	CHECK_EQ(argc, 2);
	CHECK(!sched_getaffinity(0, sizeof(set), &set));
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = i;
	if (n < 2) {
		printf("skipped: one processor\n");
		return 77;
	}
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_follows(cpu[0], cpu[1]));
	STEP(test_not_asked(cpu[0]));
	client_check(&dev);
	daemon_stop(&dev);
	return cases_status();
}
