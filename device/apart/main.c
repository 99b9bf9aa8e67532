// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroce-engine: runs the engines of other processes of one user. uroced starts it, under
 * that user's uid, and sends it contexts over a socket. It ends when that has hung up and
 * the last context has ended. If uroced is killed, the contexts continue.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>
#include "device/apart/apart.h"
#include "device/confine/confine.h"
#include "util/os/preload.h"
#include "util/os/scm.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;
static u32 contexts;

static void ended(void)
{
	pthread_mutex_lock(&lock);
	contexts--;
	pthread_cond_signal(&fewer);
	pthread_mutex_unlock(&lock);
}

static void begun(void)
{
	pthread_mutex_lock(&lock);
	contexts++;
	pthread_mutex_unlock(&lock);
}

static void wait_for_contexts(void)
{
	pthread_mutex_lock(&lock);
	while (contexts)
		pthread_cond_wait(&fewer, &lock);
	pthread_mutex_unlock(&lock);
}

static const struct uroce_engine_ops *find_ops(void)
{
	static const char *const beside[] = {"", "/../lib", NULL};
	const struct uroce_engine_ops *ops;
	char path[PATH_MAX];
	void *lib = NULL;

	if (!ur_own_file(UROCE_ENGINE_LIBRARY, beside, UROCE_LIBDIR, path,
			 sizeof(path)))
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ops = lib ? dlsym(lib, UROCE_ENGINE_OPS_SYMBOL) : NULL;
	return ops && ops->version == UROCE_ENGINE_OPS_VERSION ? ops : NULL;
}

_Static_assert(UROCE_APART_FDS <= UR_SCM_MOST, "they come in one message");

/* Puts each received descriptor at its index in fds. */
static void spread(u32 has, int *in, int *fds)
{
	u32 at = 0;

	for (u32 i = 0; i < UROCE_APART_FDS; i++)
		fds[i] = has >> i & 1 ? in[at++] : -1;
	ur_scm_close(in + at, UROCE_APART_FDS - at);
}

/* Returns false when uroced has hung up. */
static bool receive(struct uroce_apart_context *in, int *fds)
{
	int come[UROCE_APART_FDS];
	ssize_t n = ur_scm_recv_one(UROCE_APART_FD, in, sizeof(*in), come,
				    UROCE_APART_FDS, NULL);

	if (n != sizeof(*in) || in->version != UROCE_APART_VERSION)
		return false;
	spread(in->has, come, fds);
	return true;
}

static void take(const struct uroce_engine_ops *ops,
		 const struct uroce_apart_context *in, int *fds)
{
	if (!in->has && in->engine) {
		ur_apart_engine_done(in->engine);
		return;
	}
	begun();
	if (ur_apart_begin(ops, in, fds, ended))
		ended();
}

int main(void)
{
	const struct uroce_engine_ops *ops = find_ops();
	struct uroce_apart_context in;
	int fds[UROCE_APART_FDS];

	if (!ops)
		return 1;
	ur_confine_engine();
	while (receive(&in, fds))
		take(ops, &in, fds);
	close(UROCE_APART_FD);
	ur_apart_engine_done(0);
	wait_for_contexts();
	return 0;
}
