// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The door between neighbours: another program of the device, perhaps of another user, that writes anything into its
 * ring to us and into the words of both, before and while our engine looks at them; and names files that we should
 * map. And the network, whose packets the device puts into another ring.
 *
 * Input: a byte of options, then steps, a byte of what and its arguments: see step(). Packets are right but for what
 * their patches change, a record is 64 bytes as they come.
 *
 * He has a process beside, which may end while its files are mapped, or are about to be; and he does to the names of
 * our files what he likes.
 *
 * Copies go where a region allows it and to no other place, and files are mapped that the neighbour could show
 * (peer_world.c). After the input the slot ends, and nothing of it is left.
 */
#include <dirent.h>
#include <unistd.h>
#include "engine/ground/shared_file.h"
#include "tests/check.h"
#include "tests/fuzz/peer_enemy.h"
#include "tests/fuzz/peer_world.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define STEPS	  96u
#define INPUT_MAX 8192u
#define MTU	  1024u
#define TURNS	  4u
/* Pieces of a region that were sent, after which it is worth looking what memory it is. */
#define MANY 1000u

static struct peer_world *const w = &peer_world;

static void step(struct enemy *p);

/* ---- files ---- */

static s32 process_of(u8 which)
{
	switch (which & 7) {
	case 1:
		return w->stranger;
	case 2:
		return 1;
	case 3:
		return -1;
	case 4:
		return 0;
	case 5:
		return w->mortal ? w->mortal : getpid();
	default:
		return getpid();
	}
}

static void show_file(struct enemy *p)
{
	u8 what = take(&p->in), where = take(&p->in), size = take(&p->in);
	struct stat st = {0};
	struct ur_shown_file f = {
		.fd = w->files[(what & 15) % SHOWN_FILES],
		.pid = process_of(where >> 5),
		.proof = what & 0x10 ? (s32)take(&p->in) : w->proof,
		.number = ++p->number,
		.place = where & 31,
		.bytes = (u64)(size & 0x7f) * 4096,
		.offset = what & 0x20 ? take16(&p->in) * 16u : 0,
	};
	u8 *r = ring_begin(&p->ring, sizeof(f), 1, RING_HAS_ADDRS | RING_SHOWS);

	if (f.pid == w->stranger)
		st = w->its[(what & 15) % SHOWN_FILES];
	else
		CHECK(!fstat(f.fd, &st));
	f.dev = st.st_dev;
	f.ino = st.st_ino;
	if (what & 0x40)
		f.bytes = (u64)take(&p->in) << (take(&p->in) & 63);
	peer_say_way(p, r, false);
	memcpy(r + RING_UNIT, &f, sizeof(f));
	if (what & 0x80)
		ring_patch(&p->in, r, RING_UNIT + sizeof(f));
	p->says = true;
	ring_show(&p->ring, RING_UNIT + sizeof(f));
}

/* Then what is mapped is there no more. */
static void cut(struct enemy *p)
{
	if (ftruncate(w->files[SHOWN_CUT], take(&p->in) * 4096))
		CHECK(!"a file of its own");
}

/* ---- a process of his ---- */

static void change_process(struct enemy *p, u32 how)
{
	switch (how % 5) {
	case 0:
		if (!p->inside)
			w->refuses = !w->refuses;
		break;
	case 1:
		peer_process_begin();
		break;
	case 2:
		if (p->inside)
			peer_process_end();
		else
			peer_world_end_process();
		break;
	case 3:
		w->ends_when_mapped = true;
		break;
	case 4:
		w->words[1].proof = (u32)w->known;
		w->words[1].maps = (u32)w->mortal;
	}
}

/* ---- our work ---- */

static void post_receive(struct enemy *p)
{
	u8 what = take(&p->in);

	for (u32 n = 1 + (what >> 2 & 15); n; n--)
		peer_world_post_receive(what & 3, take(&p->in) * 64u,
					(what & 0x40) ? 0xc000 : 2048);
}

static void post_send(struct enemy *p)
{
	static const u8 opcodes[] = {UROCE_WQE_SEND,	  UROCE_WQE_SEND_IMM,
				     UROCE_WQE_WRITE,	  UROCE_WQE_WRITE_IMM,
				     UROCE_WQE_READ,	  UROCE_WQE_CMP_SWAP,
				     UROCE_WQE_FETCH_ADD, UROCE_WQE_SEND_INV};
	u8 what = take(&p->in), n = take(&p->in);
	u32 len = take16(&p->in), qp = what & 3, at = 1;
	u8 opcode = opcodes[what >> 2 & 7];
	bool atomic = opcode == UROCE_WQE_CMP_SWAP ||
		      opcode == UROCE_WQE_FETCH_ADD,
	     reads = opcode == UROCE_WQE_READ || atomic;
	u32 region = reads ? PEER_LOCAL : what & 0x20 ? PEER_FILE : PEER_SENT;
	u8 wqe[6][16] = {{opcode, UROCE_WQE_F_SIGNALED}};
	struct uroce_wqe_data data = {
		.length = atomic ? 8 : ur_min_u32(len, w->bytes[region]),
		.lkey = ur_mr_key(w->mr[region]->mr),
		.addr = (uintptr_t)w->at[region],
	};

	if (qp == PEER_UD) {
		struct uroce_wqe_av av = {w->ah, PEER_QPN, PEER_QKEY, 0};

		data.length = ur_min_u32(data.length, MTU);
		memcpy(wqe[at++], &av, 16);
	}
	if (opcode != UROCE_WQE_SEND && opcode != UROCE_WQE_SEND_IMM &&
	    opcode != UROCE_WQE_SEND_INV)
		memcpy(wqe[at++], &(u64){0x10000}, 8);
	if (atomic)
		at++;
	memcpy(wqe[at++], &data, 16);
	wqe[0][2] = (u8)at;
	for (n = 1 + (n & 63); n; n--)
		peer_world_post_send(qp, wqe, at);
	if (!p->inside)
		peer_world_turn(true);
}

/* From then on he is the network, or himself again. */
static void change_ring(struct enemy *p)
{
	const struct ring_writer ring = p->ring;
	bool says = p->says;

	p->ring = p->other.ring;
	p->says = p->other.says;
	p->other.ring = ring;
	p->other.says = says;
	p->relays = !p->relays;
	w->relay_used = true;
}

static void copies(void *arg)
{
	struct enemy *p = arg;

	if (p->inside)
		return;
	/* A step inside a step, and no deeper. */
	for (p->inside = true; p->later; p->later--)
		step(p);
	p->inside = false;
}

/* ---- steps ---- */

static void step(struct enemy *p)
{
	u8 what = take(&p->in);

	if (p->steps++ >= STEPS)
		return;
	switch (what % 17) {
	case 0:
	case 1:
	case 2:
		peer_put_message(p);
		break;
	case 3:
		show_file(p);
		break;
	case 4:
		ring_raw(&p->ring, &p->in);
		break;
	case 5:
		ring_scribble(&p->ring, &p->in);
		break;
	case 6:
		ring_word(&p->ring, p->relays ? w->relay_words : w->words,
			  &p->in);
		break;
	case 7:
		if (what / 17)
			change_ring(p);
		else
			ring_skip(&p->ring);
		break;
	case 8:
		for (u32 n = 1 + what / 17 % TURNS; n && !p->inside; n--)
			peer_world_turn(false);
		break;
	case 9:
		post_receive(p);
		break;
	case 10:
		post_send(p);
		break;
	case 11:
		cut(p);
		break;
	case 12:
		change_process(p, what / 17);
		break;
	case 13:
		if (!p->inside)
			peer_world_bring_up(what / 17 % PEER_QPS);
		p->psn[what / 17 % PEER_QPS] = PEER_PSN;
		break;
	case 14:
		if (what / 17)
			peer_names_change(what / 17 - 1);
		else
			peer_world_read(p->inside);
		break;
	case 15:
		if (!p->inside) {
			peer_world_register_file(what / 17 & 1);
			w->mr[PEER_FILE]->pieces = MANY;
		}
		break;
	default:
		if (!p->inside)
			p->later = 1 + what / 17 % 4;
	}
}

static u32 descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	u32 n = 0;

	CHECK(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* An honest neighbour reads, and maps files. */
static void begin(struct enemy *p, u8 options)
{
	p->ring.file = w->file;
	p->other.ring.file = w->relay;
	for (u32 i = 0; i < PEER_QPS; i++) {
		p->psn[i] = PEER_PSN;
		for (u32 n = 0; n < 8 && !(options & 2); n++)
			peer_world_post_receive(i, n * 2048, 2048);
	}
	if (options & 4)
		return;
	w->words[1].reads = 1;
	w->words[1].proof = (u32)w->known;
	w->words[1].maps = (u32)getpid();
	w->mr[PEER_FILE]->pieces = MANY;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	peer_world_start();
	return 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct enemy p = {.in = {data, size}};
	u32 before = descriptors();
	u8 options;

	if (!size || size > INPUT_MAX)
		return 0;
	options = take(&p.in);
	w->refuses = false;
	peer_world_grant(options & 1);
	begin(&p, options);
	w->arg = &p;
	w->copies = copies;
	while (p.in.left)
		step(&p);
	for (u32 n = 0; n < TURNS; n++)
		peer_world_turn(false);
	w->copies = NULL;
	peer_process_again();
	peer_world_end();
	CHECK_EQ(descriptors(), before);
	return 0;
}
