// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A libfabric program of reliable datagrams whose ends come and go. Each round
 * opens an endpoint on either side, sends its address over a TCP socket,
 * exchanges messages whose every byte is looked at, and ends as fabtests do:
 * one more message each way, of which the sender waits until it has arrived.
 * Then an `abrupt` one closes the endpoint at once, with nothing in between
 * that could still drive it; an `orderly` one drives it until the other side
 * says over the socket that it is done too. The last round measures:
 *	good 20 rounds, 123.4 MB/s
 * rdm PROVIDER abrupt|orderly ROUNDS MINE PORT [PEER]: MINE is the own address;
 * the server listens on PORT, the client has PEER too.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LARGEST	 (1 << 20)
#define STREAMED 200 /* messages of STREAM bytes that are measured */
#define STREAM	 (64 << 10)
#define WINDOW	 8
#define PATIENCE 30 /* seconds for one completion */

static const size_t sizes[] = {1, 64, 4096, 70001, LARGEST};
static bool client;
static int sock;

struct end {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *tx, *rx;
	struct fid_ep *ep;
	struct fid_mr *mr[2];
	uint8_t *out, *in;
	fi_addr_t peer;
};

static void failed(const char *what, long rc)
{
	fprintf(stderr, "%s: %s\n", what, fi_strerror(rc < 0 ? -rc : rc));
	exit(1);
}

#define TRY(call)                           \
	do {                                \
		long rc_ = (call);          \
		if (rc_)                    \
			failed(#call, rc_); \
	} while (0)

static uint8_t pattern(bool of_client, int step, size_t i)
{
	return (uint8_t)(i * 11 + (i >> 8) * 7 + step * 29 + of_client * 101);
}

/* The completion of one operation. */
static void completed(struct fid_cq *cq, struct fid_cq *other)
{
	time_t end = time(NULL) + PATIENCE;
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry error = {0};
	ssize_t n;

	for (;;) {
		n = fi_cq_read(cq, &entry, 1);
		if (n == 1)
			return;
		if (n == -FI_EAVAIL) {
			fi_cq_readerr(cq, &error, 0);
			failed("a completion", error.err);
		}
		if (n != -FI_EAGAIN)
			failed("fi_cq_read", n);
		/* Progress of the other direction, nothing taken. */
		fi_cq_read(other, NULL, 0);
		if (time(NULL) > end)
			failed("waiting for a completion", FI_ETIMEDOUT);
	}
}

static void *desc(struct end *e, int which)
{
	return e->mr[which] ? fi_mr_desc(e->mr[which]) : NULL;
}

static void post_recv(struct end *e, size_t at, size_t size)
{
	ssize_t rc;

	do {
		rc = fi_trecv(e->ep, e->in + at, size, desc(e, 1), e->peer, 1,
			      0, NULL);
		if (rc == -FI_EAGAIN)
			fi_cq_read(e->rx, NULL, 0);
	} while (rc == -FI_EAGAIN);
	TRY(rc);
}

static void post_send(struct end *e, size_t at, size_t size, uint64_t flags)
{
	struct iovec iov = {e->out + at, size};
	void *d = desc(e, 0);
	struct fi_msg_tagged msg = {.msg_iov = &iov,
				    .desc = &d,
				    .iov_count = 1,
				    .addr = e->peer,
				    .tag = 1};
	ssize_t rc;

	do {
		rc = fi_tsendmsg(e->ep, &msg, flags | FI_COMPLETION);
		if (rc == -FI_EAGAIN)
			fi_cq_read(e->tx, NULL, 0);
	} while (rc == -FI_EAGAIN);
	TRY(rc);
}

static void whole(ssize_t (*io)(int, void *, size_t), void *p, size_t n)
{
	for (ssize_t got; n; p = (char *)p + got, n -= got) {
		got = io(sock, p, n);
		if (got <= 0)
			failed("the socket", FI_EIO);
	}
}

static ssize_t put(int fd, void *p, size_t n)
{
	return write(fd, p, n);
}

static void meet(struct end *e)
{
	uint8_t mine[256] = {0}, other[256];
	size_t size = sizeof(mine);

	TRY(fi_getname(&e->ep->fid, mine, &size));
	whole(put, mine, sizeof(mine));
	whole(read, other, sizeof(other));
	if (fi_av_insert(e->av, other, 1, &e->peer, 0, NULL) != 1)
		failed("fi_av_insert", FI_EINVAL);
}

static struct fi_info *find(const char *provider, const char *mine)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	bool dgram = strstr(provider, "verbs;ofi_rxd");

	hints->fabric_attr->prov_name = strdup(provider);
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_MSG | FI_TAGGED;
	hints->mode = FI_CONTEXT;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	/* Queue pairs of datagrams have other addresses. */
	TRY(fi_getinfo(FI_VERSION(1, 11), dgram ? NULL : mine, NULL,
		       dgram ? 0 : FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static void open_end(struct end *e, const char *provider, const char *mine)
{
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED};
	struct fi_av_attr av = {.type = FI_AV_MAP};

	e->info = find(provider, mine);
	TRY(fi_fabric(e->info->fabric_attr, &e->fabric, NULL));
	TRY(fi_domain(e->fabric, e->info, &e->domain, NULL));
	if (e->info->domain_attr->av_type != FI_AV_UNSPEC)
		av.type = e->info->domain_attr->av_type;
	TRY(fi_av_open(e->domain, &av, &e->av, NULL));
	TRY(fi_cq_open(e->domain, &cq, &e->tx, NULL));
	TRY(fi_cq_open(e->domain, &cq, &e->rx, NULL));
	TRY(fi_endpoint(e->domain, e->info, &e->ep, NULL));
	TRY(fi_ep_bind(e->ep, &e->av->fid, 0));
	TRY(fi_ep_bind(e->ep, &e->tx->fid, FI_TRANSMIT));
	TRY(fi_ep_bind(e->ep, &e->rx->fid, FI_RECV));
	TRY(fi_enable(e->ep));
	if (e->info->domain_attr->mr_mode & FI_MR_LOCAL) {
		TRY(fi_mr_reg(e->domain, e->out, LARGEST, FI_SEND, 0, 1, 0,
			      &e->mr[0], NULL));
		TRY(fi_mr_reg(e->domain, e->in, LARGEST, FI_RECV, 0, 2, 0,
			      &e->mr[1], NULL));
	}
	meet(e);
}

static void close_end(struct end *e)
{
	TRY(fi_close(&e->ep->fid));
	for (int i = 0; i < 2; i++)
		if (e->mr[i])
			TRY(fi_close(&e->mr[i]->fid));
	TRY(fi_close(&e->tx->fid));
	TRY(fi_close(&e->rx->fid));
	TRY(fi_close(&e->av->fid));
	TRY(fi_close(&e->domain->fid));
	TRY(fi_close(&e->fabric->fid));
	fi_freeinfo(e->info);
}

/* A message each way at once. */
static void exchange(struct end *e, int step, size_t size, uint64_t flags)
{
	memset(e->in, 0, size);
	for (size_t i = 0; i < size; i++)
		e->out[i] = pattern(client, step, i);
	post_recv(e, 0, size);
	post_send(e, 0, size, flags);
	completed(e->tx, e->rx);
	completed(e->rx, e->tx);
	for (size_t i = 0; i < size; i++) {
		if (e->in[i] == pattern(!client, step, i))
			continue;
		fprintf(stderr, "step %d, %zu bytes: byte %zu is %02x\n", step,
			size, i, e->in[i]);
		exit(1);
	}
}

/* MB/s from the client to the server, until the last has arrived. */
static double stream(struct end *e)
{
	struct timespec t[2];

	exchange(e, 90, 8, 0);
	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	for (int n = 0; n < STREAMED + WINDOW; n++) {
		if (n >= WINDOW)
			completed(client ? e->tx : e->rx,
				  client ? e->rx : e->tx);
		if (n >= STREAMED)
			continue;
		if (client)
			post_send(e, n % WINDOW * STREAM, STREAM, 0);
		else
			post_recv(e, n % WINDOW * STREAM, STREAM);
	}
	exchange(e, 91, 8, 0);
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	return (double)STREAMED * STREAM / 1e6 /
	       (t[1].tv_sec - t[0].tv_sec +
		(t[1].tv_nsec - t[0].tv_nsec) / 1e9);
}

static void dial(const char *port, const char *peer)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = peer ? 0 : AI_PASSIVE,
				 .ai_family = AF_INET6},
			*ai;
	int on = 1, l;

	if (peer && !strchr(peer, ':'))
		hints.ai_family = AF_INET;
	if (getaddrinfo(peer, port, &hints, &ai))
		failed("getaddrinfo", FI_EINVAL);
	l = socket(ai->ai_family, SOCK_STREAM, 0);
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (peer) {
		sock = l;
		if (connect(sock, ai->ai_addr, ai->ai_addrlen))
			failed("connect", FI_ECONNREFUSED);
	} else if (bind(l, ai->ai_addr, ai->ai_addrlen) || listen(l, 1) ||
		   (sock = accept(l, NULL, NULL)) < 0) {
		failed("listen", FI_EADDRINUSE);
	}
	freeaddrinfo(ai);
}

static void part(struct end *e)
{
	char done = 1;

	whole(put, &done, 1);
	while (recv(sock, &done, 1, MSG_DONTWAIT) != 1) {
		fi_cq_read(e->tx, NULL, 0);
		fi_cq_read(e->rx, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	struct end e = {.out = calloc(1, LARGEST), .in = calloc(1, LARGEST)};
	int rounds;
	double rate = 0;

	if (argc < 6 || !e.out || !e.in)
		return 2;
	rounds = atoi(argv[3]);
	client = argc > 6;
	dial(argv[5], argv[6]);
	for (int n = 0; n < rounds; n++) {
		memset(e.mr, 0, sizeof(e.mr));
		open_end(&e, argv[1], argv[4]);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			exchange(&e, i, sizes[i], 0);
		if (n == rounds - 1)
			rate = stream(&e);
		exchange(&e, 99, 4, FI_TRANSMIT_COMPLETE);
		if (!strcmp(argv[2], "orderly"))
			part(&e);
		close_end(&e);
	}
	printf("good %d rounds, %.1f MB/s\n", rounds, rate);
	return 0;
}
