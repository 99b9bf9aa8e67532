// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "device/stopper.h"
#include "engine/ground/keep.h"
#include "util/os/thread.h"

/* Time limit of a stop; UR_STOP_NS is most of it. Sanitizers are slow. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UR_STOP_MOST_NS 20000000000ull
#else
#define UR_STOP_MOST_NS 1200000000ull
#endif

/* Descriptors of the wires and of netlink are below this: they are opened first. */
#define FD_MOST 65536

static struct {
	struct ur_daemon *daemon;
	int fd, begin_fd;
	/* protects done; the loop exists until done. A leaf */
	pthread_mutex_t lock;
	bool done;
} stopper = {.fd = -1, .begin_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static int option(int fd, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &len) ? -1 : value;
}

/* Releases ports and names that the next uroced needs, and hangs up clients. Does not
 * block: it skips a client's stream sockets, which may linger. */
static void give_back(int fd)
{
	int domain = option(fd, SO_DOMAIN), type = option(fd, SO_TYPE);

	if (domain == AF_UNIX)
		shutdown(fd, SHUT_RDWR);
	else if (domain >= 0 && (type == SOCK_DGRAM || type == SOCK_RAW))
		close(fd);
}

static _Noreturn void stop_daemon(struct ur_daemon *daemon)
{
	ur_log("clients hold up the stop: they are left behind");
	if (ur_keep_stay())
		_exit(0);
	ur_keep_end();
	for (int fd = 3; fd < FD_MOST; fd++)
		give_back(fd);
	if (daemon->lock_fd >= 0)
		close(daemon->lock_fd);
	_exit(0);
}

static void *stop_in_time(void *arg)
{
	const struct timespec most = {UR_STOP_MOST_NS / 1000000000,
				      UR_STOP_MOST_NS % 1000000000};
	struct pollfd p[2] = {{stopper.fd, POLLIN, 0},
			      {stopper.begin_fd, POLLIN, 0}};
	bool done;

	pthread_setname_np(pthread_self(), "uroced-stop");
	while (poll(p, 2, -1) < 0)
		;
	pthread_mutex_lock(&stopper.lock);
	if (!stopper.done)
		ur_loop_stop(stopper.daemon->loop);
	pthread_mutex_unlock(&stopper.lock);
	nanosleep(&most, NULL);
	pthread_mutex_lock(&stopper.lock);
	done = stopper.done;
	pthread_mutex_unlock(&stopper.lock);
	if (!done)
		stop_daemon(stopper.daemon);
	return NULL;
}

int ur_stopper_start(struct ur_daemon *daemon)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	stopper.daemon = daemon;
	stopper.fd = signalfd(-1, &set, SFD_CLOEXEC);
	stopper.begin_fd = eventfd(0, EFD_CLOEXEC);
	if (stopper.fd < 0 || stopper.begin_fd < 0)
		return -errno;
	return ur_thread_start((size_t)PTHREAD_STACK_MIN * 4, stop_in_time,
			       NULL);
}

void ur_stopper_begin(void)
{
	u64 one = 1;

	if (stopper.begin_fd >= 0 &&
	    write(stopper.begin_fd, &one, sizeof(one)) < 0)
		ur_debug("the stop has no end set");
}

void ur_stopper_done(void)
{
	pthread_mutex_lock(&stopper.lock);
	stopper.done = true;
	pthread_mutex_unlock(&stopper.lock);
}
