// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The table of this process: addresses of its devices, UDP ports that its sockets
 * hold, counted by family, and granted ports. One lock guards writers. A lookup of
 * a port takes one load, or a few.
 *
 * Readers in other processes have no lock: the generation is odd while the table
 * changes, and differs after a change.
 */
#include "engine/wire/udp_local.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/ground/keep.h"
#include "transport/wire_format.h"
#include "util/assert.h"
#include "util/os/map_shared.h"

#define PORTS	  (0x10000u - UR_UDP_SPORT_MIN)
#define ADDRESSES 16384u
#define DEVICES	  64u
#define SLOTS	  UR_SLOTS
/* Most tries to read a changing table. */
#define TRIES 100u

struct address {
	_Atomic u64 gid[2];
	_Atomic u32 device;
	_Atomic u32 count; /* adds without a removal; 0: free entry */
};

struct ur_udp_local {
	_Atomic u32 generation;
	_Atomic u32 n; /* entries below were used at some time */
	struct address address[ADDRESSES];
	_Atomic u16 held[2][PORTS]; /* v6, v4: number of sockets */
	_Atomic u16 granted[DEVICES][SLOTS];
	_Atomic u32 grant_ids[DEVICES][SLOTS]; /* number of the last grant */
	_Atomic u32 slots[DEVICES]; /* slots below were granted at some time */
	_Atomic u32 realms[DEVICES][SLOTS];
	_Atomic u32 netdev[DEVICES]; /* ifindex; 0: no such device */
	/* A robust mutex that uroced holds while it lives. When the process dies, the kernel sets
	 * FUTEX_OWNER_DIED in the first word. */
	_Atomic u32 holder[16];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ur_udp_local *mine;
static int file = -1;
static u64 devices; /* numbers in use, a bit each; 0 is no device's */
/* Devices and addresses of an earlier uroced that this one has not claimed, a bit each. */
static u64 left_devices, left_addresses[ADDRESSES / 64];

_Static_assert(DEVICES <= 8 * sizeof(devices), "a bit for each device");

static const struct ur_kept ports = {.kind = UR_KEPT_PORTS};

#ifdef __GLIBC__
_Static_assert(sizeof(pthread_mutex_t) <= sizeof(mine->holder) &&
		       !offsetof(pthread_mutex_t, __data.__lock),
	       "the lock begins with its futex");

/* Runs on the main thread, which ends with the process. */
static void hold_all(struct ur_udp_local *local)
{
	pthread_mutex_t *holder = (void *)local->holder;
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(holder, &attr);
	pthread_mutex_lock(holder);
	pthread_mutexattr_destroy(&attr);
}
#else
/* The mutex layout of other C libraries is not known: the process always counts as alive. */
static void hold_all(struct ur_udp_local *local)
{
}
#endif

/* The sockets of a killed process are closed. A change that it had begun is dropped:
 * entries count only once they are complete. */
static void leave(struct ur_udp_local *local)
{
	memset(local->held, 0, sizeof(local->held));
	if (local->generation & 1)
		local->generation++;
}

static void inherit(void)
{
	leave(mine);
	for (u32 i = 0; i < ADDRESSES; i++) {
		if (!mine->address[i].count)
			continue;
		mine->address[i].count = i < mine->n;
		if (i >= mine->n)
			continue;
		left_addresses[i / 64] |= 1ull << i % 64;
	}
	for (u32 d = 1; d < DEVICES; d++)
		if (mine->netdev[d])
			left_devices |= 1ull << d;
}

static bool take_over(void)
{
	struct ur_kept what = ports;
	int fd = ur_keep_take(&what);
	void *p;

	if (fd < 0)
		return false;
	if (!ur_map_shared(fd, sizeof(*mine), PROT_READ | PROT_WRITE, &p)) {
		mine = p;
		file = ur_open_to_read(fd);
		inherit();
	}
	close(fd);
	return mine;
}

static void make_new(void)
{
	void *p;
	int fd;

	/* Device numbers of stored descriptors mean nothing without the old table. */
	ur_keep_forget();
	if (ur_make_shared("uroce-ports", sizeof(*mine), PROT_READ | PROT_WRITE,
			   F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, &fd,
			   &p)) {
		mine = calloc(1, sizeof(*mine));
	} else {
		mine = p;
		file = ur_open_to_read(fd);
		ur_keep_put(&ports, fd);
		close(fd);
	}
	if (mine)
		mine->generation = 2;
}

static void make(void)
{
	if (!take_over())
		make_new();
	if (mine)
		hold_all(mine);
	devices = 1;
}

void ur_udp_local_left(int fd)
{
	void *p;

	if (ur_map_shared(fd, sizeof(*mine), PROT_READ | PROT_WRITE, &p))
		return;
	leave(p);
	munmap(p, sizeof(*mine));
}

const struct ur_udp_local *ur_udp_local_mine(void)
{
	pthread_once(&once, make);
	return mine;
}

int ur_udp_local_file(void)
{
	ur_udp_local_mine();
	return file < 0 ? -EOPNOTSUPP : file;
}

int ur_udp_local_map(int fd, const struct ur_udp_local **local)
{
	void *p;
	int err = ur_map_shared(fd, sizeof(**local), PROT_READ, &p);

	if (!err)
		*local = p;
	return err;
}

void ur_udp_local_unmap(const struct ur_udp_local *local)
{
	if (local)
		munmap((void *)(uintptr_t)local, sizeof(*local));
}

/* ---- devices ---- */

/* With the lock held. */
static u32 find_device(u32 ifindex)
{
	u32 device = 0;

	for (u32 d = 1; ifindex && d < DEVICES; d++)
		if ((left_devices >> d & 1) && mine->netdev[d] == ifindex)
			return d;
	while (device < DEVICES && ((devices | left_devices) >> device & 1))
		device++;
	return device;
}

u32 ur_udp_local_device(u32 ifindex)
{
	u32 device;

	if (!ur_udp_local_mine())
		return 0;
	pthread_mutex_lock(&lock);
	device = find_device(ifindex);
	if (device < DEVICES) {
		devices |= 1ull << device;
		left_devices &= ~(1ull << device);
		mine->netdev[device] = ifindex;
	}
	pthread_mutex_unlock(&lock);
	return device < DEVICES ? device : 0;
}

void ur_udp_local_move(u32 device, u32 ifindex)
{
	if (device)
		mine->netdev[device] = ifindex;
}

u32 ur_udp_local_netdev(const struct ur_udp_local *local, u32 device)
{
	return device < DEVICES ? local->netdev[device] : 0;
}

static void grant_nothing(u32 device)
{
	for (u32 slot = 0; slot < SLOTS; slot++)
		ur_udp_local_grant(device, slot, 0, 0);
	mine->netdev[device] = 0;
}

void ur_udp_local_device_end(u32 device)
{
	if (!device)
		return;
	grant_nothing(device);
	pthread_mutex_lock(&lock);
	devices &= ~(1ull << device);
	pthread_mutex_unlock(&lock);
}

/* ---- addresses ---- */

static u64 half_of(const u8 *gid)
{
	u64 v;

	memcpy(&v, gid, sizeof(v));
	return v;
}

static bool is_same(const struct address *a, const u8 gid[16])
{
	return a->gid[0] == half_of(gid) && a->gid[1] == half_of(gid + 8);
}

static bool is_left(const struct address *a)
{
	size_t i = (size_t)(a - mine->address);

	return left_addresses[i / 64] >> i % 64 & 1;
}

static void forget_left(const struct address *a)
{
	size_t i = (size_t)(a - mine->address);

	left_addresses[i / 64] &= ~(1ull << i % 64);
}

/* With the lock held. */
static struct address *find_gid(const u8 gid[16], u32 device)
{
	for (u32 i = 0; i < mine->n; i++)
		if (mine->address[i].count && is_same(&mine->address[i], gid) &&
		    mine->address[i].device == device)
			return &mine->address[i];
	return NULL;
}

static struct address *find_room(void)
{
	for (u32 i = 0; i < mine->n; i++)
		if (!mine->address[i].count)
			return &mine->address[i];
	return mine->n < ADDRESSES ? &mine->address[mine->n] : NULL;
}

/* begin_change() and end_change() enclose a change. With the lock held. */
static void begin_change(void)
{
	atomic_fetch_add(&mine->generation, 1);
	atomic_thread_fence(memory_order_seq_cst);
}

static void end_change(void)
{
	if (!atomic_fetch_add(&mine->generation, 1))
		mine->generation = 2;
}

static int add(const u8 gid[16], u32 device)
{
	struct address *a = find_gid(gid, device);

	if (a && is_left(a)) {
		forget_left(a);
		return 0;
	}
	if (a) {
		a->count++;
		return 0;
	}
	a = find_room();
	if (!a)
		return -ENOMEM;
	begin_change();
	a->gid[0] = half_of(gid);
	a->gid[1] = half_of(gid + 8);
	a->device = device;
	a->count = 1;
	if (a == &mine->address[mine->n])
		mine->n++;
	end_change();
	return 0;
}

int ur_udp_local_add(const u8 gid[16], u32 device)
{
	int err;

	if (!ur_udp_local_mine())
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	err = add(gid, device);
	pthread_mutex_unlock(&lock);
	return err;
}

void ur_udp_local_del(const u8 gid[16], u32 device)
{
	struct address *a;

	pthread_mutex_lock(&lock);
	a = find_gid(gid, device);
	if (a && a->count > 1) {
		a->count--;
	} else if (a) {
		begin_change();
		a->count = 0;
		end_change();
	}
	pthread_mutex_unlock(&lock);
}

void ur_udp_local_recovery_done(void)
{
	if (!ur_udp_local_mine())
		return;
	pthread_mutex_lock(&lock);
	for (u32 i = 0; i < ADDRESSES; i++) {
		struct address *a = &mine->address[i];

		if (!is_left(a))
			continue;
		forget_left(a);
		begin_change();
		a->count = 0;
		end_change();
	}
	for (; left_devices; left_devices &= left_devices - 1)
		grant_nothing((u32)__builtin_ctzll(left_devices));
	pthread_mutex_unlock(&lock);
}

u32 ur_udp_local_generation(const struct ur_udp_local *local)
{
	return atomic_load_explicit(&local->generation, memory_order_acquire);
}

static struct ur_udp_whose find_whose(const struct ur_udp_local *local,
				      const u8 gid[16], u32 device)
{
	struct ur_udp_whose w = {0};
	u32 n = local->n;

	for (u32 i = 0; i < n && i < ADDRESSES; i++) {
		const struct address *a = &local->address[i];

		if (!a->count || !is_same(a, gid))
			continue;
		w.local = true;
		w.here |= device && a->device == device;
		if (!w.device || a->device == device)
			w.device = a->device;
	}
	return w;
}

struct ur_udp_whose ur_udp_local_whose(const struct ur_udp_local *local,
				       const u8 gid[16], u32 device)
{
	struct ur_udp_whose w;

	if (local == mine) {
		pthread_mutex_lock(&lock);
		w = find_whose(local, gid, device);
		pthread_mutex_unlock(&lock);
		return w;
	}
	for (u32 i = 0; i < TRIES; i++) {
		u32 before = ur_udp_local_generation(local);

		w = find_whose(local, gid, device);
		atomic_thread_fence(memory_order_seq_cst);
		if (!(before & 1) && ur_udp_local_generation(local) == before)
			return w;
	}
	return (struct ur_udp_whose){.local = true};
}

/* ---- ports ---- */

static _Atomic u16 *sockets(u16 port, bool v4)
{
	ur_assert(mine && port >= UR_UDP_SPORT_MIN);
	return &mine->held[v4][port - UR_UDP_SPORT_MIN];
}

void ur_udp_local_hold(u16 port, bool v4)
{
	++*sockets(port, v4);
}

void ur_udp_local_release(u16 port, bool v4)
{
	--*sockets(port, v4);
}

bool ur_udp_local_holds(const struct ur_udp_local *local, u16 port, bool v4)
{
	return port >= UR_UDP_SPORT_MIN &&
	       local->held[v4][port - UR_UDP_SPORT_MIN] &&
	       !(local->holder[0] & FUTEX_OWNER_DIED);
}

void ur_udp_local_grant(u32 device, u32 slot, u16 port, u32 realm)
{
	ur_assert(device < DEVICES && slot < SLOTS);
	/* The old port is removed first, so that its packets never count for the new grant. */
	if (port && slot >= mine->slots[device])
		mine->slots[device] = slot + 1;
	mine->granted[device][slot] = 0;
	mine->grant_ids[device][slot]++;
	mine->realms[device][slot] = realm;
	mine->granted[device][slot] = port;
}

u32 ur_udp_local_slot(const struct ur_udp_local *local, u32 device, u16 port,
		      u32 *grant_id)
{
	u32 n;

	*grant_id = 0;
	if (!device || device >= DEVICES || !port)
		return 0;
	n = ur_min_u32(local->slots[device], SLOTS);
	for (u32 slot = 1; slot < n; slot++) {
		if (local->granted[device][slot] != port)
			continue;
		*grant_id = local->grant_ids[device][slot];
		if (local->granted[device][slot] == port)
			return slot;
		*grant_id = 0;
	}
	return 0;
}

u32 ur_udp_local_realm(const struct ur_udp_local *local, u32 device, u32 slot,
		       u32 grant_id)
{
	u32 realm;

	if (device >= DEVICES || slot >= SLOTS)
		return 0;
	realm = local->realms[device][slot];
	return local->grant_ids[device][slot] == grant_id ? realm : 0;
}

u16 ur_udp_local_port(const struct ur_udp_local *local, u32 device, u32 slot)
{
	return device < DEVICES && slot < SLOTS ? local->granted[device][slot]
						: 0;
}

u32 ur_udp_local_grant_id(const struct ur_udp_local *local, u32 device,
			  u32 slot)
{
	return device < DEVICES && slot < SLOTS
		       ? atomic_load_explicit(&local->grant_ids[device][slot],
					      memory_order_acquire)
		       : 0;
}

u32 ur_udp_local_grant_id_at(const struct ur_udp_local *local, const u8 gid[16],
			     u32 device, u32 slot)
{
	struct ur_udp_whose whose = ur_udp_local_whose(local, gid, device);

	return whose.local && ur_udp_local_port(local, whose.device, slot)
		       ? ur_udp_local_grant_id(local, whose.device, slot)
		       : 0;
}
