// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The two ends of the door between neighbours. */
#include "tests/fuzz/peer_world.h"

#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include "engine/core/call.h"
#include "engine/ground/loop.h"
#include "engine/ground/own_memory.h"
#include "engine/core/engine_impl.h"
#include "engine/local/udp_pair.h"
#include "engine/local/udp_relay_impl.h"
#include "tests/check.h"
#include "tests/own_net.h"
#include "tests/qp_walk.h"
#include "tests/steers.h"

#define PD	   7u
#define MTU	   1024u
#define RINGS_FILE (1ull << 40)

const u8 peer_gids[2][16] = {{[10] = 0xff, 0xff, 127, 0, 0, 1}, {[15] = 1}};

struct peer_world peer_world;
static struct peer_world *const w = &peer_world;

static struct ur_ectx *ectx;
static struct ur_ecq *cq;
static struct ur_grant own; /* what the program borrowed */
static struct ur_engine_config device_config = {
	.netdev = "lo",
	.ifindex = 1,
	.mtu_bytes = MTU,
	.max_qp = 16,
	.max_mr = 16,
	.seed = 1,
	.options = "guests=1,spin_us=0",
};

/* ---- the device ---- */

static void make_grant(u32 slot, struct ur_grant *grant)
{
	CHECK(!ur_engine_grant(w->device, geteuid(), getpid(), false,
			       slot == PEER_OWN_SLOT ? UR_GRANT_RELAYED
						     : UR_GRANT_SOCKETS,
			       grant));
	CHECK_EQ(grant->slot, slot);
}

static void start_device(void)
{
	const struct ur_udp_relay *relay;
	struct ur_grant other;

	CHECK(!ur_loop_create(&device_config.loop));
	ur_loop_lock(device_config.loop);
	CHECK(!ur_engine_create(&device_config, &w->device));
	for (u32 i = 0; i < 2; i++)
		CHECK(!ur_engine_set_gid(w->device, i, peer_gids[i],
					 UR_GID_ROCE_V2));
	make_grant(PEER_OWN_SLOT, &own);
	relay = ur_container_of(ur_wire_of(w->device, false),
				struct ur_wire_udp, wire)
			->relays[PEER_OWN_SLOT];
	w->relay = relay->packets;
	w->relay_words = relay->words;
	for (u32 slot = PEER_OWN_SLOT + 1; slot < PEER_SLOT; slot++)
		make_grant(slot, &other);
}

/* ---- the program ---- */

static void start_program(void)
{
	struct ur_engine_config config = {
		.netdev = "lo",
		.ifindex = 1,
		.mtu_bytes = MTU,
		.max_qp = 16,
		.max_mr = 16,
		.seed = 1,
		.options = "spin_us=0,hold=0",
		.kind = &ur_program_kind,
		.inproc = true,
		.grant = own,
		.slot_bits = UR_PLACE_BITS,
		.file = memfd_create("uverbs", MFD_CLOEXEC),
	};
	int rings = memfd_create("rings", MFD_CLOEXEC);
	struct ur_ectx_info info;

	CHECK(rings >= 0 && !ftruncate(rings, (off_t)RINGS_FILE));
	CHECK(!ur_user_mem_own(&w->mem));
	CHECK(!ur_engine_create(&config, &w->engine));
	CHECK(!ur_ectx_create(w->engine, rings, w->mem, 0, &ectx, &info));
	w->wire = ur_container_of(ur_wire_of(w->engine, false),
				  struct ur_wire_udp, wire);
	for (u32 i = 0; i < 2; i++) {
		u8 gid[16];
		int fd;

		CHECK(!ur_engine_grant_socket(w->device, PEER_OWN_SLOT, i, gid,
					      &fd));
		CHECK_EQ(fd, -1);
		CHECK(!ur_engine_use_gid(w->engine, i, gid, fd));
	}
}

static void make_region(u32 i, u32 access)
{
	struct ur_emr_attr attr = {
		.pd = PD,
		.access = access,
		.addr = (uintptr_t)w->at[i],
		.length = w->bytes[i],
		.iova = (uintptr_t)w->at[i],
		.mem = w->mem,
		.dmabuf_fd = -1,
		.key = 0x1000 * (i + 1) + 0x77,
	};

	CHECK(!ur_emr_reg(ectx, &attr, &w->mr[i]));
}

static void make_regions(void)
{
	static const u32 access[PEER_REGIONS] = {
		IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
			IB_UVERBS_ACCESS_REMOTE_READ |
			IB_UVERBS_ACCESS_REMOTE_ATOMIC,
		IB_UVERBS_ACCESS_LOCAL_WRITE};

	peer_memory_make();
	for (u32 i = 0; i < PEER_REGIONS; i++)
		make_region(i, access[i]);
}

void peer_world_register_file(bool named)
{
	struct ur_emr_left left;

	CHECK(!ur_emr_dereg(w->mr[PEER_FILE], &left));
	CHECK(!left.map);
	w->at[PEER_FILE] = named && w->named_at ? w->named_at : w->unnamed_at;
	make_region(PEER_FILE, 0);
}

static void make_queue_pairs(void)
{
	static const enum ur_qp_type types[] = {UR_QPT_RC, UR_QPT_RC, UR_QPT_UC,
						UR_QPT_UD};
	struct ur_ecq_init queue = {.entries = 512};
	struct uroce_create_cq_resp resp;

	CHECK(!ur_ecq_create(ectx, &queue, &cq, &resp));
	for (u32 i = 0; i < PEER_QPS; i++) {
		struct ur_eqp_init init = {
			.type = types[i],
			.pd = PD,
			.caps.max_send_wr = 64,
			.caps.max_recv_wr = 64,
			.caps.max_send_sge = 4,
			.caps.max_recv_sge = 2,
			.caps.max_inline = 64,
			.send_cq = cq,
			.recv_cq = cq,
			.qpn = PEER_OWN_SLOT << 19 | (i + 3),
		};

		CHECK(!ur_eqp_create(ectx, &init, &w->qp[i], &w->rings[i]));
	}
}

static struct ur_epath path_to_neighbour(void)
{
	struct ur_epath path = {.hop_limit = 64};

	memcpy(path.sgid, peer_gids[0], 16);
	memcpy(path.dgid, peer_gids[0], 16);
	return path;
}

static void make_handle(void)
{
	const struct ur_epath path = path_to_neighbour();
	struct ur_eah *ah;

	CHECK(!ur_eah_create(ectx, PD, &path, &ah));
	w->ah = ur_eah_number(ah);
}

int peer_world_bring_up(u32 i)
{
	struct ur_qp_attr a = {
		.state = UR_QP_RESET,
		.port_num = 1,
		.qkey = PEER_QKEY,
		.access = UR_ACCESS_REMOTE_WRITE | UR_ACCESS_REMOTE_READ |
			  UR_ACCESS_REMOTE_ATOMIC,
		.path_mtu = MTU,
		.sq_psn = PEER_PSN,
		.rq_psn = PEER_PSN,
		.dest_qpn = PEER_QPN,
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.timeout = 14,
		.retry_cnt = 3,
		.rnr_retry = 3,
	};
	const struct ur_epath path = path_to_neighbour();
	int err;

	err = ur_eqp_modify(w->qp[i], &a, NULL, UR_QP_ATTR_STATE);
	for (u32 state = UR_QP_INIT; state <= UR_QP_RTS && !err; state++) {
		const struct ur_qp_transition *t =
			&ur_qp_transitions[state - 1][state];

		a.state = (enum ur_qp_state)state;
		err = ur_eqp_modify(w->qp[i], &a, &path,
				    UR_QP_ATTR_STATE |
					    t->required[w->qp[i]->type]);
	}
	return err;
}

void peer_world_start(void)
{
	if (!kernel_steers())
		SKIP("SO_ATTACH_REUSEPORT_CBPF is not there");
	if (!own_net())
		SKIP("no network namespace");
	signal(SIGPIPE, SIG_IGN);
	w->thread = pthread_self();
	peer_files_make();
	start_device();
	start_program();
	make_regions();
	make_queue_pairs();
	make_handle();
	/* All that stays for the slot is there from then on. */
	peer_world_grant(true);
	peer_world_end();
}

/* ---- its neighbour ---- */

static void *map(int fd, size_t bytes, int rights)
{
	void *p = mmap(NULL, bytes, rights, MAP_SHARED, fd, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

void peer_world_grant(bool same_user)
{
	struct ur_granted_ring ours, theirs;
	struct ur_grant grant;

	make_grant(PEER_SLOT, &grant);
	CHECK(!ur_engine_grant_ring(w->device, PEER_OWN_SLOT, PEER_SLOT,
				    &ours));
	CHECK(!ur_engine_grant_ring(w->device, PEER_SLOT, PEER_OWN_SLOT,
				    &theirs));
	ours.same_user = same_user;
	CHECK(!ur_engine_use_ring(w->engine, &ours));
	w->file = map(theirs.out, UR_PEER_FILE_BYTES, PROT_READ | PROT_WRITE);
	w->from = map(theirs.in, UR_PEER_FILE_BYTES, PROT_READ);
	w->words =
		map(theirs.words, UR_PEER_WORDS_BYTES, PROT_READ | PROT_WRITE);
	w->proof = theirs.out;
	w->known = theirs.in;
	close(theirs.words);
	close(ours.in);
	close(ours.out);
	close(ours.words);
	for (u32 i = 0; i < PEER_QPS; i++)
		CHECK_EQ(peer_world_bring_up(i), 0);
}

/* As the engine: returns whether it has files of that process mapped. */
static int maps_of(struct ur_engine *e, void *arg)
{
	const struct ur_udp_pair *pair = w->wire->pairs[PEER_SLOT];
	const pid_t *its = arg;
	bool has = pair && pair->liveness.engine && pair->liveness.fd >= 0;

	peer_files_check(has ? pair->liveness.pid : 0);
	return has && pair->liveness.pid == *its;
}

/* As when the slot is granted again, which the engine finds when it looks at the pair. */
static int end_pair(struct ur_engine *e, void *arg)
{
	if (w->wire->pairs[PEER_SLOT])
		ur_udp_pair_end(w->wire, w->wire->pairs[PEER_SLOT]);
	return 0;
}

/* As the engine. The device's ring is as it was at first, whatever became of it. */
static int use_relay(struct ur_engine *e, void *arg)
{
	struct ur_wire_udp *wire = w->wire;

	if (wire->pairs[0])
		ur_udp_pair_end(wire, wire->pairs[0]);
	for (u32 v4 = 0; v4 < 2; v4++)
		if (wire->woken[v4].fd >= 0)
			ur_engine_unwatch(e, wire->woken[v4].fd);
	memset(w->relay, 0, UR_PEER_HEAD_BYTES + UR_PEER_STREAM_BYTES + 65536);
	memset(w->relay_words, 0, UR_PEER_WORDS_BYTES);
	CHECK(!ur_udp_use_relay(wire, &own));
	return 0;
}

/* As the engine. */
static int has_chores(struct ur_engine *e, void *arg)
{
	return ur_chores_wait(e) || e->chores.runs;
}

/* The engine's thread has done what turns left to it. */
static void wait_for_chores(void)
{
	const struct timespec step = {.tv_nsec = 20000};

	while (ur_engine_call(w->engine, has_chores, NULL))
		nanosleep(&step, NULL);
}

void peer_world_end(void)
{
	pid_t none = 0;

	ur_engine_call(w->engine, maps_of, &none);
	ur_engine_grant_end(w->device, PEER_SLOT);
	ur_engine_call(w->engine, peer_memory_check, NULL);
	ur_engine_call(w->engine, end_pair, NULL);
	if (w->relay_used)
		ur_engine_call(w->engine, use_relay, NULL);
	w->relay_used = false;
	wait_for_chores();
	CHECK_EQ(w->maps, 0);
	munmap(w->file, UR_PEER_FILE_BYTES);
	munmap(w->from, UR_PEER_FILE_BYTES);
	munmap(w->words, UR_PEER_WORDS_BYTES);
	close(w->proof);
	close(w->known);
	if (w->mr[PEER_FILE]->searched || w->at[PEER_FILE] == w->named_at)
		peer_world_register_file(false);
	peer_names_again();
	if (ftruncate(w->files[SHOWN_CUT], SHOWN_BYTES))
		CHECK(!"the file is as long as before");
}

void peer_world_end_process(void)
{
	const struct timespec step = {.tv_nsec = 50000};
	pid_t its = w->mortal;
	u32 tries = 0;

	peer_process_end();
	while (its && ur_engine_call(w->engine, maps_of, &its)) {
		CHECK(tries++ < 200000);
		nanosleep(&step, NULL);
	}
}

/* As the engine. */
static int read_all(struct ur_engine *e, void *arg)
{
	const struct ur_udp_pair *pair = w->wire->pairs[PEER_SLOT];

	w->words[1].taken = ((const struct ur_peer_head *)w->from)->published;
	if (pair)
		w->words[1].freed = pair->out.released;
	return 0;
}

void peer_world_read(bool inside)
{
	if (inside)
		read_all(w->engine, NULL);
	else
		ur_engine_call(w->engine, read_all, NULL);
}

/* ---- work ---- */

void peer_world_turn(bool posted)
{
	/* The program takes all completions. */
	__atomic_store_n(&cq->hdr->cons,
			 __atomic_load_n(&cq->hdr->prod, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	CHECK(ur_engine_drive(w->engine, posted));
	wait_for_chores();
}

static u32 taken(const struct ur_ring *ring)
{
	return __atomic_load_n(&ring->hdr->cons, __ATOMIC_ACQUIRE);
}

void peer_world_post_receive(u32 i, u32 at, u32 len)
{
	const struct uroce_create_qp_resp *r = &w->rings[i];
	struct ur_ring *ring = &w->qp[i]->rq.ring;
	u32 prod = ring->hdr->prod;
	struct uroce_recv_wqe *wqe =
		(void *)(ring->base +
			 (size_t)(prod % r->rq_entries) * r->rq_stride);
	struct uroce_wqe_data *data = (void *)(wqe + 1);

	if (prod - taken(ring) >= r->rq_entries)
		return;
	*wqe = (struct uroce_recv_wqe){.wr_id = prod, .num_sge = 1};
	*data = (struct uroce_wqe_data){
		.length = len,
		.lkey = ur_mr_key(w->mr[PEER_LOCAL]->mr),
		.addr = (uintptr_t)w->at[PEER_LOCAL] + at,
	};
	__atomic_store_n(&ring->hdr->prod, prod + 1, __ATOMIC_RELEASE);
}

void peer_world_post_send(u32 i, const void *wqe, u32 segments)
{
	struct ur_ring *ring = &w->qp[i]->sq;
	u32 prod = ring->hdr->prod, n = (segments * 16 + 63) / 64;
	u32 slot = w->rings[i].db_slot;

	if (prod + n - taken(ring) > ring->size)
		return;
	for (u32 k = 0; k < segments; k++)
		memcpy(ring->base + ((size_t)prod * 64 + (size_t)k * 16) %
					    ((size_t)ring->size * 64),
		       (const u8 *)wqe + (size_t)k * 16, 16);
	__atomic_store_n(&ring->hdr->prod, prod + n, __ATOMIC_RELEASE);
	__atomic_fetch_or(&ectx->db->word[slot / 64], 1ull << slot % 64,
			  __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&ectx->db->summary, 1ull << slot / 64,
			  __ATOMIC_SEQ_CST);
}
