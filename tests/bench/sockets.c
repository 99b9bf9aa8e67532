// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The speed of the host without us, for comparison:
 *
 *	sockets memcpy BYTES SECONDS        one thread, bytes per second
 *	sockets sink ADDR PORT              count datagrams until killed
 *	sockets blast ADDR PORT SECONDS     64-byte datagrams by sendmmsg, per s
 *	sockets pong ADDR PORT              echo, spinning
 *	sockets ping ADDR PORT COUNT [BYTES]  half round trips, ns: p50 mean
 *	sockets shared COUNT                the same, two threads and memory
 *	sockets take ADDR PORT              copies what give sends to memory
 *	sockets give ADDR PORT SECONDS      bytes per second of datagrams as an RC
 *	                                    queue pair's, but without an ICRC
 *
 * pong and ping, take and give, and shared's threads, poll without sleeping, as verbs
 * programs do.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include "util/bytes.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#define UDP_GRO	    104
#endif

#define BATCH 64
#define BYTES 64

/* A datagram is that of 62 KiB of a long message at MTU 1500: packets of a BTH, 1 KiB and an ICRC. */
#define PAYLOAD	  1024
#define HEADER	  12
#define PACKET	  (HEADER + PAYLOAD + 4)
#define PACKETS	  62
#define MEMORY	  (1u << 20)
#define IN_FLIGHT 8 /* datagrams, as a window of 512 packets */
#define ANSWERED  4 /* of so many, one */

static u8 datagram[65536];

static u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

static int die(const char *what)
{
	perror(what);
	exit(1);
}

static int open_udp(const char *addr, const char *port, int bound)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons((u16)atoi(port))};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), big = 32 << 20, ret;

	if (fd < 0 || inet_pton(AF_INET, addr, &sa.sin_addr) != 1)
		die(addr);
	setsockopt(fd, SOL_SOCKET, bound ? SO_RCVBUFFORCE : SO_SNDBUFFORCE,
		   &big, sizeof(big));
	ret = bound ? bind(fd, (struct sockaddr *)&sa, sizeof(sa))
		    : connect(fd, (struct sockaddr *)&sa, sizeof(sa));
	return ret ? die(addr) : fd;
}

static int run_memcpy(size_t bytes, double seconds)
{
	u8 *a = malloc(bytes), *b = malloc(bytes);
	u64 start, end, done = 0;

	if (!a || !b)
		return 1;
	memset(a, 1, bytes);
	memset(b, 2, bytes);
	start = now_ns();
	do {
		memcpy(b, a, bytes);
		__asm__ volatile("" : : "r"(b) : "memory");
		done += bytes;
		end = now_ns();
	} while ((double)(end - start) < seconds * 1e9);
	printf("%.0f\n", (double)done * 1e9 / (double)(end - start));
	return 0;
}

static void fill(struct mmsghdr *m, struct iovec *iov, u8 (*buf)[BYTES])
{
	memset(m, 0, BATCH * sizeof(*m));
	for (int i = 0; i < BATCH; i++) {
		iov[i].iov_base = buf[i];
		iov[i].iov_len = BYTES;
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
}

static int run_blast(int fd, double seconds)
{
	static u8 buf[BATCH][BYTES];
	struct mmsghdr m[BATCH];
	struct iovec iov[BATCH];
	u64 start = now_ns(), end, sent = 0;

	fill(m, iov, buf);
	do {
		int n = sendmmsg(fd, m, BATCH, 0);

		if (n > 0)
			sent += (u64)n;
		end = now_ns();
	} while ((double)(end - start) < seconds * 1e9);
	printf("%.0f\n", (double)sent * 1e9 / (double)(end - start));
	return 0;
}

static int run_sink(int fd)
{
	static u8 buf[BATCH][BYTES];
	struct mmsghdr m[BATCH];
	struct iovec iov[BATCH];

	fill(m, iov, buf);
	while (recvmmsg(fd, m, BATCH, 0, NULL) >= 0 || errno == EINTR)
		;
	return 1;
}

static ssize_t spin_recv(int fd, void *buf, size_t size,
			 struct sockaddr_in *from)
{
	socklen_t len = sizeof(*from);
	u32 empty = 0;
	ssize_t n;

	while ((n = recvfrom(fd, buf, size, MSG_DONTWAIT,
			     (struct sockaddr *)from, from ? &len : NULL)) < 0)
		if (++empty % 4 == 0)
			sched_yield();
	return n;
}

static int run_pong(int fd)
{
	struct sockaddr_in from;

	for (;;) {
		ssize_t n = spin_recv(fd, datagram, sizeof(datagram), &from);

		if (sendto(fd, datagram, (size_t)n, 0, (struct sockaddr *)&from,
			   sizeof(from)) < 0)
			return 1;
	}
}

static int by_value(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Prints the median and the mean of count half round trips. */
static int measure(void (*trip)(void *arg), void *arg, u32 count)
{
	u32 *half = calloc(count, sizeof(*half));
	u64 sum = 0;

	if (!half || !count)
		return 1;
	for (u32 i = 0; i < count; i++) {
		u64 start = now_ns();

		trip(arg);
		half[i] = (u32)((now_ns() - start) / 2);
		sum += half[i];
	}
	qsort(half, count, sizeof(*half), by_value);
	printf("%u %llu\n", half[count / 2], (unsigned long long)sum / count);
	free(half);
	return 0;
}

struct pinger {
	int fd;
	size_t bytes;
};

static void ping(void *arg)
{
	const struct pinger *p = arg;

	if (send(p->fd, datagram, p->bytes, 0) < 0)
		die("send");
	spin_recv(p->fd, datagram, sizeof(datagram), NULL);
}

static int run_ping(int fd, u32 count, size_t bytes)
{
	struct pinger p = {.fd = fd, .bytes = bytes};

	return bytes <= sizeof(datagram) ? measure(ping, &p, count) : 1;
}

/* ---- datagrams of long messages ---- */

static u8 memory[MEMORY];

/* Returns where the packets of that datagram have their bytes. */
static u8 *place_of(u32 number)
{
	return memory + (size_t)(number % (MEMORY / (PACKETS * PAYLOAD))) *
				PACKETS * PAYLOAD;
}

/* Their numbers begin with 1. */
static int run_take(int fd)
{
	struct sockaddr_in from;
	int on = 1;

	if (setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof(on)))
		return die("UDP_GRO");
	for (;;) {
		ssize_t n = spin_recv(fd, datagram, sizeof(datagram), &from);
		u32 number = ur_get_be32(datagram);
		u8 *to = place_of(number);

		for (ssize_t i = 0; (i + 1) * PACKET <= n && i < PACKETS; i++)
			memcpy(to + i * PAYLOAD, datagram + i * PACKET + HEADER,
			       PAYLOAD);
		if (number % ANSWERED == 0 &&
		    sendto(fd, datagram, 4, 0, (struct sockaddr *)&from,
			   sizeof(from)) < 0)
			return 1;
	}
}

static void give_one(int fd, u32 number)
{
	const u8 *from = place_of(number);

	for (u32 i = 0; i < PACKETS; i++) {
		u8 *p = datagram + i * PACKET;

		ur_put_be32(p, number);
		memcpy(p + HEADER, from + (size_t)i * PAYLOAD, PAYLOAD);
	}
	if (send(fd, datagram, PACKETS * PACKET, 0) < 0)
		die("send");
}

static int run_give(int fd, double seconds)
{
	int segment = PACKET;
	u32 number = 0, answered = 0;
	u64 start = now_ns(), end;
	u8 answer[BYTES];

	if (setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		return die("UDP_SEGMENT");
	memset(memory, 1, sizeof(memory));
	do {
		give_one(fd, ++number);
		while (number - answered >= IN_FLIGHT) {
			spin_recv(fd, answer, sizeof(answer), NULL);
			answered = ur_get_be32(answer);
		}
		end = now_ns();
	} while ((double)(end - start) < seconds * 1e9);
	printf("%.0f\n", (double)answered * PACKETS * PAYLOAD * 1e9 /
				 (double)(end - start));
	return 0;
}

/* ---- two threads and memory ---- */

/* A message, and behind it the number of messages so far. */
struct box {
	_Alignas(128) u8 message[BYTES];
	_Atomic u32 count;
};

static struct box boxes[2];
static u32 trips;

static void put(struct box *box, const u8 *message)
{
	memcpy(box->message, message, BYTES);
	atomic_store_explicit(
		&box->count,
		atomic_load_explicit(&box->count, memory_order_relaxed) + 1,
		memory_order_release);
}

static void take(struct box *box, u8 *message, u32 number)
{
	u32 empty = 0;

	while (atomic_load_explicit(&box->count, memory_order_acquire) !=
	       number)
		if (++empty % 1024 == 0)
			sched_yield();
	memcpy(message, box->message, BYTES);
}

static void *echo(void *arg)
{
	u8 message[BYTES];

	for (u32 i = 1; i <= trips; i++) {
		take(&boxes[0], message, i);
		put(&boxes[1], message);
	}
	return arg;
}

static void trip(void *arg)
{
	u32 *number = arg;
	u8 message[BYTES] = {0};

	put(&boxes[0], message);
	take(&boxes[1], message, ++*number);
}

static int run_shared(u32 count)
{
	pthread_t other;
	u32 number = 0;
	int ret;

	trips = count;
	if (pthread_create(&other, NULL, echo, NULL))
		die("pthread_create");
	ret = measure(trip, &number, count);
	pthread_join(other, NULL);
	return ret;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "shared"))
		return run_shared((u32)atoi(argv[2]));
	if (argc < 4)
		what = "";
	if (!strcmp(what, "memcpy"))
		return run_memcpy((size_t)atol(argv[2]), atof(argv[3]));
	if (!strcmp(what, "sink"))
		return run_sink(open_udp(argv[2], argv[3], 1));
	if (!strcmp(what, "pong"))
		return run_pong(open_udp(argv[2], argv[3], 1));
	if (!strcmp(what, "take"))
		return run_take(open_udp(argv[2], argv[3], 1));
	if (!strcmp(what, "give") && argc > 4)
		return run_give(open_udp(argv[2], argv[3], 0), atof(argv[4]));
	if (!strcmp(what, "blast") && argc > 4)
		return run_blast(open_udp(argv[2], argv[3], 0), atof(argv[4]));
	if (!strcmp(what, "ping") && argc > 4)
		return run_ping(open_udp(argv[2], argv[3], 0),
				(u32)atoi(argv[4]),
				argc > 5 ? (size_t)atol(argv[5]) : BYTES);
	fprintf(stderr, "usage: see the top of sockets.c\n");
	return 2;
}
