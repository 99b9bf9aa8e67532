/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* uroced: options, start in order, stop in the opposite order. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "device/listen.h"
#include "device/netlink.h"
#include "device/session.h"
#include "device/sysfs.h"
#include "device/ucma.h"
#include "device/ufile.h"
#include "util/os/rundir.h"

#define MAX_NETDEVS 32

/* Exit status when another process serves the run directory already. */
#define EXIT_BUSY 3

struct options {
	const char *netdev[MAX_NETDEVS];
	int n_netdevs;
	const char *run_dir;
	const char *engine;
	bool on_demand;
	int ready_fd;
	int verbose;
};

static const char usage[] =
	"Usage: uroced [OPTION]...\n"
	"A RoCE network card in userspace; serves until a signal ends it.\n"
	"\n"
	"  --netdev IF       a device on this network interface (repeat for\n"
	"                    more); default: the default route's, else lo\n"
	"  --run-dir DIR     socket and files; default /run/uroce as root,\n"
	"                    else $XDG_RUNTIME_DIR/uroce\n"
	"  --on-demand       end when the last client is gone\n"
	"  --ready-fd N      write \"ready\" there too once serving\n"
	"  --engine-opt LIST name=value,... for the engine\n"
	"  -v, --verbose     say more on standard error\n"
	"  -h, --help        this text\n";

static int parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"netdev", required_argument, NULL, 'n'},
		{"run-dir", required_argument, NULL, 'r'},
		{"on-demand", no_argument, NULL, 'd'},
		{"ready-fd", required_argument, NULL, 'f'},
		{"engine-opt", required_argument, NULL, 'e'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c;

	o->ready_fd = -1;
	while ((c = getopt_long(argc, argv, "vh", longs, NULL)) != -1) {
		switch (c) {
		case 'n':
			if (o->n_netdevs == MAX_NETDEVS ||
			    strlen(optarg) >= IF_NAMESIZE)
				return -EINVAL;
			o->netdev[o->n_netdevs++] = optarg;
			break;
		case 'r':
			o->run_dir = optarg;
			break;
		case 'd':
			o->on_demand = true;
			break;
		case 'f':
			o->ready_fd = atoi(optarg);
			break;
		case 'e':
			o->engine = optarg;
			break;
		case 'v':
			o->verbose++;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			return -EINVAL;
		}
	}
	return optind == argc ? 0 : -EINVAL;
}

static void on_signal(void *arg, u32 events)
{
	struct ur_daemon *daemon = arg;

	ur_loop_stop(daemon->loop);
}

static void on_idle(void *arg)
{
	struct ur_daemon *daemon = arg;

	if (!daemon->n_sessions)
		ur_loop_stop(daemon->loop);
}

/* Threads inherit the mask: signals arrive at the descriptor alone. */
static int catch_signals(struct ur_daemon *daemon)
{
	sigset_t set;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	return ur_loop_add(daemon->loop, fd, EPOLLIN, on_signal, daemon);
}

static void raise_limits(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == 0) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
}

static int add_devices(struct ur_daemon *daemon, const struct options *o)
{
	char name[IF_NAMESIZE];
	int err = 0;

	if (!o->n_netdevs) {
		ur_netlink_default_netdev(daemon, name);
		err = ur_device_create(daemon, name);
		if (err)
			ur_log("%s: %s", name, strerror(-err));
		return err;
	}
	for (int i = 0; i < o->n_netdevs && !err; i++) {
		err = ur_device_create(daemon, o->netdev[i]);
		if (err)
			ur_log("%s: %s", o->netdev[i], strerror(-err));
	}
	return err;
}

static void say_ready(const struct ur_daemon *daemon, const struct options *o)
{
	static const char text[] = "ready\n";

	fputs(text, stdout);
	fflush(stdout);
	if (o->ready_fd >= 0) {
		if (write(o->ready_fd, text, sizeof(text) - 1) < 0)
			ur_debug("nobody waits for ready");
		close(o->ready_fd);
	}
}

static int start(struct ur_daemon *daemon, const struct options *o)
{
	int err = ur_listen_lock(daemon);

	if (err == -EBUSY) {
		ur_log("another uroced serves %s", daemon->run_dir);
		return err;
	}
	/* The tree shows which kinds of file there are. */
	if (!err)
		err = ur_ucma_init(daemon);
	if (!err)
		err = ur_sysfs_init(daemon);
	if (err) {
		ur_log("%s: %s", daemon->run_dir, strerror(-err));
		return err;
	}
	err = ur_netlink_open(daemon);
	if (err) {
		ur_log("rtnetlink: %s", strerror(-err));
		return err;
	}
	err = add_devices(daemon, o);
	if (err)
		return err;
	err = ur_listen_start(daemon);
	if (err)
		ur_log("%s/%s: %s", daemon->run_dir, UROCE_TUN_SOCKET,
		       strerror(-err));
	return err;
}

static void stop(struct ur_daemon *daemon)
{
	ur_loop_lock(daemon->loop);
	ur_listen_stop(daemon);
	ur_session_stop_all(daemon);
	ur_list_for_each_safe(it, &daemon->devices)
		ur_device_destroy(ur_list_entry(it, struct ur_device, node));
	ur_ucma_fini(daemon);
	ur_netlink_close(daemon);
	if (daemon->lock_fd >= 0)
		ur_sysfs_fini(daemon);
	ur_loop_unlock(daemon->loop);
	ur_loop_destroy(daemon->loop);
}

int main(int argc, char **argv)
{
	static struct ur_daemon daemon = {
		.listen_fd = -1,
		.lock_fd = -1,
		.file_ops = {[UROCE_TUN_UVERBS] = &ur_ufile_ops},
	};
	struct options o = {0};
	int err;

	if (parse(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	ur_log_verbose = o.verbose;
	daemon.on_demand = o.on_demand;
	daemon.engine_options = o.engine;
	daemon.idle.fn = on_idle;
	daemon.idle.arg = &daemon;
	ur_list_init(&daemon.devices);
	ur_list_init(&daemon.sessions);
	ur_list_init(&daemon.files);
	ur_list_init(&daemon.xrcds);
	err = ur_rundir(o.run_dir, daemon.run_dir, sizeof(daemon.run_dir));
	if (!err)
		err = ur_loop_create(&daemon.loop);
	if (err) {
		ur_log("%s", strerror(-err));
		return 1;
	}
	raise_limits();
	ur_loop_lock(daemon.loop);
	err = catch_signals(&daemon);
	if (!err)
		err = start(&daemon, &o);
	if (!err && o.on_demand)
		ur_loop_timer_set(daemon.loop, &daemon.idle,
				  ur_loop_now() + UR_FIRST_CLIENT_NS);
	ur_loop_unlock(daemon.loop);
	if (!err) {
		say_ready(&daemon, &o);
		err = ur_loop_serve(daemon.loop);
	}
	stop(&daemon);
	return err == -EBUSY ? EXIT_BUSY : err ? 1 : 0;
}
