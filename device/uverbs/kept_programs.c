// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "device/uverbs/kept_programs.h"
#include "device/watcher.h"
#include "util/assert.h"

struct kept_program {
	struct ur_device_file on_device;
	struct ur_device *dev;
	u32 slot;
	uid_t uid;
	pid_t pid;
	int liveness;
};

static struct kept_program *program_of(struct ur_device_file *on_device)
{
	return ur_container_of(on_device, struct kept_program, on_device);
}

void ur_program_wake(int liveness)
{
	static const char byte;

	send(liveness, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A woken program reads the current addresses. */
static void on_event(struct ur_device_file *on_device, u64 element, u32 type)
{
	if (type == UR_EVENT_GID_CHANGE)
		ur_program_wake(program_of(on_device)->liveness);
}

static const struct ur_device_file_ops program_ops = {.event = on_event};

static void end_program(struct kept_program *p)
{
	ur_assert(ur_loop_mine(p->dev->daemon->loop));
	ur_loop_del(p->dev->daemon->loop, p->liveness);
	ur_engine_grant_end(p->dev->engine, p->slot);
	close(p->liveness);
	ur_list_del(&p->on_device.node);
	free(p);
}

static void on_liveness(void *arg, u32 events)
{
	struct kept_program *p = arg;
	struct ur_device *dev = p->dev;

	end_program(p);
	ur_device_file_closed(dev);
}

static int add_program(struct ur_device *dev, u32 slot,
		       const struct ur_kept_liveness *kept)
{
	struct kept_program *p = calloc(1, sizeof(*p));
	int err;

	ur_assert(slot && slot < UR_SLOTS && kept->fd >= 0);
	if (!p)
		return -ENOMEM;
	p->on_device.ops = &program_ops;
	p->dev = dev;
	p->slot = slot;
	p->uid = kept->uid;
	p->pid = kept->pid;
	p->liveness = kept->fd;
	/* Only waits for hangup. */
	err = ur_loop_add(dev->daemon->loop, p->liveness, 0, on_liveness, p);
	if (err) {
		free(p);
		return err;
	}
	ur_list_add_tail(&dev->files, &p->on_device.node);
	return 0;
}

static void find_programs(struct ur_device *dev)
{
	struct ur_kept_liveness liveness[UR_SLOTS];
	struct ur_slot_set slots;
	int n = 0;

	ur_engine_inherit(dev->engine, &slots, liveness);
	ur_slot_set_for_each(slot, &slots)
	{
		if (add_program(dev, slot, &liveness[slot])) {
			ur_engine_grant_end(dev->engine, slot);
			close(liveness[slot].fd);
		} else {
			n++;
		}
	}
	ur_engine_recovery_done(dev->engine);
	if (n)
		ur_log("%s: %d programs of an earlier uroced go on", dev->name,
		       n);
}

static void end_programs(struct ur_device *dev)
{
	ur_list_for_each_safe(it, &dev->files) {
		struct ur_device_file *file =
			ur_list_entry(it, struct ur_device_file, node);

		if (file->ops == &program_ops)
			end_program(program_of(file));
	}
}

int ur_kept_program_take(struct ur_device *dev, u32 slot, uid_t uid, pid_t pid)
{
	ur_assert(ur_loop_mine(dev->daemon->loop));
	ur_list_each(struct ur_device_file, file, &dev->files, node) {
		struct kept_program *p;
		int liveness;

		if (file->ops != &program_ops)
			continue;
		p = program_of(file);
		if (p->slot != slot || p->uid != uid || p->pid != pid)
			continue;
		liveness = p->liveness;
		ur_loop_del(dev->daemon->loop, liveness);
		ur_list_del(&p->on_device.node);
		free(p);
		return liveness;
	}
	return -ENOENT;
}

static void device_changed(struct ur_device *dev, enum ur_device_change change)
{
	if (change == UR_DEVICE_ADDED)
		find_programs(dev);
	else if (change == UR_DEVICE_GONE)
		end_programs(dev);
}

void ur_kept_programs_watch(struct ur_daemon *daemon)
{
	static struct ur_device_watcher watcher = {.changed = device_changed};

	ur_device_watch(daemon, &watcher);
}

void ur_kept_programs_recovery_done(void)
{
	ur_engine_recovery_done_all();
}
