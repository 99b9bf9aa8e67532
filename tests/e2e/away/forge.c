// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes into the outbox of a program in another network namespace by hand:
 *
 *	forge packets GID_INDEX OWN OTHER	OWN, OTHER: IPv4 addresses, its device's and a peer's
 *	forge quits GID_INDEX OWN OTHER
 *	forge ring GID_INDEX CASE
 *	forge random SEED SECONDS
 *
 * "packets": some that may leave, whose payload says "good" and a number, and some that may not, which say
 * "evil". "ring": what is no ring, CASE says how. Then it waits for SIGKILL. "quits": one that may leave, and ends
 * without waking uroced for it. "random": messages that are nearly
 * right, as fast as they are taken, from and to the addresses that test_away.py has.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/local/peer_ring.h"
#include "tests/verbs_pair.h"

#define PACKET	  64u
#define SLOT_BITS 5

static struct ur_peer_out out;
static struct ur_peer_word *words;
static struct ur_peer_head *file;
static uint32_t slot;
static uint8_t own[16], other[16];

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* A datagram queue pair that is ready has all addresses of the device. */
static void make_queue_pair(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context =
		list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_qp_attr attr = pair_attr(NULL, 0);
	struct ibv_qp_init_attr init = {
		.cap = {.max_send_wr = 4,
			.max_recv_wr = 4,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_pd *pd;
	struct ibv_qp *qp;

	must(context, "a device");
	pd = ibv_alloc_pd(context);
	init.send_cq = init.recv_cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	must(pd && init.send_cq, "a domain, and a queue");
	qp = ibv_create_qp(pd, &init);
	must(qp && !pair_connect(qp, &attr), "a queue pair");
	slot = qp->qp_num >> (24 - SLOT_BITS);
}

static void *find_mapping(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	void *found = NULL;
	char line[512];

	must(maps, "maps");
	while (!found && fgets(line, sizeof(line), maps))
		if (strstr(line, name) && strstr(line, "rw-s"))
			found = (void *)strtoul(line, NULL, 16);
	fclose(maps);
	must(found, name);
	return found;
}

/* All eventfds: the device's is among them. */
static void knock(void)
{
	DIR *fds = opendir("/proc/self/fd");
	struct dirent *d;
	char path[300], what[64];
	uint64_t one = 1;
	ssize_t n;

	must(fds, "descriptors");
	while ((d = readdir(fds))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", d->d_name);
		n = readlink(path, what, sizeof(what) - 1);
		if (n <= 0)
			continue;
		what[n] = 0;
		if (strcmp(what, "anon_inode:[eventfd]") == 0)
			must(write(atoi(d->d_name), &one, sizeof(one)) == 8,
			     "an eventfd");
	}
	closedir(fds);
}

static void v4(uint8_t gid[16], const char *text)
{
	memset(gid, 0, 10);
	memset(gid + 10, 0xff, 2);
	must(inet_pton(AF_INET, text, gid + 12) == 1, text);
}

struct packet {
	struct ur_peer_message m;
	uint8_t bytes[PACKET];
};

static struct packet make(uint8_t opcode, const uint8_t from[16],
			  const uint8_t to[16])
{
	struct packet p = {.m = {.len = PACKET,
				 .seg = PACKET,
				 .ttl = 64,
				 .sport = 0xc000}};

	memcpy(p.m.saddr, from, 16);
	memcpy(p.m.daddr, to, 16);
	p.bytes[0] = opcode;
	ur_put_be24(p.bytes + 5, 0x3456);
	ur_put_be32(p.bytes + 12, 0x1234);
	ur_put_be24(p.bytes + 17, slot << (24 - SLOT_BITS) | 5);
	return p;
}

static void put(struct packet *p, const char *what)
{
	static int n;
	uint8_t *to;

	snprintf((char *)p->bytes + 24, 16, "%s %d", what, n++);
	out.has_addrs = false;
	to = ur_peer_room(&out, &p->m);
	must(to, "room");
	memcpy(to, p->bytes, p->m.len < PACKET ? p->m.len : PACKET);
	ur_peer_put(&out, &p->m);
}

static void put_evil_ways(void)
{
	static const char *const to[] = {"127.0.0.1", "127.1.2.3", "0.0.0.0",
					 "255.255.255.255", "239.1.1.1"};
	static const char *const from[] = {"10.77.0.99", "127.0.0.1",
					   "192.0.2.1", "0.0.0.0"};
	uint8_t gid[16];
	struct packet p;

	for (uint32_t i = 0; i < 5; i++) {
		v4(gid, to[i]);
		p = make(0x04, own, gid);
		put(&p, "evil");
	}
	for (uint32_t i = 0; i < 4; i++) {
		v4(gid, from[i]);
		p = make(0x04, gid, other);
		put(&p, "evil");
	}
	p = make(0x04, other, own);
	put(&p, "evil");
	p = make(0x04, own, (uint8_t[16]){[15] = 1});
	put(&p, "evil");
	p = make(0x04, own, other);
	p.m.ttl = 0;
	put(&p, "evil");
}

static void put_evil_packets(void)
{
	static const uint8_t opcodes[] = {0x04, 0x24, 0x64, 0x81};
	struct packet p;

	for (uint32_t qpn = 0; qpn < 2; qpn++)
		for (uint32_t i = 0; i < 4; i++) {
			p = make(opcodes[i], own, other);
			ur_put_be24(p.bytes + 5, qpn);
			put(&p, "evil");
		}
	p = make(0x64, own, other);
	ur_put_be32(p.bytes + 12, 0x80010000);
	put(&p, "evil");
	p = make(0x64, own, other);
	ur_put_be24(p.bytes + 17, 5);
	put(&p, "evil");
	for (uint32_t op = 0x40; op < 0x256; op += 0x20) {
		p = make((uint8_t)op == 0x60 ? 0x66 : (uint8_t)op, own, other);
		/* 0xa0 is XRC. */
		if ((uint8_t)op >= 0x40 && (uint8_t)op != 0xa0)
			put(&p, "evil");
	}
	for (uint16_t seg = 1; seg < 16; seg++) {
		p = make(0x04, own, other);
		p.m.seg = seg;
		put(&p, "evil");
	}
	p = make(0x04, own, other);
	p.m.len = PACKET - 2;
	put(&p, "evil");
	p = make(0x04, own, other);
	p.m.len = p.m.seg = 8;
	put(&p, "evil");
	p = make(0x04, own, other);
	p.m.len = p.m.seg = 60000;
	put(&p, "evil");
	p = make(0x04, own, other);
	p.m.split = 1;
	p.m.seg = 16;
	must(ur_peer_reserve(&out, 4096, &p.m.bulk), "bulk");
	put(&p, "evil");
}

static void put_good(void)
{
	struct packet p;

	for (uint32_t i = 0; i < 3; i++) {
		p = make(0x04, own, other);
		put(&p, "good");
		p = make(0x64, own, other);
		put(&p, "good");
		/* From its own port, so that it counts as this program's. */
		p = make(0x04, own, own);
		put(&p, "good");
	}
}

/* A record that is put, not yet shown, begins at record; its fields are words. */
static void spoil(uint32_t *record, uint32_t how)
{
	switch (how) {
	case 0: /* no bytes */
		record[1] = 0;
		break;
	case 1: /* more than there may be */
		record[1] = 65537;
		break;
	case 2: /* beyond the end of the ring */
		record[1] = 0xfffffff0u;
		break;
	case 3: /* no size of a packet: a segment of no bytes */
		record[5] &= 0xffff0000u;
		break;
	case 4: /* the rest is empty, and again at the beginning */
		record[1] = UINT32_MAX;
		memset((uint8_t *)file + UR_PEER_HEAD_BYTES, 0xff, 64);
		break;
	case 5: /* apart, beyond the end of the bulk */
		record[3] = 0xfffffff0u;
		((uint8_t *)record)[27] |= 1;
		break;
	default: /* too many packets */
		record[5] = (record[5] & 0xffff0000u) | 1;
		record[1] = 65;
		break;
	}
}

static void put_no_ring(uint32_t how)
{
	uint32_t at = out.put & (UR_PEER_STREAM_BYTES - 1);
	uint32_t *record =
		(uint32_t *)((uint8_t *)file + UR_PEER_HEAD_BYTES + at);
	struct packet p = make(0x04, own, other);

	put(&p, "evil");
	spoil(record, how);
	ur_peer_publish(&out);
	/* Others jump. */
	words[1].taken += how * 12345;
	words[1].asleep = how * 99;
	file->published += how * 54321;
	file->waits += how;
}

/* Sometimes any value in place of a right one. */
static uint32_t rarely(uint32_t right)
{
	return random() % 8 ? right : (uint32_t)random();
}

static void put_random(void)
{
	static const uint8_t opcodes[] = {0x04, 0x07, 0x24, 0x64, 0x65, 0x81};
	static uint8_t bytes[UR_PEER_BYTES];
	uint32_t seg = 16 + 4 * (uint32_t)(random() % 300),
		 n = 1 + (uint32_t)(random() % 64);
	struct ur_peer_message m = {
		.seg = (uint16_t)rarely(seg),
		.len = rarely(n * seg) % (UR_PEER_BYTES + 1),
		.ttl = (uint8_t)rarely(64),
		.tos = (uint8_t)rarely(2),
		.first = (uint8_t)rarely(0),
		.flow_label = rarely(0),
	};
	uint8_t *to;

	/* The ring ends with one that is none at all. */
	m.seg += !m.seg;
	if (m.len > UR_PEER_PACKETS * m.seg)
		m.len = UR_PEER_PACKETS * m.seg;
	memcpy(m.saddr, own, 16);
	memcpy(m.daddr, random() % 4 ? other : own, 16);
	m.daddr[random() % 16] = (uint8_t)rarely(m.daddr[15]);
	memcpy(m.daddr, random() % 4 ? other : m.daddr, 16);
	for (uint32_t at = 0; at + 20 <= m.len; at += seg) {
		bytes[at] = (uint8_t)rarely(opcodes[random() % 6]);
		ur_put_be24(bytes + at + 5, rarely(0x123456) & 0xffffff);
		ur_put_be24(bytes + at + 17,
			    (rarely(slot << (24 - SLOT_BITS))) & 0xffffff);
	}
	out.has_addrs = false;
	to = m.len ? ur_peer_room(&out, &m) : NULL;
	if (to) {
		memcpy(to, bytes, m.len);
		ur_peer_put(&out, &m);
	}
	if (ur_peer_publish(&out) || !to)
		knock();
}

static void put_random_for(unsigned int seed, time_t seconds)
{
	time_t end = time(NULL) + seconds;
	unsigned long n = 0;

	srandom(seed);
	for (; time(NULL) < end; n++)
		put_random();
	printf("put %lu, read %u\n", n, words[1].taken);
}

int main(int argc, char **argv)
{
	bool ring = argc == 4 && strcmp(argv[1], "ring") == 0;
	bool any = argc == 4 && strcmp(argv[1], "random") == 0;

	must(ring || any || argc == 5, "arguments");
	make_queue_pair();
	file = find_mapping("uroce-outbox");
	words = find_mapping("uroce-words");
	ur_peer_out_reattach(&out, file, &words[1]);
	v4(own, argc == 4 ? "10.77.0.1" : argv[3]);
	v4(other, argc == 4 ? "10.77.0.2" : argv[4]);
	if (any) {
		put_random_for((unsigned int)atoi(argv[2]), atoi(argv[3]));
		return 0;
	}
	if (strcmp(argv[1], "quits") == 0) {
		put_good();
		ur_peer_publish(&out);
		return 0;
	}
	if (ring) {
		put_no_ring((uint32_t)atoi(argv[3]));
	} else {
		put_evil_ways();
		put_good();
		put_evil_packets();
		put_good();
		ur_peer_publish(&out);
	}
	knock();
	printf("put\n");
	fflush(stdout);
	for (;;)
		pause();
}
