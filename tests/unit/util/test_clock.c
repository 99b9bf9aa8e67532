// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The kernel's clock, with another one in front of the C library's. */
#include <sys/syscall.h>
#include <unistd.h>
#include "tests/check.h"
#include "util/os/clock.h"

/* It stands still. */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	*ts = (struct timespec){0};
	return 0;
}

static u64 ask(clockid_t id)
{
	struct timespec ts;

	CHECK(!syscall(SYS_clock_gettime, id, &ts));
	return (u64)ts.tv_sec * 1000000000u + (u64)ts.tv_nsec;
}

int main(void)
{
	static const clockid_t ids[] = {CLOCK_REALTIME, CLOCK_MONOTONIC,
					CLOCK_MONOTONIC_RAW};

	for (u32 i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		u64 before = ask(ids[i]), is = ur_clock_ns(ids[i]);

		CHECK(is >= before && is <= ask(ids[i]));
	}
	ur_nap_ns(1);
	return 0;
}
