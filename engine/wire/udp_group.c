// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Groups of receiving sockets, and the BPF program that steers datagrams to them. When a
 * socket is closed, the last one of its group gets its number. A granted socket stays in the
 * kernel's group as long as a program has a copy, so granted ones are closed last.
 */
#include "engine/wire/udp_group.h"

#include <errno.h>
#include <linux/filter.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/ground/keep.h"
#include "engine/wire/udp_local.h"
#include "util/assert.h"
#include "util/list.h"

#define NOWHERE 0xffu
/* Most lost addresses whose sockets a device keeps. Their descriptors are charged to no user. Hosts with more changing
 * addresses are unusual. */
#define AWAY_MAX 32u

struct rx_group {
	struct ur_list node;
	u8 gid[16];
	u32 n; /* sockets in the kernel's group */
	/* Places of engines that do not use their socket: an earlier uroced's, or of a lost address. A bit each. */
	u32 left;
	int fd[UR_PLACES];   /* by place; -1: none */
	u8 index[UR_PLACES]; /* the kernel's number */
	u32 unused; /* places whose sockets get no datagrams, a bit each */
};

struct ur_udp_group {
	pthread_mutex_t lock;
	u32 bits, device;
	bool steers;
	struct ur_list groups;
	struct ur_list node; /* of all devices */
};

/* The lock of a group is taken after this one. */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ur_list all = {&all, &all};

static void end_group(struct ur_udp_group *g, struct rx_group *a);
static void inherit(struct ur_udp_group *g);

static bool can_steer(void)
{
	struct sock_filter code = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog prog = {1, &code};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool can = fd < 0 ||
		   !setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog,
			       sizeof(prog)) ||
		   errno != ENOPROTOOPT;

	if (fd >= 0)
		close(fd);
	return can;
}

struct ur_udp_group *ur_udp_group_create(u32 bits, u32 device)
{
	struct ur_udp_group *g = calloc(1, sizeof(*g));

	ur_assert(bits && bits <= UR_PLACE_BITS);
	if (!g)
		return NULL;
	pthread_mutex_init(&g->lock, NULL);
	g->bits = bits;
	g->device = device;
	g->steers = can_steer();
	ur_list_init(&g->groups);
	if (device)
		inherit(g);
	pthread_mutex_lock(&all_lock);
	ur_list_add_tail(&all, &g->node);
	pthread_mutex_unlock(&all_lock);
	return g;
}

void ur_udp_group_destroy(struct ur_udp_group *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all_lock);
	ur_list_del(&g->node);
	pthread_mutex_unlock(&all_lock);
	ur_udp_group_end_away(g);
	ur_assert(ur_list_empty(&g->groups));
	ur_udp_local_device_end(g->device);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

u32 ur_udp_group_device(const struct ur_udp_group *g)
{
	return g->device;
}

bool ur_udp_group_steers(const struct ur_udp_group *g)
{
	return g->steers;
}

/* ---- with the lock held ---- */

static struct rx_group *find(struct ur_udp_group *g, const u8 gid[16])
{
	ur_list_for_each(it, &g->groups) {
		struct rx_group *a = ur_list_entry(it, struct rx_group, node);

		if (!memcmp(a->gid, gid, 16))
			return a;
	}
	return NULL;
}

static struct rx_group *find_or_make(struct ur_udp_group *g, const u8 gid[16])
{
	struct rx_group *a = find(g, gid);

	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	memcpy(a->gid, gid, 16);
	for (u32 i = 0; i < UR_PLACES; i++) {
		a->fd[i] = -1;
		a->index[i] = NOWHERE;
	}
	ur_list_add_tail(&g->groups, &a->node);
	return a;
}

/* ---- what is kept ---- */

static struct ur_kept name_of(const struct ur_udp_group *g,
			      const struct rx_group *a, u32 place)
{
	struct ur_kept what = {.kind = UR_KEPT_SOCKET,
			       .device = g->device,
			       .place = place,
			       .value = a->index[place]};

	memcpy(what.gid, a->gid, sizeof(what.gid));
	return what;
}

/* Stores the socket and its number. A device without grants stores nothing. */
static int keep(const struct ur_udp_group *g, const struct rx_group *a,
		u32 place)
{
	const struct ur_kept what = name_of(g, a, place);

	return g->device ? ur_keep_put(&what, a->fd[place]) : 0;
}

static void keep_number(const struct ur_udp_group *g, const struct rx_group *a,
			u32 place)
{
	const struct ur_kept what = name_of(g, a, place);

	if (g->device)
		ur_keep_renumber(&what, a->fd[place]);
}

/* Closes our copy and the stored one. The kernel closes the socket with the last copy. */
static void close_one(const struct ur_udp_group *g, const struct rx_group *a,
		      u32 place)
{
	const struct ur_kept what = name_of(g, a, place);

	close(a->fd[place]);
	if (g->device)
		ur_keep_drop(&what);
}

/* Returns whether the group's sockets have the numbers 0 to n - 1. */
static bool is_whole(const struct rx_group *a)
{
	u32 seen = 0;

	for (u32 i = 0; i < UR_PLACES; i++)
		if (a->fd[i] >= 0 && a->index[i] < UR_PLACES)
			seen |= 1u << a->index[i];
	return seen == (a->n < 32 ? (1u << a->n) - 1 : ~0u);
}

/* Closes the granted sockets if the device has the address no more. */
static void free_unused(const struct ur_udp_group *g, struct rx_group *a)
{
	if (a->fd[0] >= 0)
		return;
	for (u32 i = 1; i < UR_PLACES; i++)
		if (a->fd[i] >= 0)
			close_one(g, a, i);
	ur_list_del(&a->node);
	free(a);
}

static bool gets_any(const struct rx_group *a, u32 place)
{
	return a->index[place] != NOWHERE && !(a->unused >> place & 1);
}

/* Bytes 5 to 7 of the BTH are the queue pair's number. One comparison handles all first
 * places whose socket number equals the place, as is usual for engines. */
static int steer(const struct ur_udp_group *g, const struct rx_group *a, int fd)
{
	struct sock_filter code[2 * UR_PLACES + 5] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 5),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8 - g->bits),
	};
	struct sock_fprog prog = {2, code};
	u32 same = 0;

	while (same < UR_PLACES && a->index[same] == same && gets_any(a, same))
		same++;
	code[prog.len++] = (struct sock_filter)BPF_JUMP(
		BPF_JMP | BPF_JGE | BPF_K, same, 1, 0);
	code[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
	for (u32 i = same; i < UR_PLACES; i++) {
		if (!gets_any(a, i))
			continue;
		code[prog.len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, i, 0, 1);
		code[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
								a->index[i]);
	}
	code[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog,
			  sizeof(prog)) < 0
		       ? -errno
		       : 0;
}

static int set_reuse(int fd)
{
	const int one = 1;

	return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) < 0
		       ? -errno
		       : 0;
}

static int bind_one(u32 place, int fd, const struct sockaddr *sa, socklen_t len)
{
	int err = place ? set_reuse(fd) : 0;

	if (!err && bind(fd, sa, len) < 0)
		err = -errno;
	return err || place ? err : set_reuse(fd);
}

/* Removes the socket from our table. The caller closes it. */
static void forget_socket(const struct ur_udp_group *g, struct rx_group *a,
			  u32 place)
{
	const struct ur_kept what = name_of(g, a, place);

	if (g->device)
		ur_keep_drop(&what);
	a->fd[place] = -1;
	a->index[place] = NOWHERE;
	a->n--;
}

/* If steering fails, a granted socket is not used, since it would get others' packets. An
 * engine's socket is, since engines pass packets on. */
static int add_socket(struct ur_udp_group *g, struct rx_group *a, u32 place,
		      int fd, const struct sockaddr *sa, socklen_t len)
{
	int err;

	/* The kernel counts dropped sockets of which the keeper still has a copy. */
	if (g->device && ur_keep_is_late())
		return -EADDRINUSE;
	err = bind_one(place, fd, sa, len);
	if (err)
		return err;
	ur_assert(a->fd[place] < 0);
	a->fd[place] = fd;
	a->index[place] = (u8)a->n++;
	a->unused &= ~(1u << place);
	err = keep(g, a, place);
	if (!err && a->n > 1)
		err = steer(g, a, fd);
	if (!err || !place)
		return 0;
	forget_socket(g, a, place);
	return err;
}

/* Nothing is steered to the last socket of the group until it has its new number. */
static void remove_socket(struct ur_udp_group *g, struct rx_group *a, u32 place)
{
	u32 last = place, other = UR_PLACES, number = a->index[place];

	for (u32 i = 0; i < UR_PLACES; i++) {
		if (a->index[i] == a->n - 1)
			last = i;
		if (i != place && a->fd[i] >= 0)
			other = i;
	}
	a->index[place] = a->index[last] = NOWHERE;
	if (other < UR_PLACES)
		steer(g, a, a->fd[other]);
	close_one(g, a, place);
	a->fd[place] = -1;
	a->n--;
	if (last == place)
		return;
	a->index[last] = (u8)number;
	keep_number(g, a, last);
	steer(g, a, a->fd[last]);
}

/* ---- recovery ---- */

/* A uroced that was killed between two steps may have left a number twice, or missing. Then
 * the whole group ends, so that nobody gets others' packets. */
static void end_group(struct ur_udp_group *g, struct rx_group *a)
{
	for (u32 i = 0; i < UR_PLACES; i++)
		if (a->fd[i] >= 0)
			close_one(g, a, i);
	ur_list_del(&a->node);
	free(a);
}

static int first_of(const struct rx_group *a)
{
	for (u32 i = 0; i < UR_PLACES; i++)
		if (a->fd[i] >= 0)
			return a->fd[i];
	return -1;
}

static void take_one(struct ur_udp_group *g, struct ur_kept *what)
{
	struct rx_group *a = find_or_make(g, what->gid);
	u32 place = what->place;

	if (!a || place >= UR_PLACES || a->fd[place] >= 0)
		return;
	a->fd[place] = ur_keep_take(what);
	a->index[place] = ur_min_u64(what->value, NOWHERE);
	a->n++;
	if (!place)
		a->left |= 1;
}

static void inherit(struct ur_udp_group *g)
{
	struct ur_kept what;
	u32 at = 0;

	while (ur_keep_next(UR_KEPT_SOCKET, g->device, &at, &what))
		take_one(g, &what);
	ur_list_for_each_safe(it, &g->groups) {
		struct rx_group *a = ur_list_entry(it, struct rx_group, node);

		if (!is_whole(a) || steer(g, a, first_of(a)))
			end_group(g, a);
	}
}

/* ---- lost addresses; with the lock held ---- */

static bool is_away(const struct ur_udp_group *g, const struct rx_group *a)
{
	return a->fd[0] < 0 || (a->left & 1);
}

/* Ends the oldest of them beyond the limit. */
static void bound_away(struct ur_udp_group *g)
{
	u32 n = 0;

	ur_list_for_each(it, &g->groups)
		n += is_away(g, ur_list_entry(it, struct rx_group, node));
	ur_list_for_each_safe(it, &g->groups) {
		struct rx_group *a = ur_list_entry(it, struct rx_group, node);

		if (n <= AWAY_MAX)
			return;
		if (!is_away(g, a))
			continue;
		end_group(g, a);
		n--;
	}
}

/* A link-local socket is bound to its interface; the address may return on another one. */
static bool is_link_local(const u8 gid[16])
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

/* ---- without the lock ---- */

void ur_udp_group_leave(struct ur_udp_group *g, const u8 gid[16], u32 place,
			int fd)
{
	struct rx_group *a;

	pthread_mutex_lock(&g->lock);
	a = find(g, gid);
	if (a && a->fd[place] == fd && !is_link_local(gid)) {
		a->left |= 1u << place;
		ur_list_del(&a->node);
		ur_list_add_tail(&g->groups, &a->node);
		bound_away(g);
		fd = -1;
	}
	pthread_mutex_unlock(&g->lock);
	if (fd >= 0)
		ur_udp_group_close(g, gid, place, fd);
}

void ur_udp_group_end_away(struct ur_udp_group *g)
{
	pthread_mutex_lock(&g->lock);
	ur_list_for_each_safe(it, &g->groups) {
		struct rx_group *a = ur_list_entry(it, struct rx_group, node);

		if (is_away(g, a))
			end_group(g, a);
	}
	pthread_mutex_unlock(&g->lock);
}

/* Closes the sockets that another device of this process kept for the lost address. Returns whether there were any. */
static bool end_elsewhere(const struct ur_udp_group *g, const u8 gid[16])
{
	bool any = false;

	pthread_mutex_lock(&all_lock);
	ur_list_for_each(it, &all) {
		struct ur_udp_group *other =
			ur_list_entry(it, struct ur_udp_group, node);
		struct rx_group *a;

		if (other == g)
			continue;
		pthread_mutex_lock(&other->lock);
		a = find(other, gid);
		if (a && is_away(other, a)) {
			end_group(other, a);
			any = true;
		}
		pthread_mutex_unlock(&other->lock);
	}
	pthread_mutex_unlock(&all_lock);
	return any;
}

static int join_place(struct ur_udp_group *g, const u8 gid[16], u32 place,
		      int fd, const struct sockaddr *sa, socklen_t len)
{
	struct rx_group *a;
	int err = -ENOMEM;

	ur_assert(place < 1u << g->bits);
	pthread_mutex_lock(&g->lock);
	a = find_or_make(g, gid);
	if (a) {
		err = add_socket(g, a, place, fd, sa, len);
		free_unused(g, a);
	}
	pthread_mutex_unlock(&g->lock);
	return err;
}

int ur_udp_group_join(struct ur_udp_group *g, const u8 gid[16], u32 place,
		      int fd, const struct sockaddr *sa, socklen_t len)
{
	int err = join_place(g, gid, place, fd, sa, len);

	return err == -EADDRINUSE && end_elsewhere(g, gid)
		       ? join_place(g, gid, place, fd, sa, len)
		       : err;
}

void ur_udp_group_close(struct ur_udp_group *g, const u8 gid[16], u32 place,
			int fd)
{
	struct rx_group *a;

	pthread_mutex_lock(&g->lock);
	a = find(g, gid);
	if (a && a->fd[place] == fd) {
		remove_socket(g, a, place);
		free_unused(g, a);
	} else {
		close(fd);
	}
	pthread_mutex_unlock(&g->lock);
}

int ur_udp_group_take(struct ur_udp_group *g, const u8 gid[16], u32 place)
{
	struct rx_group *a;
	int fd = -1;

	ur_assert(!place);
	pthread_mutex_lock(&g->lock);
	a = find(g, gid);
	if (a && (a->left >> place & 1)) {
		a->left &= ~(1u << place);
		fd = a->fd[place];
	}
	pthread_mutex_unlock(&g->lock);
	return fd;
}

void ur_udp_group_recovery_done(struct ur_udp_group *g)
{
	pthread_mutex_lock(&g->lock);
	ur_list_for_each_safe(it, &g->groups) {
		struct rx_group *a = ur_list_entry(it, struct rx_group, node);

		for (; a->left; a->left &= a->left - 1)
			remove_socket(g, a, (u32)__builtin_ctz(a->left));
		free_unused(g, a);
	}
	pthread_mutex_unlock(&g->lock);
}

int ur_udp_group_use(struct ur_udp_group *g, const u8 gid[16], u32 place)
{
	struct rx_group *a;
	int fd;

	pthread_mutex_lock(&g->lock);
	a = find(g, gid);
	fd = a ? a->fd[place] : -1;
	if (fd >= 0 && (a->unused >> place & 1)) {
		a->unused &= ~(1u << place);
		steer(g, a, fd);
	}
	pthread_mutex_unlock(&g->lock);
	return fd;
}

void ur_udp_group_unuse(struct ur_udp_group *g, u32 place,
			void (*left)(void *arg, const u8 gid[16], int fd),
			void *arg)
{
	ur_assert(place && place < UR_PLACES);
	pthread_mutex_lock(&g->lock);
	ur_list_for_each(it, &g->groups) {
		struct rx_group *a = ur_list_entry(it, struct rx_group, node);

		if (a->fd[place] < 0)
			continue;
		a->unused |= 1u << place;
		if (!steer(g, a, a->fd[place]))
			left(arg, a->gid, a->fd[place]);
	}
	pthread_mutex_unlock(&g->lock);
}
