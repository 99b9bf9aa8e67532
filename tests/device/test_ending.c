// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroced waits for an earlier one that is ending; beside one that lives it is refused.
 *
 * usage: test_ending UROCED
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"
#include "tests/device/client.h"
#include "tests/device/stuck.h"

#define EXIT_BUSY 3

static struct daemon_proc dev;

/* A second one on the same directory, with its messages in log. */
static int start_beside(const char *uroced, int log)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		dup2(log, STDERR_FILENO);
		execl(uroced, "uroced", "--netdev", "lo", "--run-dir", dev.dir,
		      (char *)NULL);
		_exit(127);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_living(const char *uroced)
{
	char text[512] = "";
	int log[2];

	CHECK(!pipe(log));
	CHECK_EQ(start_beside(uroced, log[1]), EXIT_BUSY);
	CHECK(read(log[0], text, sizeof(text) - 1) > 0);
	CHECK(strstr(text, "another uroced serves"));
	CHECK(!strstr(text, "ending"));
	close(log[0]);
	close(log[1]);
	client_check(&dev);
}

static void hold_up(int sock, int fd)
{
	struct uroce_tun_msg sync = {.op = UROCE_TUN_SYNC};

	daemon_pause(&dev);
	client_hand_over(&dev, sock, &sync, fd);
	stuck_wait();
}

/* Its thread may end once the next one waits, as its log has it. */
static void *let_end(void *arg)
{
	FILE *log = fdopen(*(int *)arg, "r");
	char line[512] = "";

	CHECK(log);
	while (!strstr(line, "is ending"))
		CHECK(fgets(line, sizeof(line), log));
	stuck_end();
	fclose(log);
	return NULL;
}

/* One of its threads closes a file whose system does not answer: not even SIGKILL reaches it there. */
static void test_killed(const char *uroced)
{
	struct daemon_proc old;
	pthread_t thread;
	int fd = stuck_open(), log[2], sock;

	if (fd < 0)
		SKIP("no file system of our own is allowed");
	sock = client_connect(&dev);
	hold_up(sock, fd);
	old = dev;
	kill(old.pid, SIGKILL);
	CHECK(!pipe2(log, O_CLOEXEC));
	CHECK(!pthread_create(&thread, NULL, let_end, &log[0]));
	dev.log = log[1];
	daemon_start(&dev, uroced, 0);
	CHECK(!pthread_join(thread, NULL));
	CHECK(WIFSIGNALED(daemon_wait(&old)));
	client_check(&dev);
	close(sock);
	close(log[1]);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CHECK(argc > 1);
	client_private_net();
	daemon_start(&dev, argv[1], 0);
	STEP(test_living(argv[1]));
	STEP(test_killed(argv[1]));
	daemon_stop(&dev);
	return cases_status();
}
