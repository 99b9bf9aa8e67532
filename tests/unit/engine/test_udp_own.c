// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which addresses and ports are ours, as the process of the devices writes it and as a
 * program reads it, who cannot write it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/wire/udp_own.h"
#include "tests/check.h"
#include "transport/wire_format.h"

static const u8 gid_a[16] = {0xfd, 1, [15] = 1},
		gid_b[16] = {0xfd, 1, [15] = 2};

static void check_whose(const struct ur_udp_own *own, const u8 *gid, u32 device,
			bool is_own, bool is_here)
{
	struct ur_udp_whose w = ur_udp_own_whose(own, gid, device);

	CHECK_EQ(w.own, is_own);
	CHECK_EQ(w.here, is_here);
}

static void test_addresses(const struct ur_udp_own *reader, u32 device)
{
	const struct ur_udp_own *both[] = {ur_udp_own_mine(), reader};
	u32 before = ur_udp_own_generation(reader);

	CHECK(before);
	CHECK_EQ(ur_udp_own_add(gid_a, device), 0);
	CHECK_EQ(ur_udp_own_add(gid_b, 0), 0);
	CHECK_EQ(ur_udp_own_add(gid_b, 0), 0);
	CHECK(ur_udp_own_generation(reader) != before);
	for (u32 i = 0; i < 2; i++) {
		check_whose(both[i], gid_a, device, true, true);
		check_whose(both[i], gid_a, device + 1, true, false);
		check_whose(both[i], gid_b, device, true, false);
		check_whose(both[i], gid_b, 0, true, false);
	}
	before = ur_udp_own_generation(reader);
	ur_udp_own_del(gid_b, 0);
	CHECK_EQ(ur_udp_own_generation(reader), before);
	check_whose(reader, gid_b, device, true, false);
	ur_udp_own_del(gid_b, 0);
	CHECK(ur_udp_own_generation(reader) != before);
	check_whose(reader, gid_b, device, false, false);
	check_whose(reader, gid_a, device, true, true);
	/* Its place is taken again. */
	CHECK_EQ(ur_udp_own_add(gid_b, device), 0);
	check_whose(reader, gid_b, device, true, true);
	ur_udp_own_del(gid_b, device);
	ur_udp_own_del(gid_a, device);
	check_whose(reader, gid_a, device, false, false);
}

static void test_ports(const struct ur_udp_own *reader, u32 device)
{
	u16 port = UR_UDP_SPORT_MIN + 7;

	CHECK(!ur_udp_own_holds(reader, port, true));
	ur_udp_own_hold(port, true);
	CHECK(ur_udp_own_holds(reader, port, true));
	CHECK(!ur_udp_own_holds(reader, port, false));
	ur_udp_own_release(port, true);
	CHECK(!ur_udp_own_holds(reader, port, true));
	CHECK(!ur_udp_own_holds(reader, UR_UDP_SPORT_MIN - 1, true));

	u32 loan = ur_udp_own_loan(reader, device, 3);

	ur_udp_own_lend(device, 3, 0x8001);
	CHECK(ur_udp_own_loan(reader, device, 3) != loan);
	CHECK_EQ(ur_udp_own_loan(reader, device, 3),
		 ur_udp_own_loan(ur_udp_own_mine(), device, 3));
	CHECK_EQ(ur_udp_own_port(reader, device, 3), 0x8001);
	CHECK_EQ(ur_udp_own_port(reader, device, 4), 0);
	loan = ur_udp_own_loan(reader, device, 3);
	CHECK_EQ(ur_udp_own_slot(reader, device, 0x8001), 3);
	CHECK_EQ(ur_udp_own_slot(reader, device, 0x8002), 0);
	CHECK_EQ(ur_udp_own_slot(reader, device, 0), 0);
	CHECK_EQ(ur_udp_own_slot(reader, device + 1, 0x8001), 0);
	CHECK_EQ(ur_udp_own_slot(reader, 0, 0x8001), 0);
	ur_udp_own_lend(device, 3, 0x8002);
	CHECK(ur_udp_own_loan(reader, device, 3) != loan);
	CHECK_EQ(ur_udp_own_slot(reader, device, 0x8001), 0);
	CHECK_EQ(ur_udp_own_slot(reader, device, 0x8002), 3);
	/* The next device with that number has lent nothing. */
	ur_udp_own_device_end(device);
	CHECK_EQ(ur_udp_own_slot(reader, device, 0x8002), 0);
	CHECK_EQ(ur_udp_own_device(), device);
}

static void test_devices(void)
{
	u32 seen[100], n = 0;

	while ((seen[n] = ur_udp_own_device()))
		CHECK(++n < 100);
	CHECK(n > 10);
	while (n)
		ur_udp_own_device_end(seen[--n]);
}

/* Whoever has the file. */
static void test_sealed(int file)
{
	struct stat st;
	char path[64];
	int again;

	CHECK(!fstat(file, &st));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	again = open(path, O_RDWR | O_CLOEXEC);
	CHECK(again >= 0);
	CHECK(pwrite(again, "x", 1, 0) < 0 && errno == EPERM);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0) ==
	      MAP_FAILED);
	CHECK(ftruncate(again, 0) < 0);
	CHECK(fallocate(again, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			st.st_size) < 0);
	close(again);
}

int main(void)
{
	const struct ur_udp_own *reader;
	int file = ur_udp_own_file(), null;
	u32 device = ur_udp_own_device();

	if (file == -EOPNOTSUPP)
		SKIP("this kernel does not seal files against writing");
	CHECK(file >= 0 && device);
	CHECK_EQ(ur_udp_own_map(file, &reader), 0);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK(ur_udp_own_map(null, &reader) < 0);
	CHECK_EQ(ur_udp_own_map(-1, &reader), -EBADF);
	test_addresses(reader, device);
	test_ports(reader, device);
	test_devices();
	test_sealed(file);
	ur_udp_own_unmap(reader);
	close(null);
	return 0;
}
