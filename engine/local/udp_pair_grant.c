// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The device's side of rings between two programs: it makes the files, sealed against
 * changes of size, and grants each once to each program. Only the writer gets a writable
 * descriptor of a file; another user cannot reopen the file for writing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "engine/wire/wire_udp.h"
#include "util/assert.h"
#include "util/os/map_shared.h"

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_files(struct ur_udp_granted_pair *p)
{
	close_one(&p->words);
	for (u32 i = 0; i < 2; i++) {
		close_one(&p->out[i]);
		close_one(&p->out_read[i]);
	}
}

static struct ur_udp_granted_pair *pair_of(struct ur_wire_udp *w, u32 a, u32 b)
{
	return a < b ? &w->granted_pairs[a][b] : &w->granted_pairs[b][a];
}

static int make_pairs(struct ur_wire_udp *w)
{
	if (w->granted_pairs)
		return 0;
	w->granted_pairs = calloc(UR_PLACES, sizeof(*w->granted_pairs));
	if (!w->granted_pairs)
		return -ENOMEM;
	for (u32 a = 0; a < UR_PLACES; a++)
		for (u32 b = a + 1; b < UR_PLACES; b++)
			*pair_of(w, a, b) = (struct ur_udp_granted_pair){
				.words = -1,
				.out = {-1, -1},
				.out_read = {-1, -1},
			};
	return 0;
}

void ur_udp_close_granted_pairs(struct ur_wire_udp *w)
{
	if (!w->granted_pairs)
		return;
	for (u32 a = 0; a < UR_PLACES; a++)
		for (u32 b = a + 1; b < UR_PLACES; b++)
			close_files(pair_of(w, a, b));
	free(w->granted_pairs);
}

static int make_file(const char *name, off_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), err;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, bytes) &&
	    !fcntl(fd, F_ADD_SEALS,
		   F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) &&
	    !fchmod(fd, S_IRUSR | S_IWUSR))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

static int make_files(struct ur_udp_granted_pair *p)
{
	int err = p->words = make_file("uroce-words", UR_PEER_WORDS_BYTES);

	for (u32 i = 0; err >= 0 && i < 2; i++) {
		err = p->out[i] =
			make_file("uroce-packets", UR_PEER_FILE_BYTES);
		if (err >= 0)
			err = p->out_read[i] = ur_open_to_read(p->out[i]);
	}
	if (err >= 0)
		return 0;
	close_files(p);
	return err;
}

/* Begins a pair. Closes the files of an earlier grant. */
static int begin(struct ur_wire_udp *w, struct ur_udp_granted_pair *p, u32 low,
		 u32 high)
{
	u32 grant_id[2] = {ur_udp_local_grant_id(w->local, w->device, low),
			   ur_udp_local_grant_id(w->local, w->device, high)};
	int err;

	if (p->grant_id[0] == grant_id[0] && p->grant_id[1] == grant_id[1])
		return 0;
	close_files(p);
	err = make_files(p);
	if (err)
		return err;
	memcpy(p->grant_id, grant_id, sizeof(grant_id));
	p->took[0] = p->took[1] = false;
	return 0;
}

static int copy(int fd)
{
	int dup = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return dup < 0 ? -errno : dup;
}

/* Passes the files to a program. Closes them once both programs have theirs. */
static int take(struct ur_udp_granted_pair *p, u32 me,
		struct ur_granted_ring *ring)
{
	const int from[] = {p->words, p->out[me], p->out_read[!me]};
	int *to[] = {&ring->words, &ring->out, &ring->in};
	int err = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(from); i++) {
		*to[i] = copy(from[i]);
		if (*to[i] < 0)
			err = *to[i];
	}
	if (err) {
		for (u32 i = 0; i < UR_ARRAY_SIZE(to); i++)
			close_one(to[i]);
		return err;
	}
	p->took[me] = true;
	if (p->took[!me])
		close_files(p);
	return 0;
}

int ur_udp_grant_ring(struct ur_wire *wire, u32 slot, u32 peer,
		      struct ur_granted_ring *ring)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	struct ur_udp_granted_pair *p;
	u32 me = slot > peer;
	int err = make_pairs(w);

	ur_assert(slot != peer && slot < UR_PLACES && peer < UR_PLACES);
	if (err)
		return err;
	p = pair_of(w, slot, peer);
	err = begin(w, p, ur_min_u32(slot, peer), slot > peer ? slot : peer);
	if (err)
		return err;
	/* A second copy could become a second reader and writer. */
	if (p->took[me])
		return -EALREADY;
	ring->peer = peer;
	ring->grant_id = p->grant_id[!me];
	ring->relayed = w->relays[peer] != NULL;
	return take(p, me, ring);
}
