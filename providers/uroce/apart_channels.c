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
	const void *key;
	u64 name;
	int number; /* the program's descriptor */
	int rx;	    /* a copy of it */
	int tx;	    /* until the engine process gets it; else -1 */
	u32 users;
};

/* ---- messages ---- */

/* Descriptors and numbers that go with a message. */
struct with {
	const int *fds;
	u32 n;
	u32 *more;
	u32 n_more;
};

static bool send_it(int sock, struct uroce_apart_msg *msg,
		    const struct with *with)
{
	struct iovec iov[] = {{msg, sizeof(*msg)},
			      {with->more, with->n_more * sizeof(u32)}};

	return !ur_scm_send(sock, iov, 2, with->fds, with->n, 0);
}

static bool receive(int sock, struct uroce_apart_msg *msg, int *out)
{
	return ur_scm_recv_one(sock, msg, sizeof(*msg), out, UR_APART_OUT_FDS,
			       NULL) == sizeof(*msg);
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
	struct uroce_apart_msg msg;
	int come[UR_APART_OUT_FDS] = {-1, -1};

	while (a->undrained) {
		if (until && !answers(a->sock, until))
			return false;
		if (!receive(a->sock, &msg, come) ||
		    msg.op != UROCE_APART_DRAIN) {
			__atomic_store_n(&a->dead, true, __ATOMIC_RELAXED);
			return false;
		}
		ur_scm_close(come, UR_APART_OUT_FDS);
		a->undrained--;
	}
	return true;
}

static int converse(struct ur_apart *a, struct uroce_apart_msg *msg,
		    const struct with *with, int *out)
{
	u32 op = msg->op;

	if (!*a->own || ur_apart_is_dead(a))
		return -EIO;
	if (send_it(a->sock, msg, with) && take_drained(a, 0) &&
	    receive(a->sock, msg, out) && msg->op == op)
		return msg->ret;
	die(a);
	return -EIO;
}

static int ask_once(struct ur_apart *a, struct uroce_apart_msg *msg,
		    const struct with *with, int *out)
{
	int come[UR_APART_OUT_FDS] = {-1, -1}, error = errno, cancel, ret;

	for (u32 i = 0; out && i < UR_APART_OUT_FDS; i++)
		out[i] = -1;
	if (ur_apart_is_parents(a))
		return -EIO;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&a->lock);
	ret = converse(a, msg, with, come);
	pthread_mutex_unlock(&a->lock);
	if (!out || ret < 0)
		ur_scm_close(come, UR_APART_OUT_FDS);
	for (u32 i = 0; out && i < UR_APART_OUT_FDS; i++)
		out[i] = ur_high_fd(come[i]);
	pthread_setcancelstate(cancel, NULL);
	errno = error;
	return ret;
}

static int ask(struct ur_apart *a, struct uroce_apart_msg *msg,
	       const struct with *with, int *out)
{
	const struct uroce_apart_msg asked = *msg;
	int ret = ask_once(a, msg, with, out), error = errno;

	while (ret == -EDQUOT && a->more_room && a->more_room(a->room_arg)) {
		*msg = asked;
		ret = ask_once(a, msg, with, out);
	}
	errno = error;
	return ret == -EDQUOT ? -ENOMEM : ret;
}

int ur_apart_ask(struct ur_apart *a, struct uroce_apart_msg *msg,
		 const int *fds, u32 n, int *out)
{
	const struct with with = {.fds = fds, .n = n};

	return ask(a, msg, &with, out);
}

int ur_apart_ask_more(struct ur_apart *a, struct uroce_apart_msg *msg,
		      u32 *more, u32 n_more)
{
	const struct with with = {.more = more, .n_more = n_more};

	return ask(a, msg, &with, NULL);
}

/* Makes no system call that the preload library does not make then, too, where a filter may forbid it.
 * The number of the socket may be another file's by now: see ur_apart_is_there(). */
void ur_apart_drain(struct ur_apart *a, u64 until)
{
	struct uroce_apart_msg msg = {.op = UROCE_APART_DRAIN};
	const struct with nothing = {0};
	int error = errno, cancel;

	if (!*a->own || ur_apart_is_dead(a) ||
	    !__atomic_load_n(&a->objects, __ATOMIC_RELAXED) ||
	    (ur_calls_allowed() && !ur_apart_is_there(a)))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (ur_lock_within(&a->lock, left(until))) {
		/* No earlier one waits there, so this one is not refused for want of room. */
		if (take_drained(a, until) &&
		    send_it(a->sock, &msg, &nothing)) {
			a->undrained++;
			take_drained(a, until);
		}
		pthread_mutex_unlock(&a->lock);
	}
	pthread_setcancelstate(cancel, NULL);
	errno = error;
}

/* ---- channels ---- */

static struct ur_apart_channel *find(const struct ur_apart *a, const void *key)
{
	ur_list_for_each(it, &a->channels) {
		struct ur_apart_channel *c =
			ur_list_entry(it, struct ur_apart_channel, node);

		if (c->key == key)
			return c;
	}
	return NULL;
}

/* Returns a descriptor of ours for the channel's sending end, or -errno. */
static int take_sender(const struct uroce_ecq_init *in)
{
	const struct uroce_resumes *preload = uroce_get_resumes();

	if (in->tx >= 0)
		return ur_high_fd_copy(in->tx);
	return preload ? preload->take_sender(in->rx) : -ENOENT;
}

static int open_channel(struct ur_apart *a, const struct uroce_ecq_init *in,
			struct ur_apart_channel **ret)
{
	static u64 names;
	struct ur_apart_channel *c = calloc(1, sizeof(*c));
	int tx;

	if (!c)
		return -ENOMEM;
	tx = take_sender(in);
	if (tx < 0) {
		free(c);
		return tx;
	}
	c->rx = ur_high_fd_copy(in->rx);
	c->apart = a;
	c->key = in->channel;
	/* The key is an address, which another channel may get later. */
	c->name = __atomic_add_fetch(&names, 1, __ATOMIC_RELAXED);
	c->number = in->rx;
	c->tx = tx;
	ur_list_add_tail(&a->channels, &c->node);
	*ret = c;
	return 0;
}

int ur_apart_channel_get(struct ur_apart *a, const struct uroce_ecq_init *in,
			 struct ur_apart_channel **ret)
{
	int err = 0;

	*ret = NULL;
	if (!in->channel)
		return 0;
	if (ur_apart_is_parents(a))
		return -EIO;
	pthread_mutex_lock(&a->lock);
	*ret = find(a, in->channel);
	if (!*ret)
		err = open_channel(a, in, ret);
	if (!err)
		(*ret)->users++;
	pthread_mutex_unlock(&a->lock);
	return err;
}

u32 ur_apart_channel_ends(const struct ur_apart_channel *c, __u64 *name,
			  int fds[2])
{
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

	if (c && !ur_apart_is_parents(c->apart)) {
		a = c->apart;
		pthread_mutex_lock(&a->lock);
		if (!--c->users)
			close_channel(c, tx);
		pthread_mutex_unlock(&a->lock);
	}
	if (tx >= 0)
		close(tx);
}
