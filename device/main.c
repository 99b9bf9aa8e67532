// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroced: options, start in order, stop in the opposite order. */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "device/administrator.h"
#include "device/client_rights.h"
#include "device/confine/confine.h"
#include "device/engine_starter.h"
#include "engine/engine.h"
#include "engine/ground/hold_time.h"
#include "engine/ground/keep.h"
#include "device/fault.h"
#include "device/hold.h"
#include "device/keeper.h"
#include "device/listen.h"
#include "device/netdev.h"
#include "device/netlink.h"
#include "device/nldev/nldev.h"
#include "device/options.h"
#include "device/report/record.h"
#include "device/run_lock.h"
#include "device/service.h"
#include "device/serve.h"
#include "device/stopper.h"
#include "device/tree/sysfs.h"
#include "device/ucma/ucma.h"
#include "device/umad/umad.h"
#include "device/settings/setting.h"
#include "device/uverbs/kept_programs.h"
#include "device/uverbs/ufile.h"
#include "device/report/why.h"
#include "util/os/proof.h"
#include "util/os/rundir.h"
#include "util/os/standard_fds.h"

/* Exit status when another process serves the run directory already. */
#define EXIT_BUSY 3

#define FRONT_END "liburoce-preload.so"

static struct ur_daemon_options options;
static int signal_fd = -1;

static int add_devices(struct ur_daemon *daemon,
		       const struct ur_daemon_options *o);

/* SIGHUP: adds devices for netdevs that are new in the configuration file. Devices of
 * removed netdevs serve on until a restart, with their clients. */
static void reload(struct ur_daemon *daemon)
{
	struct ur_daemon_options now = {.config = options.config};
	struct ur_daemon_options fresh = {0};

	ur_service_reloading(daemon);
	if (ur_daemon_options_reread(&now) == 0)
		for (int i = 0; i < now.n_netdevs; i++)
			if (!ur_device_by_netdev(daemon, now.netdev[i])) {
				memcpy(fresh.name[fresh.n_netdevs], now.name[i],
				       UR_DEVICE_NAME_MAX);
				fresh.node[fresh.n_netdevs] = now.node[i];
				memcpy(fresh.netdev[fresh.n_netdevs++],
				       now.netdev[i], IF_NAMESIZE);
			}
	if (fresh.n_netdevs)
		add_devices(daemon, &fresh);
	ur_service_ready(daemon);
}

static void on_signal(void *arg, u32 events)
{
	struct ur_daemon *daemon = arg;
	struct signalfd_siginfo si;

	if (read(signal_fd, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGUSR1)
		ur_record_write_all(daemon);
	else if (options.config)
		reload(daemon);
	else
		ur_stopper_begin();
}

static void on_idle(void *arg)
{
	struct ur_daemon *daemon = arg;

	if (ur_hold_unused(daemon))
		ur_loop_stop(daemon->loop);
}

/* Blocks the signals; threads inherit the mask. SIGTERM and SIGINT go to the stopper's
 * descriptor, the others to this one. */
static int catch_signals(struct ur_daemon *daemon)
{
	sigset_t set;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	sigdelset(&set, SIGINT);
	sigdelset(&set, SIGTERM);
	signal_fd = fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
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

static int add_device(struct ur_daemon *daemon, const char *netdev,
		      const char *name, int node)
{
	int err = ur_device_create(daemon, netdev, *name ? name : NULL, node);

	if (err == -EINVAL && *name)
		ur_log("%s: %s cannot be the name of a device", netdev, name);
	else if (err == -EEXIST && *name)
		ur_log("%s: another device is called %s", netdev, name);
	else if (err)
		ur_log("%s: %s", netdev, strerror(-err));
	return err;
}

/* Returns whether RoCEv1 is possible for a card that has it. If not, the entries of its
 * GIDs stay empty (gid_table.c). */
static bool may_pair(const struct ur_like *like)
{
	int proof;

	if (!like->pairs || !UROCE_WITH_ROCE_V1)
		return false;
	proof = ur_proof_net_raw_ip();
	if (proof >= 0)
		close(proof);
	return proof >= 0;
}

static int add_devices(struct ur_daemon *daemon,
		       const struct ur_daemon_options *o)
{
	char name[IF_NAMESIZE];
	int err = 0;

	if (!o->n_netdevs) {
		ur_netlink_default_netdev(daemon, name);
		return add_device(daemon, name, o->name[0], o->node[0]);
	}
	for (int i = 0; i < o->n_netdevs && !err; i++)
		err = add_device(daemon, o->netdev[i], o->name[i], o->node[i]);
	return err;
}

static void report_ready(const struct ur_daemon *daemon,
			 const struct ur_daemon_options *o)
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

/* An on-demand daemon must have a usable device at once; a service may wait until an
 * address is free. */
static int check_usable(const struct ur_daemon *daemon)
{
	ur_list_for_each(it, &daemon->devices)
		if (ur_gid_count(ur_list_entry(it, struct ur_device, node)))
			return 0;
	ur_log("no address can be used: see --netdev, or run in a network "
	       "namespace of its own");
	return -EADDRNOTAVAIL;
}

static int open_netlink(void *arg)
{
	int err = ur_netlink_open(arg, ur_netdevs_changed);

	return err ? err : ur_ucma_open_netlink(arg);
}

/* Steps that need a right come before the confinement; the first thread and the first
 * packet come after it. */
static int start(struct ur_daemon *daemon, const struct ur_daemon_options *o)
{
	int err = ur_run_lock(daemon);

	if (err == -EBUSY) {
		ur_log("another uroced serves %s; one that `uroce run` "
		       "started ends soon after its last program",
		       daemon->run_dir);
		return err;
	}
	ur_memory_init();
	ur_nldev_watch(daemon);
	ur_fault_watch(daemon);
	ur_record_watch(daemon);
	ur_kept_programs_watch(daemon);
	/* The tree shows which kinds of file there are. */
	if (!err)
		err = ur_ucma_init(daemon);
	if (!err)
		err = ur_umad_init(daemon);
	if (!err)
		err = ur_listen_bind(daemon);
	if (err) {
		ur_log("%s: %s", daemon->run_dir, strerror(-err));
		return err;
	}
	err = ur_keeper_start(daemon);
	if (err) {
		ur_log("the keeper, a process that an earlier uroced left, "
		       "does not reply: continue it, or end it and with it "
		       "the connections");
		return err;
	}
	ur_engine_starter_begin(daemon->argv);
	ur_administrators_init();
	err = ur_client_rights_init(daemon->lock_fd);
	if (err)
		ur_log("the network namespace: %s: nobody can show a right to "
		       "it",
		       strerror(-err));
	err = ur_confine_without(open_netlink, daemon);
	if (err) {
		ur_log("rtnetlink: %s", strerror(-err));
		return err;
	}
	if (o->confine != UR_CONFINE_NO) {
		ur_engine_note_owners();
		ur_confine(daemon->run_dir,
			   daemon->roce_v1 || daemon->raw_ethernet);
	}
	err = ur_sysfs_init(daemon);
	if (err) {
		ur_log("%s: %s", daemon->run_dir, strerror(-err));
		return err;
	}
	err = add_devices(daemon, o);
	if (!err) {
		/* Programs that begin from now on wait until they are served. */
		err = ur_listen_start(daemon);
		if (err)
			ur_log("%s/%s: %s", daemon->run_dir, UROCE_TUN_SOCKET,
			       strerror(-err));
		else
			ur_netdev_wait_for_ports(daemon);
	}
	ur_ucma_inherit(daemon);
	ur_kept_programs_recovery_done();
	if (!err && o->on_demand)
		err = check_usable(daemon);
	for (int i = 0; i < o->n_faults && !err; i++)
		err = ur_fault_add_option(daemon, o->fault[i]);
	return err;
}

/*
 * Some threads are blocked by their clients, perhaps where not even SIGKILL reaches them,
 * and never get the lock again. This releases everything that another uroced would need:
 * the process may stay for as long as the threads do.
 */
static _Noreturn void abandon_clients(struct ur_daemon *daemon, int status)
{
	ur_log("clients hold up %u of their connections: left behind",
	       daemon->n_sessions);
	ur_device_abandon_all(daemon);
	ur_netlink_close(daemon);
	if (daemon->lock_fd >= 0) {
		ur_sysfs_fini(daemon);
		close(daemon->lock_fd);
	}
	_exit(status);
}

/*
 * Programs with an engine of their own continue with the next uroced, as if this one had
 * been killed: their state is left as it is. All other state ends, and the engines notify
 * its peers.
 */
static _Noreturn void leave_programs(struct ur_daemon *daemon, int status)
{
	ur_loop_lock(daemon->loop);
	ur_listen_stop(daemon);
	ur_session_stop_all(daemon);
	ur_list_for_each(it, &daemon->devices)
		ur_engine_sync(
			ur_list_entry(it, struct ur_device, node)->engine);
	ur_sysfs_fini(daemon);
	_exit(status);
}

static void stop(struct ur_daemon *daemon, int status)
{
	bool all;

	ur_run_lock_ending(daemon);
	if (ur_keep_stay())
		leave_programs(daemon, status);
	ur_keeper_stop(daemon);
	ur_loop_lock(daemon->loop);
	ur_listen_stop(daemon);
	all = ur_session_stop_all(daemon);
	ur_hold_end_all(daemon);
	ur_ucma_end_inherited(daemon);
	ur_why_forget_all(daemon);
	ur_loop_close(daemon->loop);
	if (!all)
		abandon_clients(daemon, status);
	ur_device_destroy_all(daemon);
	ur_umad_fini(daemon);
	ur_ucma_fini(daemon);
	ur_netlink_close(daemon);
	if (daemon->lock_fd >= 0)
		ur_sysfs_fini(daemon);
	ur_loop_unlock(daemon->loop);
	ur_stopper_done();
	ur_loop_destroy(daemon->loop);
}

/*
 * A program under the front-end has started us, so the front-end is loaded here too, and
 * would ask ourselves about our own files: executes uroced again without it.
 */
static void shed_front_end(char **argv)
{
	char *preload = getenv("LD_PRELOAD"), *word, *state;
	char path[PATH_MAX], left[PATH_MAX] = "";
	ssize_t n;

	if (!preload || !strstr(preload, FRONT_END))
		return;
	preload = strdup(preload);
	for (word = preload ? strtok_r(preload, " :", &state) : NULL; word;
	     word = strtok_r(NULL, " :", &state))
		if (!strstr(word, FRONT_END) &&
		    strlen(left) + strlen(word) + 2 < sizeof(left))
			strcat(strcat(left, *left ? ":" : ""), word);
	free(preload);
	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n < 0 || setenv("LD_PRELOAD", left, 1))
		return;
	path[n] = '\0';
	syscall(SYS_execve, path, argv, environ);
}

int main(int argc, char **argv)
{
	static struct ur_daemon daemon = {
		.listen_fd = -1,
		.lock_fd = -1,
		.file_ops = {[UROCE_TUN_UVERBS] = &ur_ufile_ops},
		.setting_ops = &ur_setting_ops,
	};
	struct ur_daemon_options *o = &options;
	int err, status;

	ur_open_standard_fds();
	shed_front_end(argv);
	err = ur_daemon_options_parse(argc, argv, o);
	if (err)
		return err > 0 ? 0 : 2;
	/* Files for clients are created with explicit modes. */
	umask(022);
	/* One heap: thread heaps grow by a page per system call. */
	mallopt(M_ARENA_MAX, 1);
	ur_log_verbose = o->verbose;
	if (getenv("UROCE_MEASURE_LOCK"))
		ur_hold_time_measure();
	if (o->user_share)
		ur_quota_set_share((u32)o->user_share);
	daemon.speed_mbps = (u32)o->speed;
	daemon.on_demand = o->on_demand;
	daemon.like = ur_like_at((u32)o->like);
	daemon.roce_v1 = o->roce_v1 > 0 || may_pair(daemon.like);
	daemon.raw_ethernet = o->raw_ethernet > 0;
	daemon.cm_v1 = o->cm_mode == 1;
	daemon.only = o->only > 0;
	daemon.peermem = o->peermem > 0;
	daemon.by_user = o->isolation == UR_ISOLATION_USER;
	daemon.engine_options = *o->engine ? o->engine : NULL;
	daemon.engines_apart = !ur_engine_has_guests(daemon.engine_options);
	daemon.options = o;
	daemon.argv = argv;
	daemon.group = *o->group ? o->group : NULL;
	daemon.idle.fn = on_idle;
	daemon.idle.arg = &daemon;
	ur_daemon_init(&daemon);
	err = ur_rundir(*o->run_dir ? o->run_dir : NULL, daemon.run_dir,
			sizeof(daemon.run_dir));
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
		err = start(&daemon, o);
	if (!err && o->on_demand)
		ur_loop_timer_set(daemon.loop, &daemon.idle,
				  ur_loop_now() + UR_FIRST_CLIENT_NS);
	ur_loop_unlock(daemon.loop);
	if (!err)
		err = ur_stopper_start(&daemon);
	if (!err) {
		report_ready(&daemon, o);
		ur_loop_lock(daemon.loop);
		ur_service_ready(&daemon);
		ur_loop_unlock(daemon.loop);
		err = ur_loop_serve(daemon.loop);
		ur_stopper_begin();
		ur_service_stopping(&daemon);
	}
	status = err == -EBUSY ? EXIT_BUSY : err ? 1 : 0;
	stop(&daemon, status);
	return status;
}
