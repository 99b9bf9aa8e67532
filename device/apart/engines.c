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

/* A uverbs file of contexts in the engine. */
struct ur_apart_file {
	struct ur_list node;
	struct ur_apart_engine *engine;
	u64 number;
	u32 users; /* contexts */
	struct ur_apart_domains domains;
};

struct ur_apart_engine {
	struct ur_list node;
	const struct uroce_engine_ops *ops;
	struct uroce_home *home;
	u32 number;
	int liveness;
	u32 users;   /* contexts, and uroced */
	u32 domains; /* so far */
	struct ur_list files;
	bool done; /* uroced is no user any more */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ur_list engines = {&engines, &engines};

/* Lock held. */
static struct ur_apart_engine *find(u32 number)
{
	ur_list_each(struct ur_apart_engine, e, &engines, node) {
		if (e->number == number && !e->done)
			return e;
	}
	return NULL;
}

static void end(struct ur_apart_engine *e)
{
	if (e->home)
		e->ops->end_home(e->home);
	if (e->liveness >= 0)
		close(e->liveness);
	free(e);
}

static int make(const struct uroce_engine_ops *ops, u32 number,
		const struct uroce_engine_open *open, const int *v1,
		bool isolated, int liveness, struct ur_apart_engine **ret)
{
	struct ur_apart_engine *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->ops = ops;
	e->number = number;
	e->users = 1;
	ur_list_init(&e->files);
	e->liveness = err = ur_high_fd_copy(liveness);
	if (err >= 0)
		err = ops->make_home(open, v1, isolated, e->liveness, &e->home);
	if (err) {
		end(e);
		return err;
	}
	ur_list_add_tail(&engines, &e->node);
	*ret = e;
	return 0;
}

int ur_apart_engine_get(const struct uroce_engine_ops *ops, u32 number,
			const struct uroce_engine_open *open, const int *v1,
			bool isolated, int liveness,
			struct ur_apart_engine **ret)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	*ret = find(number);
	if (!*ret)
		err = liveness < 0 ? -EINVAL
				   : make(ops, number, open, v1, isolated,
					  liveness, ret);
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

/* Lock held. */
static struct ur_apart_file *find_file(struct ur_apart_engine *e, u64 number)
{
	struct ur_apart_file *f;

	ur_list_for_each(it, &e->files) {
		f = ur_list_entry(it, struct ur_apart_file, node);
		if (f->number == number && number)
			return f;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->engine = e;
	f->number = number;
	ur_list_add_tail(&e->files, &f->node);
	return f;
}

struct ur_apart_file *ur_apart_file_get(struct ur_apart_engine *e, u64 number)
{
	struct ur_apart_file *f;

	pthread_mutex_lock(&lock);
	f = find_file(e, number);
	if (f)
		f->users++;
	pthread_mutex_unlock(&lock);
	return f;
}

void ur_apart_file_put(struct ur_apart_file *f)
{
	pthread_mutex_lock(&lock);
	ur_assert(f->users);
	if (!--f->users) {
		ur_list_del(&f->node);
		free(f->domains.at);
		free(f);
	}
	pthread_mutex_unlock(&lock);
}

int ur_apart_find_domain(struct ur_apart_client *c, u32 *pdn)
{
	u32 number;

	if (!c->engine || !*pdn)
		return 0;
	pthread_mutex_lock(&lock);
	number = ur_apart_domain_number(&c->file->domains, *pdn,
					&c->engine->domains);
	pthread_mutex_unlock(&lock);
	*pdn = number;
	return number ? 0 : -ENOMEM;
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
