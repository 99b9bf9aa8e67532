// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Settings that a device shows to engines in programs: read when they have changed, and
 * whole; written by nobody else. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "engine/core/engine_impl.h"
#include "engine/grant/program_faults.h"
#include "engine/grant/program_settings.h"
#include "tests/check.h"

#define SLOT   3u
#define NUMBER (SLOT << (24 - UR_PLACE_BITS) | 7)

static struct ur_engine *device;
static const struct ur_settings_page *page;
static struct ur_program_settings now;
static u32 seen;

static void begin(void)
{
	int fd;

	device = calloc(1, sizeof(*device));
	CHECK(device);
	CHECK(!ur_settings_grant(device, &fd));
	CHECK(!ur_settings_map(fd, &page));
	/* It is the device's alone to write. */
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
		      MAP_FAILED &&
	      errno == EACCES);
	seen = UR_SETTINGS_NONE;
}

static void end(void)
{
	ur_settings_unmap(page);
	ur_program_faults_fini(device);
	ur_settings_grant_fini(device);
	free(device);
}

static void once(void)
{
	begin();
	CHECK(ur_settings_read(page, &seen, &now));
	CHECK(!ur_settings_read(page, &seen, &now));
	device->shown_ecn = 7;
	device->shown_record_run = 5;
	device->shown_record_kib = 64;
	ur_settings_show(device);
	CHECK(ur_settings_read(page, &seen, &now));
	CHECK(now.ecn == 7 && now.record_run == 5 && now.record_kib == 64);
	CHECK(!ur_settings_read(page, &seen, &now));
	end();
}

static void rules(void)
{
	struct ur_fault_rule rule = {.action = UR_FAULT_DELAY, .value = 9};
	struct ur_program_rule *read = calloc(UR_PROGRAM_FAULTS, sizeof(*read));
	struct ur_program_fault *f;

	CHECK(read);
	begin();
	CHECK(!ur_program_fault_add(device, &rule, &f));
	ur_settings_show(device);
	CHECK(ur_settings_read(page, &seen, &now));
	CHECK(ur_settings_read_rules(page, seen, read));
	CHECK(read[0].id && read[0].rule.value == 9 && !read[1].id);
	ur_program_fault_del(f);
	ur_settings_show(device);
	/* Those read before are no more. */
	CHECK(!ur_settings_read_rules(page, seen, read));
	CHECK(ur_settings_read(page, &seen, &now));
	CHECK(ur_settings_read_rules(page, seen, read));
	CHECK(!read[0].id);
	end();
	free(read);
}

static u32 count(u32 slot)
{
	struct ur_program_class c;
	u32 n = 0;

	for (u32 i = 0; i < UR_PROGRAM_CLASSES; i++)
		n += ur_settings_read_class(page, slot, i, &c);
	return n;
}

static void classes(void)
{
	struct ur_program_class c = {0};

	begin();
	CHECK(ur_settings_read(page, &seen, &now));
	ur_engine_put_class(device, NUMBER, 106, 9);
	CHECK(!ur_settings_read(page, &seen, &now));
	ur_engine_show_classes(device);
	CHECK(ur_settings_read(page, &seen, &now));
	CHECK_EQ(now.classes, 1);
	CHECK(ur_settings_read_class(page, SLOT, 7, &c));
	CHECK(c.qpn == NUMBER && c.traffic_class == 106 && c.hop_limit == 9);
	ur_engine_put_class(device, NUMBER, 0, 0);
	CHECK(ur_settings_read_class(page, SLOT, 7, &c));
	CHECK(c.qpn == NUMBER && !c.traffic_class && !c.hop_limit);
	CHECK_EQ(count(SLOT), 1);
	/* Numbers with the same places, of which not all have one. */
	for (u32 i = 1; i < 12; i++)
		ur_engine_put_class(device, NUMBER + i * UR_PROGRAM_CLASSES, 1,
				    2);
	CHECK_EQ(count(SLOT), 8);
	CHECK_EQ(count(SLOT + 1), 0);
	for (u32 i = 0; i < 12; i++)
		ur_engine_forget_class(device, NUMBER + i * UR_PROGRAM_CLASSES);
	CHECK_EQ(count(SLOT), 0);
	end();
	/* Nobody has been granted anything. */
	device = calloc(1, sizeof(*device));
	CHECK(device);
	ur_engine_put_class(device, NUMBER, 1, 2);
	ur_engine_forget_class(device, NUMBER);
	ur_engine_show_classes(device);
	free(device);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(once());
	CASE(rules());
	CASE(classes());
	return cases_status();
}
