// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Messages to an engine process, and the sending ends of channels that go with them. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "allowed.h"
#include "apart_channels.h"
#include "kernel-abi/uroce-resumes.h"
#include "util/os/clock.h"
#include "util/os/high_fd.h"
#include "util/os/scm.h"
#include "util/os/timed_lock.h"

struct ur_apart_channel {
	struct ur_list node;
	struct ur_apart *apart;
	u64 key;
	u64 name;
	int number; /* the program's descriptor */
	int rx;	    /* a copy of it */
	int tx;	    /* until the engine process gets it; else -1 */
	u32 users;
};

/* ---- messages ---- */

static bool send_it(int sock, struct uroce_call *c, u32 *more, u32 n_more)
{
	struct iovec iov[] = {{&c->msg, sizeof(c->msg)},
			      {more, n_more * sizeof(u32)}};

	return !ur_scm_send(sock, iov, 2, c->fds, c->n_fds, 0);
}

static bool receive(int sock, struct uroce_call *c)
{
	return ur_scm_recv_one(sock, &c->reply, sizeof(c->reply), c->out,
			       UR_ARRAY_SIZE(c->out), NULL) == sizeof(c->reply);
}

/* Also hangs up channels that no queue uses. */
static void die(struct ur_apart *a)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	__atomic_store_n(&a->dead, true, __ATOMIC_RELAXED);
	if (preload)
		preload->end_senders(a);
}

bool ur_apart_is_dead(const struct ur_apart *a)
{
	return __atomic_load_n(&a->dead, __ATOMIC_RELAXED);
}

bool ur_apart_is_there(const struct ur_apart *a)
{
	struct pollfd pfd = {.fd = a->sock};
	struct stat st;

	if (fstat(a->sock, &st) < 0 ? errno == EBADF : st.st_ino != a->ino)
		return false;
	return poll(&pfd, 1, 0) < 0 || !(pfd.revents & (POLLHUP | POLLERR));
}

static u64 left(u64 until)
{
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);

	return until > now ? until - now : 0;
}

static bool answers(int sock, u64 until)
{
	struct pollfd pfd = {.fd = sock, .events = POLLIN};
	struct timespec ts;
	u64 ns;
	int n;

	do {
		ns = left(until);
		ts = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
				       .tv_nsec = (long)(ns % 1000000000)};
		n = ppoll(&pfd, 1, &ts, NULL);
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

/* Takes the replies to DRAIN, which come before those of later messages. until 0: waits without limit.
 * Returns whether all have come. Only async-signal-safe calls. */
static bool take_drained(struct ur_apart *a, u64 until)
{
	struct uroce_call drain;

	while (a->undrained) {
		if (until && !answers(a->sock, until))
			return false;
		if (!receive(a->sock, &drain) ||
		    drain.reply.op != UROCE_CALL_DRAIN) {
			__atomic_store_n(&a->dead, true, __ATOMIC_RELAXED);
			return false;
		}
		ur_scm_close(drain.out, UR_ARRAY_SIZE(drain.out));
		a->undrained--;
	}
	return true;
}

static int converse(struct ur_apart *a, struct uroce_call *c, u32 *more,
		    u32 n_more)
{
	if (!*a->own || ur_apart_is_dead(a))
		return -EIO;
	if (send_it(a->sock, c, more, n_more) && take_drained(a, 0) &&
	    receive(a->sock, c) && c->reply.op == c->msg.op)
		return c->reply.ret;
	die(a);
	return -EIO;
}

static int ask_once(struct ur_apart *a, struct uroce_call *c, u32 *more,
		    u32 n_more)
{
	int cancel, ret;

	c->out[0] = c->out[1] = -1;
	if (ur_apart_is_parents(a))
		return -EIO;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&a->lock);
	ret = converse(a, c, more, n_more);
	pthread_mutex_unlock(&a->lock);
	if (ret < 0)
		ur_scm_close(c->out, UR_ARRAY_SIZE(c->out));
	for (u32 i = 0; i < UR_ARRAY_SIZE(c->out); i++)
		c->out[i] = ur_high_fd(c->out[i]);
	pthread_setcancelstate(cancel, NULL);
	return ret;
}

int ur_apart_ask(struct ur_apart *a, struct uroce_call *c, u32 *more,
		 u32 n_more)
{
	int ret, error = errno;

	do
		ret = ask_once(a, c, more, n_more);
	while (ret == -EDQUOT && a->more_room && a->more_room(a->room_arg));
	errno = error;
	return ret == -EDQUOT ? -ENOMEM : ret;
}

/* Makes no system call that the preload library does not make then, too, where a filter may forbid it.
 * The number of the socket may be another file's by now: see ur_apart_is_there(). */
void ur_apart_drain(struct ur_apart *a, u64 until)
{
	struct uroce_call drain = {.msg.op = UROCE_CALL_DRAIN};
	int error = errno, cancel;

	if (!*a->own || ur_apart_is_dead(a) ||
	    !__atomic_load_n(&a->objects, __ATOMIC_RELAXED) ||
	    (ur_calls_allowed() && !ur_apart_is_there(a)))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (ur_lock_within(&a->lock, left(until))) {
		/* No earlier one waits there, so this one is not refused for want of room. */
		if (take_drained(a, until) &&
		    send_it(a->sock, &drain, NULL, 0)) {
			a->undrained++;
			take_drained(a, until);
		}
		pthread_mutex_unlock(&a->lock);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = error;
}

/* ---- channels ---- */

static struct ur_apart_channel *find(const struct ur_apart *a, u64 key)
{
	ur_list_each(struct ur_apart_channel, c, &a->channels, node) {
		if (c->key == key)
			return c;
	}
	return NULL;
}

static int open_channel(struct ur_apart *a, const struct uroce_call *call,
			struct ur_apart_channel **ret)
{
	static u64 names;
	struct ur_apart_channel *c = calloc(1, sizeof(*c));
	int tx;

	if (!c)
		return -ENOMEM;
	tx = call->fds[0] >= 0 ? ur_high_fd_copy(call->fds[0])
			       : uroce_take_sender(call->fds[1]);
	if (tx < 0) {
		free(c);
		return tx;
	}
	c->number = call->fds[1];
	c->rx = ur_high_fd_copy(c->number);
	c->apart = a;
	c->key = call->msg.cq.channel;
	/* The key is an address, which another channel may get later. */
	c->name = __atomic_add_fetch(&names, 1, __ATOMIC_RELAXED);
	c->tx = tx;
	ur_list_add_tail(&a->channels, &c->node);
	*ret = c;
	return 0;
}

int ur_apart_channel_get(struct ur_apart *a, const struct uroce_call *call,
			 struct ur_apart_channel **ret)
{
	const u64 key = call->msg.cq.channel;
	int err = 0;

	*ret = NULL;
	if (!key)
		return 0;
	if (ur_apart_is_parents(a))
		return -EIO;
	pthread_mutex_lock(&a->lock);
	*ret = find(a, key);
	if (!*ret)
		err = open_channel(a, call, ret);
	if (!err)
		(*ret)->users++;
	pthread_mutex_unlock(&a->lock);
	return err;
}

u32 ur_apart_channel_ends(const struct ur_apart_channel *c, __u64 *name,
			  int fds[2])
{
	if (!c)
		return 0;
	*name = c->name;
	if (c->tx < 0)
		return 0;
	fds[0] = c->tx;
	fds[1] = c->rx;
	return 2;
}

/* The channel has no user left. */
static void close_channel(struct ur_apart_channel *c, int tx)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	ur_list_del(&c->node);
	if (tx >= 0 && preload && c->rx >= 0)
		preload->keep_sender(c->number, c->rx, tx, c->apart);
	if (preload && ur_apart_is_dead(c->apart))
		preload->end_senders(c->apart);
	if (c->rx >= 0)
		close(c->rx);
	free(c);
}

void ur_apart_channel_given(struct ur_apart_channel *c, int err)
{
	struct ur_apart *a;
	int tx;

	if (!c)
		return;
	a = c->apart;
	pthread_mutex_lock(&a->lock);
	tx = c->tx;
	if (!err)
		c->tx = -1;
	else if (!--c->users)
		close_channel(c, tx);
	else
		tx = -1;
	pthread_mutex_unlock(&a->lock);
	if (tx >= 0)
		close(tx);
}

void ur_apart_channel_put(struct ur_apart_channel *c, int tx)
{
	struct ur_apart *a;

	if (!c || ur_apart_is_parents(c->apart))
		return;
	a = c->apart;
	pthread_mutex_lock(&a->lock);
	if (!--c->users)
		close_channel(c, tx);
	pthread_mutex_unlock(&a->lock);
}
