// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroced's side of the keeper, and the descriptors of an earlier uroced. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "engine/ground/keep.h"
#include "engine/ground/log.h"
#include "util/assert.h"
#include "util/os/clock.h"
#include "util/os/scm.h"

/* Limit of the waits at an end, at a start, and for the closing of a receiving socket. */
#define ANSWER_MS 1000
/* The limit of a start: the keeper replies when it has read what the former uroced sent. */
#define FIRST_MS    60000
#define FIRST_LOUD  2000
#define KEEPER_SLOW "the keeper does not reply"

struct left {
	struct ur_kept what;
	int fd; /* -1: taken */
};

/* A message for which the link has no room. */
struct unsent {
	u32 op;
	struct ur_kept what;
	int fd; /* -1: none */
};

static struct {
	pthread_mutex_t lock;
	int link; /* -1: none */
	const struct ur_keep_store
		*store; /* in the keeper's place; NULL: none */
	bool stays;
	u32 owed;		/* messages to which there is no reply yet */
	u32 used;		/* of UR_KEEP_MAX, as the last reply says */
	bool late;		/* has not replied in time, and owes still */
	struct unsent *waiting; /* in order */
	u32 n_waiting;
	struct left *left;
	u32 n;
} keep = {.lock = PTHREAD_MUTEX_INITIALIZER, .link = -1};

/* ---- messages, with the lock held ---- */

static void close_waiting(void)
{
	for (u32 i = 0; i < keep.n_waiting; i++)
		if (keep.waiting[i].fd >= 0)
			close(keep.waiting[i].fd);
	free(keep.waiting);
	keep.waiting = NULL;
	keep.n_waiting = 0;
}

static void close_link(void)
{
	close_waiting();
	close(keep.link);
	keep.link = -1;
	keep.owed = keep.used = 0;
	keep.late = false;
}

static void lose(int err)
{
	ur_log("the keeper is gone (%s): connections end with this process",
	       strerror(-err));
	close_link();
}

static int send_msg(u32 op, const struct ur_kept *what, int fd)
{
	struct ur_keep_msg msg = {.version = UR_KEEP_VERSION, .op = op};

	if (what)
		msg.what = *what;
	return ur_scm_send_one(keep.link, &msg, sizeof(msg), &fd, fd >= 0,
			       MSG_DONTWAIT);
}

/* Receives a message. *fd is -1 if it has no descriptor. */
static int receive_kept(struct ur_keep_msg *msg, int *fd, int ms)
{
	struct pollfd p = {.fd = keep.link, .events = POLLIN};
	int flags;
	ssize_t n;

	*fd = -1;
	if (poll(&p, 1, ms) != 1)
		return -ETIMEDOUT;
	n = ur_scm_recv_one(keep.link, msg, sizeof(*msg), fd, 1, &flags);
	if (n < 0)
		return (int)n;
	if (!n)
		return -EPIPE;
	if (n == sizeof(*msg) && msg->version == UR_KEEP_VERSION &&
	    !(flags & MSG_CTRUNC))
		return 0;
	ur_scm_close(fd, 1);
	return n == sizeof(*msg) && msg->version == UR_KEEP_VERSION ? -EMFILE
								    : -EPROTO;
}

/* What could not be kept was refused before it was granted, unless the keeper has no memory. */
static void take_reply(const struct ur_keep_msg *msg)
{
	keep.owed--;
	keep.used = msg->used;
	if (!keep.owed && !keep.n_waiting)
		keep.late = false;
	if (msg->ret)
		ur_log("the keeper could not store a descriptor (%s): a "
		       "program's connections end with this process",
		       strerror(-msg->ret));
}

/* Takes a reply in. Returns 0, -ETIMEDOUT, or another error, with which the keeper is gone. */
static int hear_one(int ms)
{
	struct ur_keep_msg msg = {0};
	int none, err = receive_kept(&msg, &none, ms);

	if (!err && msg.op != UR_KEEP_DONE)
		err = -EPROTO;
	if (none >= 0)
		close(none);
	if (!err)
		take_reply(&msg);
	else if (err != -ETIMEDOUT)
		lose(err);
	return err;
}

/* Returns 0, -EAGAIN, or -EPIPE: the keeper is gone. */
static int send_now(u32 op, const struct ur_kept *what, int fd)
{
	int err = send_msg(op, what, fd);

	if (!err) {
		keep.owed++;
		return 0;
	}
	if (err != -EPIPE && err != -ECONNRESET)
		return -EAGAIN;
	lose(err);
	return -EPIPE;
}

/* Takes in the replies that are there, and sends what waits. A keeper that is slow is not given up: what was sent
 * reaches it even if this process is killed. */
static void catch_up(void)
{
	u32 n = 0;

	while (keep.owed && !hear_one(0))
		;
	while (keep.link >= 0 && n < keep.n_waiting &&
	       !send_now(keep.waiting[n].op, &keep.waiting[n].what,
			 keep.waiting[n].fd)) {
		if (keep.waiting[n].fd >= 0)
			close(keep.waiting[n].fd);
		n++;
	}
	if (keep.link < 0)
		return;
	keep.n_waiting -= n;
	if (n)
		memmove(keep.waiting, keep.waiting + n,
			keep.n_waiting * sizeof(*keep.waiting));
}

/* A second value of one name takes the place of the first, so that there are no more than what is stored. */
static bool is_waiting(u32 op, const struct ur_kept *what)
{
	for (u32 i = 0; i < keep.n_waiting; i++) {
		struct unsent *w = &keep.waiting[i];

		if (w->op != op || !ur_kept_is_same(&w->what, what))
			continue;
		w->what = *what;
		return true;
	}
	return false;
}

static void send_later(u32 op, const struct ur_kept *what, int fd)
{
	struct unsent *more;

	if (is_waiting(op, what))
		return;
	more = realloc(keep.waiting, (keep.n_waiting + 1) * sizeof(*more));
	if (!more) {
		ur_log(KEEPER_SLOW ", and there is no memory");
		return;
	}
	keep.waiting = more;
	more[keep.n_waiting++] = (struct unsent){
		op, *what, fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0)};
}

/* Sends at once, or behind what waits. */
static void say(u32 op, const struct ur_kept *what, int fd)
{
	catch_up();
	if (keep.link < 0)
		return;
	if (keep.n_waiting || send_now(op, what, fd) == -EAGAIN)
		send_later(op, what, fd);
}

/* Returns the milliseconds until then. */
static int left_ms(u64 end)
{
	u64 now = ur_clock_ns(CLOCK_MONOTONIC);

	return now < end ? (int)((end - now + 999999) / 1000000) : 0;
}

static u64 answer_end(void)
{
	return ur_clock_ns(CLOCK_MONOTONIC) + ANSWER_MS * 1000000ull;
}

/* Waits until the keeper has carried out all, but not for one that was late already. */
static void await_replies(void)
{
	u64 end = answer_end();

	catch_up();
	while (keep.owed && !keep.late) {
		keep.late = hear_one(left_ms(end)) == -ETIMEDOUT;
		catch_up();
	}
}

/* ---- storing ---- */

static bool has_keeper(void)
{
	return (keep.store && !keep.stays) || keep.link >= 0;
}

/* Waits for nothing. What is sent is as good as stored. */
static int put(const struct ur_kept *what, int fd)
{
	int err;

	if (keep.store)
		return keep.store->put(what, fd);
	catch_up();
	if (keep.link < 0)
		return 0;
	if (keep.n_waiting)
		return -EAGAIN;
	if (keep.used + keep.owed >= UR_KEEP_MAX)
		return -ENOSPC;
	err = send_now(UR_KEEP_PUT, what, fd);
	return err == -EPIPE ? 0 : err;
}

/* The kernel numbers the sockets of a group anew when one is closed. */
static void drop(const struct ur_kept *what)
{
	if (keep.store) {
		keep.store->drop(what);
		return;
	}
	say(UR_KEEP_DROP, what, -1);
	if (what->kind == UR_KEPT_SOCKET)
		await_replies();
}

static void report_recovery_done(void)
{
	static const struct ur_kept none;

	if (keep.store) {
		keep.store->recovery_done();
	} else if (keep.link >= 0) {
		say(UR_KEEP_RECOVERY_DONE, &none, -1);
		await_replies();
	}
}

static int add_left(const struct ur_kept *what, int fd)
{
	struct left *more = realloc(keep.left, (keep.n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	keep.left = more;
	keep.left[keep.n++] = (struct left){*what, fd};
	return 0;
}

static int take_in(const struct ur_keep_msg *msg, int fd)
{
	if (msg->op != UR_KEEP_HERE || fd < 0 || keep.n == UR_KEEP_MAX)
		return -EPROTO;
	return add_left(&msg->what, fd);
}

static int receive_first(struct ur_keep_msg *msg, int *fd)
{
	int err = receive_kept(msg, fd, FIRST_LOUD);

	if (err != -ETIMEDOUT)
		return err;
	ur_log(KEEPER_SLOW ": waiting for it");
	return receive_kept(msg, fd, FIRST_MS - FIRST_LOUD);
}

static int take_all(void)
{
	struct ur_keep_msg msg;
	int fd, err;

	for (;;) {
		err = receive_first(&msg, &fd);
		if (err)
			return err;
		if (msg.op == UR_KEEP_DONE) {
			keep.used = msg.used;
			return msg.ret;
		}
		err = take_in(&msg, fd);
		if (!err)
			continue;
		if (fd >= 0)
			close(fd);
		return err;
	}
}

static void close_left(void)
{
	for (u32 i = 0; i < keep.n; i++)
		if (keep.left[i].fd >= 0)
			close(keep.left[i].fd);
	free(keep.left);
	keep.left = NULL;
	keep.n = 0;
}

int ur_keep_begin(int link)
{
	int err;

	ur_assert(keep.link < 0 && !keep.store && !keep.n && link >= 0);
	pthread_mutex_lock(&keep.lock);
	keep.link = link;
	err = take_all();
	if (err) {
		close_left();
		if (err == -EPROTO)
			send_msg(UR_KEEP_END, NULL, -1);
		close_link();
	}
	pthread_mutex_unlock(&keep.lock);
	return err;
}

void ur_keep_use(const struct ur_keep_store *store)
{
	ur_assert(keep.link < 0 && !keep.n);
	keep.store = store;
}

int ur_keep_left(const struct ur_kept *what, int fd)
{
	int err;

	ur_assert(keep.store && fd >= 0);
	err = add_left(what, fd);
	if (err)
		close(fd);
	return err;
}

bool ur_keep_stay(void)
{
	pthread_mutex_lock(&keep.lock);
	keep.stays = keep.store && keep.store->has_program(0);
	pthread_mutex_unlock(&keep.lock);
	return keep.stays;
}

bool ur_keep_stays(pid_t pid, uid_t uid)
{
	bool stays;

	pthread_mutex_lock(&keep.lock);
	stays = keep.stays &&
		keep.store->has_program(ur_kept_process(pid, uid));
	pthread_mutex_unlock(&keep.lock);
	return stays;
}

int ur_keep_put(const struct ur_kept *what, int fd)
{
	int err = 0;

	ur_assert(fd >= 0 && what->kind);
	pthread_mutex_lock(&keep.lock);
	if (has_keeper())
		err = put(what, fd);
	pthread_mutex_unlock(&keep.lock);
	return err;
}

void ur_keep_renumber(const struct ur_kept *what, int fd)
{
	ur_assert(fd >= 0 && what->kind);
	pthread_mutex_lock(&keep.lock);
	if (has_keeper() && keep.store)
		keep.store->renumber(what);
	else if (has_keeper())
		say(UR_KEEP_PUT, what, fd);
	pthread_mutex_unlock(&keep.lock);
}

void ur_keep_drop(const struct ur_kept *what)
{
	pthread_mutex_lock(&keep.lock);
	if (has_keeper())
		drop(what);
	pthread_mutex_unlock(&keep.lock);
}

bool ur_keep_is_late(void)
{
	bool late;

	pthread_mutex_lock(&keep.lock);
	if (keep.link >= 0)
		catch_up();
	late = keep.late;
	pthread_mutex_unlock(&keep.lock);
	return late;
}

int ur_keep_take(struct ur_kept *what)
{
	int fd = -1;

	pthread_mutex_lock(&keep.lock);
	for (u32 i = 0; i < keep.n && fd < 0; i++) {
		struct left *l = &keep.left[i];

		if (l->fd < 0 || !ur_kept_is_same(&l->what, what))
			continue;
		fd = l->fd;
		l->fd = -1;
		what->value = l->what.value;
	}
	pthread_mutex_unlock(&keep.lock);
	return fd;
}

bool ur_keep_next(u32 kind, u32 device, u32 *at, struct ur_kept *what)
{
	bool found = false;

	pthread_mutex_lock(&keep.lock);
	for (; *at < keep.n && !found; ++*at) {
		const struct left *l = &keep.left[*at];

		found = l->fd >= 0 && l->what.kind == kind &&
			l->what.device == device;
		if (found)
			*what = l->what;
	}
	pthread_mutex_unlock(&keep.lock);
	return found;
}

bool ur_keep_has_left_liveness(u64 process)
{
	bool found = false;

	pthread_mutex_lock(&keep.lock);
	for (u32 i = 0; i < keep.n && !found; i++)
		found = keep.left[i].what.kind == UR_KEPT_LIVENESS &&
			keep.left[i].what.value == process;
	pthread_mutex_unlock(&keep.lock);
	return found;
}

void ur_keep_forget(void)
{
	pthread_mutex_lock(&keep.lock);
	for (u32 i = 0; i < keep.n && has_keeper(); i++)
		if (keep.left[i].fd >= 0)
			drop(&keep.left[i].what);
	report_recovery_done();
	close_left();
	pthread_mutex_unlock(&keep.lock);
}

/* The keeper closes its copies before its end of the link, so ports are free when that hangs up. */
static void end_keeper(void)
{
	struct pollfd p = {.fd = keep.link, .events = POLLOUT};
	struct ur_keep_msg msg;
	u64 end = answer_end();
	int none, err;

	while ((err = send_msg(UR_KEEP_END, NULL, -1)) == -EAGAIN &&
	       poll(&p, 1, left_ms(end)) == 1)
		;
	if (err)
		ur_log(KEEPER_SLOW ": it stays (%s)", strerror(-err));
	while (!err && !receive_kept(&msg, &none, left_ms(end)))
		if (none >= 0)
			close(none);
	close_link();
}

void ur_keep_end(void)
{
	pthread_mutex_lock(&keep.lock);
	if (keep.link >= 0)
		end_keeper();
	if (keep.store && !keep.stays) {
		keep.store->end();
		keep.store = NULL;
	}
	close_left();
	pthread_mutex_unlock(&keep.lock);
}
