// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The engine's life, and requests of control: congestion control, counters, sending
 * of management datagrams. Addresses are in engine_addr.c, the netdev in
 * engine_netdev.c, reports to control in engine_report.c, the thread's loop in
 * poll_loop.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "engine/core/engine_impl.h"
#include "engine/faults/faults.h"
#include "engine/gsi/gsi.h"
#include "engine/inproc/shared_thread.h"
#include "engine/wire/wire.h"
#include "engine/ground/recorder.h"
#include "engine/grant/program_counters.h"
#include "engine/grant/program_faults.h"
#include "engine/grant/program_records.h"
#include "engine/grant/slot_numbers.h"
#include "engine/grant/program_settings.h"
#include "util/os/high_fd.h"

#define TX_DESCS 1024u

static void called(struct ur_watch *watch, u32 events)
{
	/* The eventfd is edge triggered and never read: the mailbox has the calls. */
}

static void free_engine(struct ur_engine *e)
{
	ur_wire_destroy(e);
	ur_faults_fini(e);
	e->kind->destroy(e);
	ur_recorder_free(e->record.recorder);
	free(e->tx.buf);
	free(e->tx.desc);
	ur_asides_fini(e);
	if (e->call_fd >= 0)
		close(e->call_fd);
	if (e->epoll_fd >= 0)
		close(e->epoll_fd);
	ur_inproc_fini(e);
	ur_counters_grant_fini(e);
	ur_settings_grant_fini(e);
	ur_slot_numbers_fini(e);
	ur_record_grant_fini(e);
	ur_program_faults_fini(e);
	ur_mailbox_fini(&e->mailbox);
	free(e);
}

int ur_engine_create(const struct ur_engine_config *config,
		     struct ur_engine **engine)
{
	struct ur_engine *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->shard = ur_slot_prefix(config->grant.slot);
	e->shard_bits = config->slot_bits;
	e->config = *config;
	e->kind = config->kind ? config->kind : &ur_switch_kind;
	e->shown_mtu = config->mtu_bytes;
	snprintf(e->netdev, sizeof(e->netdev), "%s",
		 config->netdev ? config->netdev : "");
	e->config.netdev = e->netdev;
	ur_list_init(&e->ectxs);
	ur_list_init(&e->ringing);
	ur_list_init(&e->kicks);
	ur_list_init(&e->moderated);
	ur_list_init(&e->due);
	ur_list_init(&e->joins);
	e->wire_retry_at = UR_NEVER;
	e->call_fd = -1;
	e->inproc.nap_fd = -1;
	e->call_watch.fn = called;
	e->epoll_fd = ur_high_fd(epoll_create1(EPOLL_CLOEXEC));
	err = ur_mailbox_init(&e->mailbox);
	if (err || e->epoll_fd < 0) {
		err = err ? err : -errno;
		goto err_free;
	}
	err = ur_engine_options_parse(&e->opt, config->options);
	if (err)
		goto err_free;
	if (config->inproc)
		ur_engine_options_apply(&e->opt, config->grant.off,
					config->grant.tx_bytes);
	if (!config->inproc)
		e->shard_bits = UR_PLACE_BITS;
	e->call_fd = ur_high_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (e->call_fd < 0) {
		err = -errno;
		goto err_free;
	}
	err = ur_inproc_init(e);
	if (err)
		goto err_free;
	err = ur_engine_watch(e, e->call_fd, EPOLLIN | EPOLLET, &e->call_watch);
	if (err)
		goto err_free;
	err = -ENOMEM;
	e->tx.cap = e->opt.tx_bytes;
	e->tx.max_desc = TX_DESCS;
	if (posix_memalign((void **)&e->tx.buf, 4096, e->tx.cap))
		goto err_free;
	e->tx.desc = calloc(e->tx.max_desc, sizeof(*e->tx.desc));
	if (!e->tx.desc)
		goto err_free;
	e->counters = e->inproc.counters
			      ? ur_counters_of_port(e->inproc.counters)
			      : e->own_counters;
	err = e->kind->create(e);
	if (err)
		goto err_free;
	err = ur_wire_create(e);
	if (err)
		goto err_free;
	if (e->local_device && !e->shard)
		ur_settings_inherit(e);
	err = e->kind->start(e);
	if (err)
		goto err_free;
	*engine = e;
	return 0;
err_free:
	free_engine(e);
	return err;
}

/* A program may end before a delayed acknowledgement was sent. Nobody else would send
 * it. */
static int stop(struct ur_engine *engine)
{
	if (engine->config.inproc && engine->faults) {
		ur_faults_hurry(engine);
		engine->kind->after_call(engine);
	}
	engine->stop = true;
	return 0;
}
UR_ENGINE_CALL(0, stop);

void ur_engine_stop(struct ur_engine *engine)
{
	if (engine->stop)
		return;
	call_stop(engine);
	if (engine->config.inproc && engine->config.apart)
		ur_shared_thread_stop(engine);
	else
		pthread_join(engine->thread, NULL);
}

void ur_engine_abandon(struct ur_engine *engine)
{
	ur_engine_stop(engine);
	ur_wire_destroy(engine);
}

void ur_engine_destroy(struct ur_engine *engine)
{
	ur_engine_stop(engine);
	free_engine(engine);
}

bool ur_engine_sl_refused(struct ur_engine *engine)
{
	if (ur_counters_programs_sl(engine))
		ur_wire_priority_refused(engine);
	return engine->sl_refused;
}

static int set_cc(struct ur_engine *engine, struct ur_cc_config cc, u8 ecn)
{
	engine->cc = cc;
	engine->ecn = ecn;
	engine->kind->set_cc(engine);
	return 0;
}
UR_ENGINE_CALL(2, set_cc, struct ur_cc_config, u8);

void ur_engine_set_cc(struct ur_engine *engine, const struct ur_cc_config *cc,
		      u8 ecn)
{
	call_set_cc(engine, *cc, ecn);
	engine->shown_cc = *cc;
	engine->shown_ecn = ecn;
	ur_settings_show(engine);
}

bool ur_engine_cc(const struct ur_engine *engine)
{
	return engine->opt.cc;
}

void ur_engine_counters(struct ur_engine *engine, u64 *values, u64 *programs)
{
	u64 own[UR_CNT_COUNT];

	ur_counters_programs(engine, values);
	if (programs)
		memcpy(programs, values, sizeof(own));
	ur_counters_read(engine->counters, own);
	for (u32 i = 0; i < UR_CNT_COUNT; i++)
		values[i] += own[i];
}

static int nothing(struct ur_engine *engine)
{
	return 0;
}
UR_ENGINE_CALL(0, nothing);

void ur_engine_sync(struct ur_engine *engine)
{
	call_nothing(engine);
}

static int send_gsi(struct ur_engine *engine, const struct ur_epath *path,
		    u32 dqpn, const u8 *mad)
{
	struct ur_av *av;
	/* Without a route the datagram is lost; its sender repeats it. */
	int err = ur_av_make(engine, path, 1, dqpn, &av);

	if (err)
		return err;
	err = ur_gsi_send(engine, av, dqpn, mad);
	ur_av_put(av);
	return err;
}
UR_ENGINE_CALL(3, send_gsi, const struct ur_epath *, u32, const u8 *);

int ur_engine_gsi_send(struct ur_engine *engine, const struct ur_epath *path,
		       u32 dqpn, const u8 *mad)
{
	return call_send_gsi(engine, path, dqpn, mad);
}
