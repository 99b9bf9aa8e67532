// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The door between neighbours: another program of the device, perhaps of another user, that writes anything into its
 * ring to us and into the words of both, before and while our engine looks at them; and names files that we should
 * map.
 *
 * Input: a byte of options, then steps, a byte of what and its arguments: see step(). Packets are right but for what
 * their patches change, a record is 64 bytes as they come.
 *
 * Copies go where a region allows it and to no other place, and files are mapped that the neighbour could show
 * (peer_world.c). After the input the slot ends, and nothing of it is left.
 */
#include <dirent.h>
#include <unistd.h>
#include "engine/ground/shared_file.h"
#include "tests/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/peer_world.h"
#include "tests/fuzz/ring_writer.h"
#include "transport/wire_format.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define STEPS	  96u
#define INPUT_MAX 8192u
#define MTU	  1024u
#define BTH	  12u
#define TURNS	  4u
/* Pieces of a region that were sent, after which it is worth looking what memory it is. */
#define MANY 1000u

static struct peer_world *const w = &peer_world;

struct enemy {
	struct input in;
	struct ring_writer ring;
	u32 bulk;	   /* he puts the next bytes there */
	u32 psn[PEER_QPS]; /* of his next request */
	u32 steps;
	u32 later; /* steps that are taken while our engine copies */
	bool inside;
	bool says; /* a message with a way is there */
	u32 number;
};

static void step(struct enemy *p);

/* ---- packets ---- */

struct packet {
	u32 qp, opcode, n, payload, seg;
	bool apart, shown;
	u8 head[64]; /* BTH and what follows it */
	u32 head_bytes;
};

static u32 service_of(u32 qp)
{
	static const u32 services[] = {UR_SVC_RC, UR_SVC_RC, UR_SVC_UC,
				       UR_SVC_UD};

	return services[qp];
}

static u32 key_of(u8 which)
{
	return which < PEER_REGIONS ? ur_emr_key(w->mr[which]) : which * 257u;
}

static u8 *extend(struct packet *k, u32 bytes)
{
	u8 *at = k->head + k->head_bytes;

	k->head_bytes += bytes;
	return at;
}

static void add_place(struct packet *k, struct input *in, bool atomic)
{
	u32 off = take16(in), len = take(in);
	u8 *at = extend(k, atomic ? 28 : 16);

	/* From before the region to behind it. */
	ur_put_be64(at, (uintptr_t)w->at[PEER_REMOTE] + off * 2u - 512);
	ur_put_be32(at + 8, key_of(take(in)));
	if (!atomic)
		ur_put_be32(at + 12, len ? len * 512 : k->payload);
}

static void add_headers(struct packet *k, struct input *in)
{
	u32 op = k->opcode & UR_OPC_MASK;

	if (k->qp == PEER_UD) {
		u8 *deth = extend(k, 8);

		ur_put_be32(deth, PEER_QKEY);
		ur_put_be24(deth + 5, PEER_QPN);
	}
	switch (op) {
	case UR_OPC_WRITE_FIRST:
	case UR_OPC_WRITE_ONLY:
	case UR_OPC_WRITE_ONLY_IMM:
	case UR_OPC_READ_REQ:
		add_place(k, in, false);
		break;
	case UR_OPC_CMP_SWAP:
	case UR_OPC_FETCH_ADD:
		add_place(k, in, true);
		break;
	case UR_OPC_ACK:
	case UR_OPC_READ_RESP_FIRST:
	case UR_OPC_READ_RESP_LAST:
	case UR_OPC_READ_RESP_ONLY:
		extend(k, 4)[0] = take(in);
		break;
	case UR_OPC_ATOMIC_ACK:
		extend(k, 12)[0] = take(in);
		break;
	}
	if (op == UR_OPC_SEND_LAST_IMM || op == UR_OPC_SEND_ONLY_IMM ||
	    op == UR_OPC_WRITE_LAST_IMM || op == UR_OPC_WRITE_ONLY_IMM)
		extend(k, 4);
	if (op == UR_OPC_SEND_LAST_INV || op == UR_OPC_SEND_ONLY_INV)
		ur_put_be32(extend(k, 4), key_of(take(in)));
}

/* A few before or behind. */
static int near(u8 byte)
{
	return byte & 0x80 ? (int)byte - 256 : (int)byte;
}

static bool is_answer(u32 opcode)
{
	u32 op = opcode & UR_OPC_MASK;

	return op >= UR_OPC_READ_RESP_FIRST && op <= UR_OPC_ATOMIC_ACK;
}

/* Puts the BTH and what follows it of each packet of a message to at, and counts. */
static void put_packets(struct enemy *p, struct packet *k, u8 *at, u32 each,
			u32 psn)
{
	for (u32 i = 0; i < k->n; i++, at += each) {
		u32 room = each < k->head_bytes ? each : k->head_bytes;

		ur_put_be24(k->head + 9, psn + i);
		memcpy(at, k->head, k->apart ? BTH : room);
	}
	if (!is_answer(k->opcode))
		p->psn[k->qp] = psn + k->n;
}

/* Returns where their bytes are in the bulk. */
static u32 reserve(struct enemy *p, u32 bytes)
{
	u32 at = (u32)ur_align_up(p->bulk, UR_PEER_PAGE);

	if (UR_PEER_BULK_BYTES - at % UR_PEER_BULK_BYTES < bytes)
		at += UR_PEER_BULK_BYTES - at % UR_PEER_BULK_BYTES;
	p->bulk = at + bytes;
	return at;
}

static void say_way(struct enemy *p, u8 *r, bool other)
{
	u8 which = other ? take(&p->in) : 0;
	u8 stranger[16] = {[10] = 0xff, 0xff, 10, 1, 2, 3};

	memcpy(r + RING_WAY, which & 4 ? stranger : peer_gids[which & 1], 16);
	memcpy(r + RING_WAY + 16,
	       which & 8 ? stranger : peer_gids[which >> 1 & 1], 16);
}

static void put_message(struct enemy *p)
{
	u8 what = take(&p->in), op = take(&p->in), count = take(&p->in);
	u16 size = take16(&p->in);
	bool says = !p->says || what & 0x30;
	struct packet k = {.qp = what & 3,
			   .n = 1 + (count & 63),
			   .payload = size & 0x8000 ? size & 0x7fff
						    : size % 1056 & ~3u,
			   .apart = what & 4,
			   .shown = (what & 12) == 12,
			   .head_bytes = BTH};
	u32 psn, each, len;
	u8 *r, flags;

	k.opcode = op & 0x80 ? take(&p->in)
			     : service_of(k.qp) | (op & UR_OPC_MASK);
	psn = is_answer(k.opcode) ? PEER_PSN + (u32)near(take(&p->in))
				  : p->psn[k.qp];
	if (what & 0x40)
		psn += (u32)near(take(&p->in));
	k.head[0] = (u8)k.opcode;
	k.head[2] = k.head[3] = 0xff;
	ur_put_be24(k.head + 5, PEER_OWN_SLOT << 19 | (k.qp + 3));
	k.head[8] = op & 0x40 ? 0x80 : 0;
	add_headers(&k, &p->in);
	k.seg = k.apart ? k.payload : k.head_bytes + k.payload + 4;
	each = k.apart ? UR_PEER_BTH_ROOM : k.seg;
	while (k.n > 1 && k.n * each > UR_PEER_BYTES)
		k.n--;
	len = k.n * each;
	flags = (u8)((says ? RING_SAYS_WAY : 0) | (k.apart ? RING_APART : 0) |
		     (k.shown ? RING_SHOWN : 0));
	r = ring_begin(&p->ring, len, k.seg, flags);
	if (says)
		say_way(p, r, what & 0x20);
	if (k.shown) {
		r[RING_SPORT] = take(&p->in);
		ur_put_le32(r + RING_BULK, take16(&p->in) * 16u);
	} else if (k.apart) {
		ur_put_le32(r + RING_BULK,
			    reserve(p, ur_min_u32(k.n * k.seg,
						  UR_PEER_BULK_BYTES / 2)));
		ur_put_le32(r + RING_FREED, p->bulk);
	}
	put_packets(p, &k, r + (says ? RING_UNIT : RING_SHORT), each, psn);
	if (what & 0x80)
		ring_patch(&p->in, r, (says ? RING_UNIT : RING_SHORT) + len);
	p->says = true;
	ring_show(&p->ring, (says ? RING_UNIT : RING_SHORT) + len);
}

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
	u8 *r = ring_begin(&p->ring, sizeof(f), 1, RING_SAYS_WAY | RING_SHOWS);

	if (f.pid == w->stranger)
		st = w->its[(what & 15) % SHOWN_FILES];
	else
		CHECK(!fstat(f.fd, &st));
	f.dev = st.st_dev;
	f.ino = st.st_ino;
	if (what & 0x40)
		f.bytes = (u64)take(&p->in) << (take(&p->in) & 63);
	say_way(p, r, false);
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
		.lkey = ur_emr_key(w->mr[region]),
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
		put_message(p);
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
		ring_word(&p->ring, w->words, &p->in);
		break;
	case 7:
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
		if (!p->inside)
			w->refuses = !w->refuses;
		break;
	case 13:
		if (!p->inside)
			peer_world_bring_up(what / 17 % PEER_QPS);
		p->psn[what / 17 % PEER_QPS] = PEER_PSN;
		break;
	case 14:
		peer_world_read(p->inside);
		break;
	case 15:
		if (!p->inside) {
			peer_world_register_file();
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
	peer_world_lend(options & 1);
	begin(&p, options);
	w->arg = &p;
	w->copies = copies;
	while (p.in.left)
		step(&p);
	for (u32 n = 0; n < TURNS; n++)
		peer_world_turn(false);
	w->copies = NULL;
	peer_world_end();
	CHECK_EQ(descriptors(), before);
	return 0;
}
