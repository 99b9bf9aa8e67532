// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* sd_notify(3) and the watchdog. */
#include <systemd/sd-daemon.h>
#include "device/device.h"
#include "engine/engine.h"
#include "device/service.h"

static struct {
	struct ur_loop_timer timer;
	u64 period_ns;
} watchdog;

/* A hanging engine blocks here, so that the watchdog is not fed. */
static void feed(void *arg)
{
	struct ur_daemon *daemon = arg;

	ur_list_each(struct ur_device, d, &daemon->devices, node) {
		ur_engine_sync(d->engine);
	}
	sd_notify(0, "WATCHDOG=1");
	ur_loop_timer_set(daemon->loop, &watchdog.timer,
			  ur_loop_now() + watchdog.period_ns);
}

void ur_service_ready(struct ur_daemon *daemon)
{
	u64 usec;

	sd_notify(0, "READY=1");
	if (sd_watchdog_enabled(0, &usec) > 0) {
		watchdog.period_ns = usec * 1000 / 3;
		watchdog.timer.fn = feed;
		watchdog.timer.arg = daemon;
		feed(daemon);
	}
}

void ur_service_reloading(struct ur_daemon *daemon)
{
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)ur_loop_now() / 1000);
}

void ur_service_stopping(struct ur_daemon *daemon)
{
	sd_notify(0, "STOPPING=1");
}
