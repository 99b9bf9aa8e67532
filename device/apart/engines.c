// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Shared engines of a user's contexts. An engine exists as long as it has a context, or
 * uroced may send another one. If uroced is killed, the contexts continue.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "device/apart/apart.h"
#include "util/assert.h"
#include "util/list.h"
#include "util/os/high_fd.h"

struct ur_apart_engine {
	struct ur_list node;
	const struct uroce_door *door;
	struct uroce_home *home;
	u32 number;
	int life;
	u32 users;   /* contexts, and uroced */
	u32 domains; /* so far */
	bool done;   /* uroced is no user any more */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ur_list engines = {&engines, &engines};

/* Lock held. */
static struct ur_apart_engine *find(u32 number)
{
	ur_list_for_each(it, &engines) {
		struct ur_apart_engine *e =
			ur_list_entry(it, struct ur_apart_engine, node);

		if (e->number == number && !e->done)
			return e;
	}
	return NULL;
}

static void end(struct ur_apart_engine *e)
{
	if (e->home)
		e->door->end_home(e->home);
	if (e->life >= 0)
		close(e->life);
	free(e);
}

static int make(const struct uroce_door *door, u32 number,
		const struct uroce_engine_open *open, const int *v1,
		bool isolated, int life, struct ur_apart_engine **ret)
{
	struct ur_apart_engine *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->door = door;
	e->number = number;
	e->users = 1;
	e->life = err = ur_high_fd_copy(life);
	if (err >= 0)
		err = door->make_home(open, v1, isolated, e->life, &e->home);
	if (err) {
		end(e);
		return err;
	}
	ur_list_add_tail(&engines, &e->node);
	*ret = e;
	return 0;
}

int ur_apart_engine_get(const struct uroce_door *door, u32 number,
			const struct uroce_engine_open *open, const int *v1,
			bool isolated, int life, struct ur_apart_engine **ret)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	*ret = find(number);
	if (!*ret)
		err = life < 0 ? -EINVAL
			       : make(door, number, open, v1, isolated, life,
				      ret);
	if (!err)
		(*ret)->users++;
	pthread_mutex_unlock(&lock);
	return err;
}

/* Lock held. */
static void put(struct ur_apart_engine *e)
{
	ur_assert(e->users);
	if (--e->users)
		return;
	ur_list_del(&e->node);
	end(e);
}

void ur_apart_engine_put(struct ur_apart_engine *e)
{
	pthread_mutex_lock(&lock);
	put(e);
	pthread_mutex_unlock(&lock);
}

struct uroce_home *ur_apart_engine_home(struct ur_apart_engine *e)
{
	return e->home;
}

u32 ur_apart_engine_new_domain(struct ur_apart_engine *e)
{
	u32 number;

	pthread_mutex_lock(&lock);
	if (e->domains < UINT32_MAX)
		e->domains++;
	number = e->domains < UINT32_MAX ? e->domains : 0;
	pthread_mutex_unlock(&lock);
	return number;
}

void ur_apart_engine_done(u32 number)
{
	pthread_mutex_lock(&lock);
	ur_list_for_each_safe(it, &engines) {
		struct ur_apart_engine *e =
			ur_list_entry(it, struct ur_apart_engine, node);

		if (e->done || (number && e->number != number))
			continue;
		e->done = true;
		put(e);
	}
	pthread_mutex_unlock(&lock);
}
