// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Makes rings of the flight recorder for programs, and checks the records read from
 * them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "engine/ground/program_record.h"
#include "util/assert.h"
#include "util/os/clock.h"
#include "util/os/map_shared.h"

/* IBTA 9.2: size of the BTH; and a limit above the largest packet. */
#define BTH_BYTES    12u
#define PACKET_BYTES 8192u
/* Limit of a believable number of lost slots, so that sums do not overflow. */
#define LOST_MAX (1ull << 48)

struct ur_program_record {
	struct ur_record_whose whose;
	const struct ur_recorder_ring *ring;
	int fd; /* -1: closed */
	u32 refs;
	u64 failures; /* at the last call of ur_program_record_failed() */
};

static size_t bytes(void)
{
	return ur_recorder_ring_bytes(UR_RECORDER_PROGRAM_KIB);
}

static int make_file(struct ur_program_record *rec)
{
	void *p;
	int err = ur_make_shared("uroce-record", bytes(), PROT_READ,
				 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
				 &rec->fd, &p);

	if (!err)
		rec->ring = p;
	return err;
}

int ur_program_record_create(const struct ur_record_whose *whose,
			     struct ur_program_record **ret)
{
	struct ur_program_record *rec = calloc(1, sizeof(*rec));
	int err;

	if (!rec)
		return -ENOMEM;
	rec->fd = -1;
	rec->whose = *whose;
	rec->refs = 1;
	err = make_file(rec);
	if (err)
		ur_program_record_put(rec);
	else
		*ret = rec;
	return err;
}

u32 ur_program_record_kib_of(const struct ur_program_record *rec, u32 kib)
{
	return ur_program_record_kib(kib, rec->whose.small);
}

void ur_program_record_keep(struct ur_program_record *rec)
{
	ur_assert(rec->refs);
	rec->refs++;
}

void ur_program_record_put(struct ur_program_record *rec)
{
	if (!rec)
		return;
	ur_assert(rec->refs);
	if (--rec->refs)
		return;
	ur_program_record_close(rec);
	if (rec->ring)
		munmap((void *)(uintptr_t)rec->ring, bytes());
	free(rec);
}

int ur_program_record_fd(const struct ur_program_record *rec)
{
	return rec->fd;
}

void ur_program_record_close(struct ur_program_record *rec)
{
	if (rec->fd >= 0)
		close(rec->fd);
	rec->fd = -1;
}

bool ur_program_record_failed(struct ur_program_record *rec)
{
	u64 before = rec->failures;

	rec->failures = ur_recorder_ring_failures(rec->ring);
	return rec->failures != before;
}

/* ---- checks of records ---- */

static bool is_packet(u8 kind)
{
	return kind == UROCE_RECORD_PACKET_OUT ||
	       kind == UROCE_RECORD_PACKET_IN;
}

/* rdma_cm events are recorded by uroced only. qpn 0: the record is of no queue pair, such as a
 * receive of a shared queue. */
static bool is_its_own(const struct ur_record_whose *whose, u8 kind, u32 qpn)
{
	return kind >= UROCE_RECORD_SEND && kind < UROCE_RECORD_CM &&
	       (!qpn || (qpn >= whose->first_qpn && qpn <= whose->last_qpn));
}

static bool is_whole(const struct uroce_record_packet *p)
{
	return p->status >= BTH_BYTES && p->status <= UROCE_RECORD_HEADERS &&
	       p->length >= p->status && p->length <= PACKET_BYTES;
}

/* Corrects owner and time; also of a packet record, which begins alike. A packet of a destroyed queue
 * pair is nobody's. */
static void put_owner(const struct ur_record_whose *whose,
		      struct uroce_record *r, u64 now)
{
	bool nobodys = r->uid == UROCE_RECORD_NOBODY;

	r->uid = nobodys ? UROCE_RECORD_NOBODY : whose->uid;
	if (nobodys)
		r->pid = 0;
	else if (whose->pid)
		r->pid = (u32)whose->pid;
	if (r->ns < whose->since)
		r->ns = whose->since;
	r->ns = ur_min_u64(r->ns, now);
}

u32 ur_program_record_check(const struct ur_record_whose *whose, void *slots,
			    u32 n, u64 now)
{
	u8 *from = slots, *to = slots;
	struct uroce_record_packet p;
	struct uroce_record r;
	u32 step;

	for (u32 i = 0; i < n; i += step, from += step * UROCE_RECORD_SLOT) {
		memcpy(&r, from, sizeof(r));
		step = is_packet(r.kind) ? 2 : 1;
		if (step > n - i)
			break;
		if (!is_its_own(whose, r.kind, r.qpn))
			continue;
		if (step == 2) {
			memcpy(&p, from, sizeof(p));
			if (!is_whole(&p))
				continue;
		}
		put_owner(whose, &r, now);
		memmove(to, from, step * UROCE_RECORD_SLOT);
		memcpy(to, &r, sizeof(r));
		to += step * UROCE_RECORD_SLOT;
	}
	return (u32)((to - (u8 *)slots) / UROCE_RECORD_SLOT);
}

u32 ur_program_record_copy(const struct ur_program_record *rec, u32 run,
			   u32 kib, void *to, u64 *lost)
{
	u32 n;

	ur_assert(kib <= UR_RECORDER_PROGRAM_KIB);
	*lost = 0;
	if (ur_recorder_ring_run(rec->ring) != run)
		return 0;
	n = ur_recorder_ring_copy(rec->ring, kib, to, lost);
	*lost = ur_min_u64(*lost, LOST_MAX);
	return ur_program_record_check(&rec->whose, to, n,
				       ur_clock_ns(CLOCK_MONOTONIC));
}

/* ---- the program ---- */

int ur_program_record_map(int fd, struct ur_recorder_ring **ring)
{
	void *p;
	int err = ur_map_shared(fd, bytes(), PROT_READ | PROT_WRITE, &p);

	if (!err)
		*ring = p;
	return err;
}

void ur_program_record_unmap(struct ur_recorder_ring *ring)
{
	if (ring)
		munmap(ring, bytes());
}
