// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Completion channels and asynchronous events of an engine in a program. The device
 * makes the channel and grants the sending end to the engine; the program reads the
 * other end as usual.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "engine/core/engine_impl.h"
#include "util/assert.h"

static int add(struct ur_engine *engine, struct ur_echan *chan)
{
	ur_assert(chan->sock.engine == engine);
	ur_list_add_tail(&engine->inproc.chans, &chan->program_node);
	if (engine->inproc.device_gone)
		shutdown(chan->sock.tx, SHUT_WR);
	return 0;
}
UR_ENGINE_CALL(1, add, struct ur_echan *);

int ur_echan_attach(struct ur_ectx *ectx, int tx, int rx, struct ur_echan **ret)
{
	struct ur_echan *chan = calloc(1, sizeof(*chan));

	if (!chan)
		return -ENOMEM;
	ur_evsock_init(&chan->sock, ectx->engine, tx, rx, false);
	ur_list_init(&chan->program_node);
	call_add(ectx->engine, chan);
	*ret = chan;
	return 0;
}

static int add_async(struct ur_engine *engine, struct ur_easync *async)
{
	ur_list_add_tail(&engine->inproc.asyncs, &async->program_node);
	return 0;
}
UR_ENGINE_CALL(1, add_async, struct ur_easync *);

int ur_easync_attach(struct ur_ectx *ectx, int tx, int rx,
		     struct ur_easync **ret)
{
	struct ur_easync *async = calloc(1, sizeof(*async));

	if (!async)
		return -ENOMEM;
	ur_evsock_init(&async->sock, ectx->engine, tx, rx, true);
	ur_list_init(&async->program_node);
	ur_evsrc_init(&async->loose, 0);
	call_add_async(ectx->engine, async);
	*ret = async;
	return 0;
}

/* Reads a wake-up of the device; the next turn finds the changes. The check is for a program
 * that has closed the descriptor and has another file at its number. */
static void take_wakes(struct ur_engine *e)
{
	struct stat st;
	char byte;

	if (!fstat(e->inproc.device_fd, &st) && S_ISSOCK(st.st_mode) &&
	    st.st_ino == e->inproc.device_ino)
		recv(e->inproc.device_fd, &byte, 1, MSG_DONTWAIT);
}

/* Handles a wake-up or the end of the device. The device's ends of channels close with it, the
 * program's copies do not: shut them down. The next turn removes the addresses. */
static void on_device_event(struct ur_watch *watch, u32 events)
{
	struct ur_engine *e =
		ur_container_of(watch, struct ur_engine, inproc.device);

	if (!(events & (EPOLLHUP | EPOLLERR))) {
		take_wakes(e);
		return;
	}
	/* First, so that a channel that moves from our lists to the caller's meanwhile is in
	 * one of them. */
	e->inproc.ended(e->inproc.ended_arg);
	ur_list_for_each(it, &e->inproc.chans)
		shutdown(ur_list_entry(it, struct ur_echan, program_node)
				 ->sock.tx,
			 SHUT_WR);
	ur_list_for_each(it, &e->inproc.asyncs)
		shutdown(ur_list_entry(it, struct ur_easync, program_node)
				 ->sock.tx,
			 SHUT_WR);
	ur_engine_unwatch(e, e->inproc.device_fd);
	e->inproc.device_gone = true;
}

/* A hang-up also wakes a thread that naps, once. */
static int end_with(struct ur_engine *engine, int fd)
{
	struct epoll_event ev = {.events = EPOLLET, .data.u32 = UR_NAP_DEVICE};
	struct stat st;
	int err;

	ur_assert(engine->inproc.device_fd < 0);
	if (fstat(fd, &st) < 0)
		return -errno;
	engine->inproc.device_ino = st.st_ino;
	engine->inproc.device.fn = on_device_event;
	if (epoll_ctl(engine->inproc.nap_fd, EPOLL_CTL_ADD, fd, &ev) < 0)
		return -errno;
	err = ur_engine_watch(engine, fd, EPOLLIN, &engine->inproc.device);
	if (err)
		epoll_ctl(engine->inproc.nap_fd, EPOLL_CTL_DEL, fd, NULL);
	else
		engine->inproc.device_fd = fd;
	return err;
}
UR_ENGINE_CALL(1, end_with, int);

int ur_engine_end_with(struct ur_engine *engine, int fd,
		       void (*ended)(void *arg), void *arg)
{
	engine->inproc.ended = ended;
	engine->inproc.ended_arg = arg;
	return call_end_with(engine, fd);
}
