// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The addresses of the devices of a process, in a table that one lock guards, the
 * UDP ports that its sockets hold, counted by family, and those that it has lent. A
 * lookup of a port is one load, or some.
 *
 * A reader in another process has no lock: the generation is odd while the table
 * changes, and another one when it has changed.
 */
#include "engine/wire/udp_own.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "transport/wire_format.h"
#include "util/assert.h"
#include "util/os/map_shared.h"

#define PORTS	  (0x10000u - UR_UDP_SPORT_MIN)
#define ADDRESSES 16384u
#define DEVICES	  64u
#define SLOTS	  UR_SLOTS
/* Looks at a table that changes meanwhile. */
#define TRIES 100u

struct address {
	_Atomic u64 gid[2];
	_Atomic u32 device;
	_Atomic u32 count; /* two devices may have the same one by turns */
};

struct ur_udp_own {
	_Atomic u32 generation;
	_Atomic u32 n; /* entries from here on were never used */
	struct address address[ADDRESSES];
	_Atomic u16 held[2][PORTS]; /* v6, v4: sockets */
	_Atomic u16 lent[DEVICES][SLOTS];
	_Atomic u32 loans[DEVICES][SLOTS]; /* so far */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ur_udp_own *mine;
static int file = -1;
static u64 devices; /* numbers that are taken, the first one is 0: nobody's */

_Static_assert(DEVICES <= 8 * sizeof(devices), "a bit for each device");

static void make(void)
{
	/* Without seals a program could write into it. */
	const int seals =
		F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
	void *p;

	if (ur_make_shared("uroce-ports", sizeof(*mine), PROT_READ | PROT_WRITE,
			   seals, &file, &p))
		p = calloc(1, sizeof(*mine));
	mine = p;
	if (mine)
		mine->generation = 2;
	devices = 1;
}

const struct ur_udp_own *ur_udp_own_mine(void)
{
	pthread_once(&once, make);
	return mine;
}

int ur_udp_own_file(void)
{
	ur_udp_own_mine();
	return file < 0 ? -EOPNOTSUPP : file;
}

int ur_udp_own_map(int fd, const struct ur_udp_own **own)
{
	void *p;
	int err = ur_map_shared(fd, sizeof(**own), PROT_READ, &p);

	if (!err)
		*own = p;
	return err;
}

void ur_udp_own_unmap(const struct ur_udp_own *own)
{
	if (own)
		munmap((void *)(uintptr_t)own, sizeof(*own));
}

/* ---- devices ---- */

u32 ur_udp_own_device(void)
{
	u32 device = 0;

	if (!ur_udp_own_mine())
		return 0;
	pthread_mutex_lock(&lock);
	while (device < DEVICES && (devices >> device & 1))
		device++;
	if (device < DEVICES)
		devices |= 1ull << device;
	pthread_mutex_unlock(&lock);
	return device < DEVICES ? device : 0;
}

void ur_udp_own_device_end(u32 device)
{
	if (!device)
		return;
	for (u32 slot = 0; slot < SLOTS; slot++)
		ur_udp_own_lend(device, slot, 0);
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

/* The set changes between the two. With the lock held. */
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

int ur_udp_own_add(const u8 gid[16], u32 device)
{
	int err;

	if (!ur_udp_own_mine())
		return -ENOMEM;
	pthread_mutex_lock(&lock);
	err = add(gid, device);
	pthread_mutex_unlock(&lock);
	return err;
}

void ur_udp_own_del(const u8 gid[16], u32 device)
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

u32 ur_udp_own_generation(const struct ur_udp_own *own)
{
	return atomic_load_explicit(&own->generation, memory_order_acquire);
}

static struct ur_udp_whose find_whose(const struct ur_udp_own *own,
				      const u8 gid[16], u32 device)
{
	struct ur_udp_whose w = {0};
	u32 n = own->n;

	for (u32 i = 0; i < n && i < ADDRESSES; i++) {
		const struct address *a = &own->address[i];

		if (!a->count || !is_same(a, gid))
			continue;
		w.own = true;
		w.here |= device && a->device == device;
		if (!w.device || a->device == device)
			w.device = a->device;
	}
	return w;
}

struct ur_udp_whose ur_udp_own_whose(const struct ur_udp_own *own,
				     const u8 gid[16], u32 device)
{
	struct ur_udp_whose w;

	if (own == mine) {
		pthread_mutex_lock(&lock);
		w = find_whose(own, gid, device);
		pthread_mutex_unlock(&lock);
		return w;
	}
	for (u32 i = 0; i < TRIES; i++) {
		u32 before = ur_udp_own_generation(own);

		w = find_whose(own, gid, device);
		atomic_thread_fence(memory_order_seq_cst);
		if (!(before & 1) && ur_udp_own_generation(own) == before)
			return w;
	}
	return (struct ur_udp_whose){.own = true};
}

/* ---- ports ---- */

static _Atomic u16 *sockets(u16 port, bool v4)
{
	ur_assert(mine && port >= UR_UDP_SPORT_MIN);
	return &mine->held[v4][port - UR_UDP_SPORT_MIN];
}

void ur_udp_own_hold(u16 port, bool v4)
{
	++*sockets(port, v4);
}

void ur_udp_own_release(u16 port, bool v4)
{
	--*sockets(port, v4);
}

bool ur_udp_own_holds(const struct ur_udp_own *own, u16 port, bool v4)
{
	return port >= UR_UDP_SPORT_MIN &&
	       own->held[v4][port - UR_UDP_SPORT_MIN];
}

void ur_udp_own_lend(u32 device, u32 slot, u16 port)
{
	ur_assert(device < DEVICES && slot < SLOTS);
	mine->loans[device][slot]++;
	mine->lent[device][slot] = port;
}

u32 ur_udp_own_slot(const struct ur_udp_own *own, u32 device, u16 port)
{
	if (!device || device >= DEVICES || !port)
		return 0;
	for (u32 slot = 1; slot < SLOTS; slot++)
		if (own->lent[device][slot] == port)
			return slot;
	return 0;
}

u16 ur_udp_own_port(const struct ur_udp_own *own, u32 device, u32 slot)
{
	return device < DEVICES && slot < SLOTS ? own->lent[device][slot] : 0;
}

u32 ur_udp_own_loan(const struct ur_udp_own *own, u32 device, u32 slot)
{
	return device < DEVICES && slot < SLOTS
		       ? atomic_load_explicit(&own->loans[device][slot],
					      memory_order_acquire)
		       : 0;
}
