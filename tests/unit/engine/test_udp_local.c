// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Which addresses and ports are ours, as the process of the devices writes it and as a
 * program reads it, who cannot write it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/wire/udp_local.h"
#include "tests/check.h"
#include "tests/machine.h"
#include "transport/wire_format.h"

static const u8 gid_a[16] = {0xfd, 1, [15] = 1},
		gid_b[16] = {0xfd, 1, [15] = 2};

static void check_whose(const struct ur_udp_local *local, const u8 *gid,
			u32 device, bool is_own, bool is_here)
{
	struct ur_udp_whose w = ur_udp_local_whose(local, gid, device);

	CHECK_EQ(w.local, is_own);
	CHECK_EQ(w.here, is_here);
}

static void test_addresses(const struct ur_udp_local *reader, u32 device)
{
	const struct ur_udp_local *both[] = {ur_udp_local_mine(), reader};
	u32 before = ur_udp_local_generation(reader);

	CHECK(before);
	CHECK_EQ(ur_udp_local_add(gid_a, device), 0);
	CHECK_EQ(ur_udp_local_add(gid_b, 0), 0);
	CHECK_EQ(ur_udp_local_add(gid_b, 0), 0);
	CHECK(ur_udp_local_generation(reader) != before);
	for (u32 i = 0; i < 2; i++) {
		check_whose(both[i], gid_a, device, true, true);
		check_whose(both[i], gid_a, device + 1, true, false);
		check_whose(both[i], gid_b, device, true, false);
		check_whose(both[i], gid_b, 0, true, false);
	}
	before = ur_udp_local_generation(reader);
	ur_udp_local_del(gid_b, 0);
	CHECK_EQ(ur_udp_local_generation(reader), before);
	check_whose(reader, gid_b, device, true, false);
	ur_udp_local_del(gid_b, 0);
	CHECK(ur_udp_local_generation(reader) != before);
	check_whose(reader, gid_b, device, false, false);
	check_whose(reader, gid_a, device, true, true);
	/* Its place is taken again. */
	CHECK_EQ(ur_udp_local_add(gid_b, device), 0);
	check_whose(reader, gid_b, device, true, true);
	ur_udp_local_del(gid_b, device);
	ur_udp_local_del(gid_a, device);
	check_whose(reader, gid_a, device, false, false);
}

static void test_ports(const struct ur_udp_local *reader, u32 device)
{
	u16 port = UR_UDP_SPORT_MIN + 7;

	CHECK(!ur_udp_local_holds(reader, port, true));
	ur_udp_local_hold(port, true);
	CHECK(ur_udp_local_holds(reader, port, true));
	CHECK(!ur_udp_local_holds(reader, port, false));
	ur_udp_local_release(port, true);
	CHECK(!ur_udp_local_holds(reader, port, true));
	CHECK(!ur_udp_local_holds(reader, UR_UDP_SPORT_MIN - 1, true));

	u32 grant_id = ur_udp_local_grant_id(reader, device, 3), got;

	ur_udp_local_grant(device, 3, 0x8001, 77);
	CHECK_EQ(ur_udp_local_realm(reader, device, 3, grant_id), 0);
	CHECK(ur_udp_local_grant_id(reader, device, 3) != grant_id);
	CHECK_EQ(ur_udp_local_grant_id(reader, device, 3),
		 ur_udp_local_grant_id(ur_udp_local_mine(), device, 3));
	CHECK_EQ(ur_udp_local_port(reader, device, 3), 0x8001);
	CHECK_EQ(ur_udp_local_port(reader, device, 4), 0);
	grant_id = ur_udp_local_grant_id(reader, device, 3);
	CHECK_EQ(ur_udp_local_slot(reader, device, 0x8001, &got), 3);
	CHECK_EQ(ur_udp_local_slot(reader, device, 0x8002, &got), 0);
	CHECK_EQ(ur_udp_local_slot(reader, device, 0, &got), 0);
	CHECK_EQ(ur_udp_local_slot(reader, device + 1, 0x8001, &got), 0);
	CHECK_EQ(ur_udp_local_slot(reader, 0, 0x8001, &got), 0);
	CHECK_EQ(ur_udp_local_realm(reader, device, 3, grant_id), 77);
	ur_udp_local_grant(device, 3, 0x8002, 0);
	CHECK_EQ(ur_udp_local_realm(reader, device, 3, grant_id), 0);
	CHECK(ur_udp_local_grant_id(reader, device, 3) != grant_id);
	CHECK_EQ(ur_udp_local_slot(reader, device, 0x8001, &got), 0);
	CHECK_EQ(ur_udp_local_slot(reader, device, 0x8002, &got), 3);
	/* The next device with that number has granted nothing. */
	ur_udp_local_device_end(device);
	CHECK_EQ(ur_udp_local_slot(reader, device, 0x8002, &got), 0);
	CHECK_EQ(ur_udp_local_device(0), device);
}

static void test_devices(void)
{
	u32 seen[100], n = 0;

	while ((seen[n] = ur_udp_local_device(0)))
		CHECK(++n < 100);
	CHECK(n > 10);
	while (n)
		ur_udp_local_device_end(seen[--n]);
}

static void check_refused(int file)
{
	struct stat st;
	char path[64];

	CHECK(!fstat(file, &st));
	CHECK(pwrite(file, "x", 1, 0) < 0);
	CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) ==
	      MAP_FAILED);
	CHECK(ftruncate(file, 0) < 0);
	CHECK(fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			st.st_size) < 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	CHECK(getuid() == 0 ||
	      (open(path, O_RDWR | O_CLOEXEC) < 0 && errno == EACCES));
}

/* Whoever held a port is killed, and nobody else has looked. */
static void test_died(void)
{
	u16 port = UR_UDP_SPORT_MIN + 9;
	const struct ur_udp_local *reader;
	int status, to_parent[2], file;
	pid_t pid;
	char path[64];

	/* qemu-user has no robust locks. */
	if (is_emulated())
		return;
	CHECK(!pipe(to_parent));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		file = ur_udp_local_file();
		ur_udp_local_hold(port, true);
		CHECK(write(to_parent[1], &file, sizeof(file)) == sizeof(file));
		for (;;)
			pause();
	}
	CHECK(read(to_parent[0], &file, sizeof(file)) == sizeof(file));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, file);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0 && !ur_udp_local_map(file, &reader));
	CHECK(ur_udp_local_holds(reader, port, true));
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	CHECK(!ur_udp_local_holds(reader, port, true));
	ur_udp_local_unmap(reader);
	close(file);
	close(to_parent[0]);
	close(to_parent[1]);
}

/* Another user who has the descriptor, and opens it anew: root becomes one. */
static void test_to_read(int file)
{
	int status;
	pid_t pid;

	if (getuid())
		return;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(!setgid(65534) && !setuid(65534));
		CHECK(!prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
		check_refused(file);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	check_refused(file);
}

/* A process that was killed holds no port, and the change that it was about to make is none. */
static void test_left(int file, const struct ur_udp_local *reader)
{
	u16 port = UR_UDP_SPORT_MIN + 8;
	char path[64];
	int again;

	if (getuid())
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	again = open(path, O_RDWR | O_CLOEXEC);
	CHECK(again >= 0);
	ur_udp_local_hold(port, true);
	CHECK(ur_udp_local_holds(reader, port, true));
	ur_udp_local_left(again);
	CHECK(!ur_udp_local_holds(reader, port, true));
	CHECK(!(ur_udp_local_generation(reader) & 1));
	close(again);
}

int main(void)
{
	const struct ur_udp_local *reader;
	int file, null;
	u32 device;

	if (!access("/proc/self/fd", X_OK))
		test_died();
	file = ur_udp_local_file();
	device = ur_udp_local_device(0);

	if (file == -EOPNOTSUPP)
		SKIP("there is no /proc");
	CHECK(file >= 0 && device);
	CHECK_EQ(ur_udp_local_map(file, &reader), 0);
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK(ur_udp_local_map(null, &reader) < 0);
	CHECK_EQ(ur_udp_local_map(-1, &reader), -EBADF);
	test_addresses(reader, device);
	test_ports(reader, device);
	test_devices();
	test_left(file, reader);
	test_to_read(file);
	ur_udp_local_unmap(reader);
	close(null);
	return 0;
}
