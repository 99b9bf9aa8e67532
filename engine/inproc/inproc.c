// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* An engine in a program: its grants, the settings that it follows, and its end. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/core/dispatch.h"
#include "engine/core/engine_impl.h"
#include "engine/faults/faults.h"
#include "engine/ground/program_record.h"
#include "engine/grant/program_counters.h"
#include "engine/record/record.h"
#include "engine/wire/wire.h"
#include "util/os/high_fd.h"

int ur_inproc_init(struct ur_engine *e)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	struct stat st;
	int err;

	ur_list_init(&e->inproc.chans);
	ur_list_init(&e->inproc.asyncs);
	ur_chores_init(&e->chores);
	ur_asides_init(e);
	e->inproc.device_fd = e->inproc.pause_fd = -1;
	if (!e->config.inproc)
		return 0;
	if (fstat(e->config.file, &st) < 0)
		return -errno;
	e->inproc.file_dev = st.st_dev;
	e->inproc.file_ino = st.st_ino;
	err = ur_counters_map(e->config.grant.counters, &e->inproc.counters);
	if (!err)
		e->inproc.sl_refused = ur_counters_sl(e->inproc.counters);
	if (!err)
		err = ur_settings_map(e->config.grant.settings,
				      &e->inproc.settings);
	if (!err)
		err = ur_program_record_map(e->config.grant.record,
					    &e->inproc.record);
	if (err)
		return err;
	e->inproc.rules = calloc(UR_PROGRAM_FAULTS, sizeof(*e->inproc.rules));
	if (!e->inproc.rules)
		return -ENOMEM;
	e->inproc.nap_fd = ur_high_fd(epoll_create1(EPOLL_CLOEXEC));
	if (e->inproc.nap_fd < 0 ||
	    epoll_ctl(e->inproc.nap_fd, EPOLL_CTL_ADD, e->call_fd, &ev) < 0)
		return -errno;
	return 0;
}

void ur_inproc_fini(struct ur_engine *e)
{
	if (e->inproc.nap_fd >= 0)
		close(e->inproc.nap_fd);
	ur_counters_unmap(e->inproc.counters);
	ur_settings_unmap(e->inproc.settings);
	ur_program_record_unmap(e->inproc.record);
	free(e->inproc.rules);
}

u64 ur_engine_ring_room(const struct ur_engine *e)
{
	return (u64)ur_settings_room(e->inproc.settings, e->config.grant.slot)
	       << 10;
}

/* The descriptor numbers may belong to other files by now: they are neither used nor
 * closed. */
static void end(struct ur_engine *e)
{
	e->call_fd = e->epoll_fd = e->inproc.nap_fd = e->inproc.pause_fd = -1;
	atomic_store(&e->inproc.closed, true);
}

void ur_inproc_check_error(struct ur_engine *e, int error)
{
	if (e->config.inproc &&
	    (error == EBADF || error == ENOTSOCK || error == EINVAL))
		end(e);
}

void ur_inproc_check_file(struct ur_engine *e)
{
	struct stat st;

	if (fstat(e->config.file, &st) < 0)
		/* An error of a seccomp filter, such as EPERM, tells nothing. */
		ur_inproc_check_error(e, errno);
	else if (st.st_dev != e->inproc.file_dev ||
		 st.st_ino != e->inproc.file_ino)
		end(e);
}

/* Applies changed traffic classes to connected queue pairs. Others get theirs when they connect. */
static void follow_classes(struct ur_engine *e, u32 classes)
{
	struct ur_program_class c;
	struct ur_eqp *qp;

	if (classes == e->inproc.classes_seen)
		return;
	e->inproc.classes_seen = classes;
	for (u32 i = 0; i < UR_PROGRAM_CLASSES; i++) {
		if (!ur_settings_read_class(e->inproc.settings,
					    e->config.grant.slot, i, &c))
			continue;
		qp = ur_port_qp_ctx(e->port, c.qpn);
		if (qp)
			ur_eqp_take_class(e, qp, c.traffic_class, c.hop_limit);
	}
}

/* Follows the device to another netdev. */
static void follow_netdev(struct ur_engine *e)
{
	u32 ifindex = ur_wire_udp_netdev(ur_wire_of(e, false));

	if (!ifindex || ifindex == e->config.ifindex)
		return;
	e->config.ifindex = ifindex;
	ur_wire_rebind(e);
}

static void follow(struct ur_engine *e)
{
	struct ur_program_settings now;

	if (!ur_settings_read(e->inproc.settings, &e->inproc.settings_seen,
			      &now))
		return;
	e->cc = now.cc;
	e->ecn = now.ecn;
	e->kind->set_cc(e);
	ur_port_set_mtu(e->port, now.mtu_bytes);
	follow_netdev(e);
	follow_classes(e, now.classes);
	ur_record_follow(e, now.record_run, now.record_kib);
	if (ur_settings_read_rules(e->inproc.settings, e->inproc.settings_seen,
				   e->inproc.rules))
		ur_faults_follow(e, e->inproc.rules);
	else
		e->inproc.settings_seen = UR_SETTINGS_NONE;
}

/* Bursts that leave aside have sockets of addresses that may be gone. */
static bool must_wait(struct ur_engine *e)
{
	if (!e->asides.away)
		return false;
	if (e->inproc.device_gone ||
	    ur_settings_changed(e->inproc.settings, e->inproc.settings_seen) ||
	    ur_engine_gids_changed(e, ur_settings_gids(e->inproc.settings)))
		e->asides.stopped = true;
	return true;
}

void ur_inproc_follow(struct ur_engine *e)
{
	if (!e->inproc.settings || must_wait(e))
		return;
	e->asides.stopped = false;
	follow(e);
	if (e->inproc.device_gone)
		ur_engine_give_up_gids(e);
	e->inproc.device_gone = false;
	ur_engine_follow_gids(e, ur_settings_gids(e->inproc.settings));
}
