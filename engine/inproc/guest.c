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
#include "engine/ground/lent_record.h"
#include "engine/grant/lend_counters.h"
#include "engine/record/record.h"
#include "engine/wire/wire.h"
#include "util/os/high_fd.h"

int ur_guest_init(struct ur_engine *e)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
	struct stat st;
	int err;

	ur_list_init(&e->guest.chans);
	ur_list_init(&e->guest.asyncs);
	ur_chores_init(&e->chores);
	ur_asides_init(e);
	e->guest.device_fd = e->guest.rest_fd = -1;
	if (!e->config.guest)
		return 0;
	if (fstat(e->config.file, &st) < 0)
		return -errno;
	e->guest.file_dev = st.st_dev;
	e->guest.file_ino = st.st_ino;
	err = ur_counters_borrow(e->config.lent.counters, &e->guest.counters);
	if (!err)
		e->guest.sl_refused = ur_counters_sl(e->guest.counters);
	if (!err)
		err = ur_settings_borrow(e->config.lent.settings,
					 &e->guest.settings);
	if (!err)
		err = ur_lent_record_map(e->config.lent.record,
					 &e->guest.record);
	if (err)
		return err;
	e->guest.rules = calloc(UR_LENT_FAULTS, sizeof(*e->guest.rules));
	if (!e->guest.rules)
		return -ENOMEM;
	e->guest.nap_fd = ur_high_fd(epoll_create1(EPOLL_CLOEXEC));
	if (e->guest.nap_fd < 0 ||
	    epoll_ctl(e->guest.nap_fd, EPOLL_CTL_ADD, e->call_fd, &ev) < 0)
		return -errno;
	return 0;
}

void ur_guest_fini(struct ur_engine *e)
{
	if (e->guest.nap_fd >= 0)
		close(e->guest.nap_fd);
	ur_counters_unmap(e->guest.counters);
	ur_settings_unmap(e->guest.settings);
	ur_lent_record_unmap(e->guest.record);
	free(e->guest.rules);
}

u64 ur_engine_ring_room(const struct ur_engine *e)
{
	return (u64)ur_settings_room(e->guest.settings, e->config.lent.slot)
	       << 10;
}

/* The descriptor numbers may belong to other files by now: they are neither used nor
 * closed. */
static void end(struct ur_engine *e)
{
	e->call_fd = e->epoll_fd = e->guest.nap_fd = e->guest.rest_fd = -1;
	atomic_store(&e->guest.closed, true);
}

void ur_guest_look(struct ur_engine *e, int error)
{
	if (e->config.guest &&
	    (error == EBADF || error == ENOTSOCK || error == EINVAL))
		end(e);
}

void ur_guest_look_at_file(struct ur_engine *e)
{
	struct stat st;

	if (fstat(e->config.file, &st) < 0)
		/* An error of a seccomp filter, such as EPERM, tells nothing. */
		ur_guest_look(e, errno);
	else if (st.st_dev != e->guest.file_dev ||
		 st.st_ino != e->guest.file_ino)
		end(e);
}

/* Applies changed traffic classes to connected queue pairs. Others get theirs when they connect. */
static void follow_classes(struct ur_engine *e, u32 classes)
{
	struct ur_lent_class c;
	struct ur_eqp *qp;

	if (classes == e->guest.classes_seen)
		return;
	e->guest.classes_seen = classes;
	for (u32 i = 0; i < UR_LENT_CLASSES; i++) {
		if (!ur_settings_read_class(e->guest.settings,
					    e->config.lent.slot, i, &c))
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
	struct ur_settings_lent now;

	if (!ur_settings_read(e->guest.settings, &e->guest.settings_seen, &now))
		return;
	e->cc = now.cc;
	e->ecn = now.ecn;
	e->kind->set_cc(e);
	ur_port_set_mtu(e->port, now.mtu_bytes);
	follow_netdev(e);
	follow_classes(e, now.classes);
	ur_record_follow(e, now.record_run, now.record_kib);
	if (ur_settings_read_rules(e->guest.settings, e->guest.settings_seen,
				   e->guest.rules))
		ur_faults_follow(e, e->guest.rules);
	else
		e->guest.settings_seen = UR_SETTINGS_NONE;
}

/* Bursts that leave aside have sockets of addresses that may be gone. */
static bool must_wait(struct ur_engine *e)
{
	if (!e->asides.away)
		return false;
	if (e->guest.device_gone ||
	    ur_settings_changed(e->guest.settings, e->guest.settings_seen) ||
	    ur_engine_gids_changed(e, ur_settings_gids(e->guest.settings)))
		e->asides.stopped = true;
	return true;
}

void ur_guest_follow(struct ur_engine *e)
{
	if (!e->guest.settings || must_wait(e))
		return;
	e->asides.stopped = false;
	follow(e);
	if (e->guest.device_gone)
		ur_engine_give_up_gids(e);
	e->guest.device_gone = false;
	ur_engine_follow_gids(e, ur_settings_gids(e->guest.settings));
}
