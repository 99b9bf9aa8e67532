// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * counters/ and hw_counters/ of a port. A program with the front-end requests an update
 * before it reads; any other reader finds values at most REFRESH_NS old, because a timer
 * updates them. The timer stops after an interval without a change while the engine sleeps;
 * the engine reports when it wakes.
 */
#include <stdio.h>
#include "device/tree/sysfs.h"
#include "device/tree/tree.h"

#define REFRESH_NS 200000000ull

#define PORT "sys/class/infiniband/%s/ports/1/"

static const char *const names[] = {
#define X(name) #name,
	UR_COUNTERS(X)
#undef X
};

/* The counters/ of an InfiniBand port; -1: always zero here. */
static const struct {
	const char *name;
	int id;
} port_counters[] = {
	{"port_xmit_data", UR_CNT_port_xmit_data},
	{"port_rcv_data", UR_CNT_port_rcv_data},
	{"port_xmit_packets", UR_CNT_sent_pkts},
	{"port_rcv_packets", UR_CNT_rcvd_pkts},
	{"unicast_xmit_packets", UR_CNT_sent_pkts},
	{"unicast_rcv_packets", UR_CNT_rcvd_pkts},
	{"link_downed", UR_CNT_link_downed},
	{"port_rcv_errors", UR_CNT_rx_icrc_encapsulated},
	{"port_xmit_discards", UR_CNT_send_err},
	{"multicast_xmit_packets", -1},
	{"multicast_rcv_packets", -1},
	{"symbol_error", -1},
	{"link_error_recovery", -1},
	{"port_rcv_remote_physical_errors", -1},
	{"port_rcv_switch_relay_errors", -1},
	{"port_xmit_constraint_errors", -1},
	{"port_rcv_constraint_errors", -1},
	{"local_link_integrity_errors", -1},
	{"excessive_buffer_overrun_errors", -1},
	{"VL15_dropped", -1},
	{"port_xmit_wait", -1},
};

static void put_counter(struct ur_device *dev, const char *dir,
			const char *name, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);
	ur_tree_put(dev->daemon, text, PORT "%s/%s", dev->name, dir, name);
}

/* *wrote: some counters had changed, and their files were written. */
static int put_changed(struct ur_device *dev, bool *wrote)
{
	struct ur_shown_counters *shown = &dev->counters;
	bool all = !shown->known, changed[UR_CNT_COUNT];
	u64 cnt[UR_CNT_COUNT];
	int err;

	ur_engine_counters(dev->engine, cnt, NULL);
	*wrote = false;
	for (u32 i = 0; i < UR_CNT_COUNT; i++) {
		changed[i] = all || cnt[i] != shown->value[i];
		*wrote |= changed[i];
	}
	for (u32 i = 0; i < UR_ARRAY_SIZE(port_counters); i++) {
		int id = port_counters[i].id;

		if (id < 0 ? all : changed[id])
			put_counter(dev, "counters", port_counters[i].name,
				    id < 0 ? 0 : cnt[id]);
	}
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		if (changed[i] && i != UR_CNT_port_xmit_data &&
		    i != UR_CNT_port_rcv_data)
			put_counter(dev, "hw_counters", names[i], cnt[i]);
	err = ur_tree_error();
	memcpy(shown->value, cnt, sizeof(cnt));
	shown->known = !err;
	return err;
}

int ur_sysfs_counters(struct ur_device *dev)
{
	bool wrote;

	return put_changed(dev, &wrote);
}

static void set_timer(struct ur_device *dev)
{
	ur_loop_timer_set(dev->daemon->loop, &dev->counters.timer,
			  ur_loop_now() + REFRESH_NS);
}

static void refresh(void *arg)
{
	struct ur_device *dev = arg;
	bool wrote;

	if (put_changed(dev, &wrote))
		wrote = true;
	if (!wrote && dev->counters.asked && ur_engine_asleep(dev->engine))
		return;
	dev->counters.asked = !wrote;
	if (!wrote)
		ur_engine_report_waking(dev->engine);
	set_timer(dev);
}

void ur_sysfs_counters_move(struct ur_device *dev)
{
	dev->counters.asked = false;
	if (!dev->gone && !dev->counters.timer.deadline_ns)
		set_timer(dev);
}

int ur_sysfs_counters_add(struct ur_device *dev)
{
	dev->counters.known = false;
	dev->counters.timer.fn = refresh;
	dev->counters.timer.arg = dev;
	ur_sysfs_counters_move(dev);
	return ur_sysfs_counters(dev);
}

void ur_sysfs_counters_del(struct ur_device *dev)
{
	ur_loop_timer_clear(dev->daemon->loop, &dev->counters.timer);
}
