// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * librpma: a server's memory, which a client writes, flushes, reads back and
 * writes atomically, and messages by which it has the server look at every
 * byte. Then blocks are written and flushed for the time that takes:
 *	good, 123.4 MB/s
 * pmem ADDRESS PORT serve|write: both name the server's address.
 * With `tcp` in front the blocks go over a socket, and nothing else happens.
 */
#include <librpma.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SIZE   (4 << 20)
#define BLOCK  (64 << 10)
#define BLOCKS 512
#define SERVED                                              \
	(RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC | \
	 RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)

#define TRY(call)                                          \
	do {                                               \
		int rc_ = (call);                          \
		if (rc_) {                                 \
			fprintf(stderr, "%s: %s\n", #call, \
				rpma_err_2str(rc_));       \
			exit(1);                           \
		}                                          \
	} while (0)

static void expect(const char *what, bool good)
{
	if (!good) {
		fprintf(stderr, "%s\n", what);
		exit(1);
	}
}

/* The request of the client to the server. */
struct message {
	uint64_t offset, size, step; /* size 0: it is done, no answer */
	uint64_t good;		     /* the answer */
};

/* Completions that came before they were waited for. */
enum {
	SENT = 1,
	RECEIVED = 2,
};

struct side {
	struct rpma_peer *peer;
	struct rpma_conn *conn;
	uint8_t *memory;
	struct message *out, *in;
	struct rpma_mr_local *mr, *out_mr, *in_mr;
	unsigned early;
};

static uint8_t pattern(uint64_t step, size_t i)
{
	return (uint8_t)(i * 5 + (i >> 8) * 11 + step * 37);
}

static void fill(uint8_t *p, size_t n, uint64_t step)
{
	for (size_t i = 0; i < n; i++)
		p[i] = pattern(step, i);
}

static bool same(const uint8_t *p, size_t n, uint64_t step)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != pattern(step, i))
			return false;
	return true;
}

static void *memory(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	expect("mmap", p != MAP_FAILED);
	return p;
}

/*
 * Waits for a completion of this opcode. A message and the completion of the
 * one that it answers may come in either order: where the acknowledgement is
 * lost, the message is first.
 */
static void completed(struct side *s, enum ibv_wc_opcode opcode)
{
	const unsigned ours = opcode == IBV_WC_SEND   ? SENT
			      : opcode == IBV_WC_RECV ? RECEIVED
						      : 0;
	struct rpma_cq *cq;
	struct ibv_wc wc;
	int rc;

	TRY(rpma_conn_get_cq(s->conn, &cq));
	while (!(s->early & ours)) {
		while ((rc = rpma_cq_get_wc(cq, 1, &wc, NULL)) ==
		       RPMA_E_NO_COMPLETION)
			TRY(rpma_cq_wait(cq));
		TRY(rc);
		if (!wc.status && wc.opcode == opcode)
			return;
		if (wc.status || !ours ||
		    (wc.opcode != IBV_WC_SEND && wc.opcode != IBV_WC_RECV)) {
			fprintf(stderr, "completion: %s, opcode %d, not %d\n",
				ibv_wc_status_str(wc.status), wc.opcode,
				opcode);
			exit(1);
		}
		s->early |= wc.opcode == IBV_WC_SEND ? SENT : RECEIVED;
	}
	s->early &= ~ours;
}

static void prepare(struct side *s, const char *addr, int mine)
{
	enum rpma_util_ibv_context_type type =
		mine ? RPMA_UTIL_IBV_CONTEXT_LOCAL
		     : RPMA_UTIL_IBV_CONTEXT_REMOTE;
	struct ibv_context *ibv;

	TRY(rpma_utils_get_ibv_context(addr, type, &ibv));
	TRY(rpma_peer_new(ibv, &s->peer));
	s->memory = memory(SIZE);
	s->out = memory(4096);
	s->in = memory(4096);
	TRY(rpma_mr_reg(s->peer, s->out, 4096, RPMA_MR_USAGE_SEND, &s->out_mr));
	TRY(rpma_mr_reg(s->peer, s->in, 4096, RPMA_MR_USAGE_RECV, &s->in_mr));
}

static void await(struct side *s, enum rpma_conn_event want)
{
	enum rpma_conn_event event;

	TRY(rpma_conn_next_event(s->conn, &event));
	if (event != want) {
		fprintf(stderr, "event %s\n",
			rpma_utils_conn_event_2str(event));
		exit(1);
	}
}

static void serve(const char *addr, const char *port)
{
	struct rpma_conn_private_data data;
	struct side s = {0};
	struct rpma_conn_req *req;
	struct rpma_ep *ep;
	uint8_t desc[256];
	size_t size;

	prepare(&s, addr, 1);
	TRY(rpma_mr_reg(s.peer, s.memory, SIZE, SERVED, &s.mr));
	TRY(rpma_mr_get_descriptor_size(s.mr, &size));
	expect("the descriptor is longer than we thought", size <= 255);
	TRY(rpma_mr_get_descriptor(s.mr, desc));
	TRY(rpma_ep_listen(s.peer, addr, port, &ep));
	TRY(rpma_ep_next_conn_req(ep, NULL, &req));
	TRY(rpma_conn_req_recv(req, s.in_mr, 0, sizeof(*s.in), NULL));
	data.ptr = desc;
	data.len = size;
	TRY(rpma_conn_req_connect(&req, &data, &s.conn));
	await(&s, RPMA_CONN_ESTABLISHED);
	/* The last answer's own completion may never come: who asked leaves. */
	for (int answers = 0;; answers++) {
		completed(&s, IBV_WC_RECV);
		if (!s.in->size)
			break;
		if (answers)
			completed(&s, IBV_WC_SEND);
		*s.out = *s.in;
		expect("a hostile client",
		       s.out->offset <= SIZE &&
			       s.out->size <= SIZE - s.out->offset);
		s.out->good = same(s.memory + s.out->offset, s.out->size,
				   s.out->step);
		TRY(rpma_recv(s.conn, s.in_mr, 0, sizeof(*s.in), NULL));
		TRY(rpma_send(s.conn, s.out_mr, 0, sizeof(*s.out),
			      RPMA_F_COMPLETION_ALWAYS, NULL));
	}
	await(&s, RPMA_CONN_CLOSED);
	TRY(rpma_conn_disconnect(s.conn));
	TRY(rpma_conn_delete(&s.conn));
	TRY(rpma_ep_shutdown(&ep));
	TRY(rpma_mr_dereg(&s.mr));
	TRY(rpma_mr_dereg(&s.out_mr));
	TRY(rpma_mr_dereg(&s.in_mr));
	TRY(rpma_peer_delete(&s.peer));
	printf("good\n");
}

static void ask(struct side *s, uint64_t offset, uint64_t size, uint64_t step)
{
	*s->out = (struct message){offset, size, step, 0};
	TRY(rpma_recv(s->conn, s->in_mr, 0, sizeof(*s->in), NULL));
	TRY(rpma_send(s->conn, s->out_mr, 0, sizeof(*s->out),
		      RPMA_F_COMPLETION_ALWAYS, NULL));
	completed(s, IBV_WC_SEND);
	completed(s, IBV_WC_RECV);
	if (!s->in->good) {
		fprintf(stderr, "step %d: the server has other bytes\n",
			(int)step);
		exit(1);
	}
}

static void flush(struct side *s, struct rpma_mr_remote *remote, size_t offset,
		  size_t size)
{
	TRY(rpma_flush(s->conn, remote, offset, size,
		       RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS,
		       NULL));
}

static double since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start->tv_sec +
	       (now.tv_nsec - start->tv_nsec) / 1e9;
}

/* The opcode that a flush completes with: a READ where there is no FLUSH. */
static enum ibv_wc_opcode flush_opcode(struct side *s,
				       struct rpma_mr_remote *remote)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;
	int rc;

	flush(s, remote, 0, 8);
	TRY(rpma_conn_get_cq(s->conn, &cq));
	while ((rc = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		TRY(rpma_cq_wait(cq));
	TRY(rc);
	expect("the first flush failed", !wc.status);
	return wc.opcode;
}

static void write_all(const char *addr, const char *port)
{
	static const size_t sizes[] = {1, 8, 4097, 70001, SIZE};
	struct rpma_conn_private_data data;
	struct rpma_mr_remote *remote;
	enum ibv_wc_opcode flushed;
	struct rpma_conn_req *req;
	struct side s = {0};
	struct timespec start;
	char word[8];
	double took;

	prepare(&s, addr, 0);
	TRY(rpma_mr_reg(s.peer, s.memory, SIZE,
			RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST,
			&s.mr));
	TRY(rpma_conn_req_new(s.peer, addr, port, NULL, &req));
	TRY(rpma_conn_req_connect(&req, NULL, &s.conn));
	await(&s, RPMA_CONN_ESTABLISHED);
	TRY(rpma_conn_get_private_data(s.conn, &data));
	TRY(rpma_mr_remote_from_descriptor(data.ptr, data.len, &remote));
	flushed = flush_opcode(&s, remote);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t at = (SIZE - sizes[i]) / 2;

		fill(s.memory, sizes[i], i);
		TRY(rpma_write(s.conn, remote, at, s.mr, 0, sizes[i],
			       RPMA_F_COMPLETION_ON_ERROR, NULL));
		flush(&s, remote, at, sizes[i]);
		completed(&s, flushed);
		ask(&s, at, sizes[i], i);
		memset(s.memory, 0, sizes[i]);
		TRY(rpma_read(s.conn, s.mr, 0, remote, at, sizes[i],
			      RPMA_F_COMPLETION_ALWAYS, NULL));
		completed(&s, IBV_WC_RDMA_READ);
		expect("the bytes read are others",
		       same(s.memory, sizes[i], i));
	}
	fill((uint8_t *)word, sizeof(word), 77);
	TRY(rpma_atomic_write(s.conn, remote, 4096, word,
			      RPMA_F_COMPLETION_ON_ERROR, NULL));
	flush(&s, remote, 4096, 8);
	completed(&s, flushed);
	ask(&s, 4096, 8, 77);

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int n = 0; n < BLOCKS; n++) {
		size_t at = (size_t)n * BLOCK % SIZE;

		TRY(rpma_write(s.conn, remote, at, s.mr, at, BLOCK,
			       RPMA_F_COMPLETION_ON_ERROR, NULL));
		/* Its send queue has room for 10. */
		if (n % 8 == 7) {
			flush(&s, remote, 0, SIZE);
			completed(&s, flushed);
		}
	}
	took = since(&start);
	ask(&s, 0, SIZE, sizeof(sizes) / sizeof(*sizes) - 1);
	/* Not answered: who leaves may take with him that it arrived. */
	s.out->size = 0;
	TRY(rpma_send(s.conn, s.out_mr, 0, sizeof(*s.out),
		      RPMA_F_COMPLETION_ALWAYS, NULL));
	completed(&s, IBV_WC_SEND);
	TRY(rpma_conn_disconnect(s.conn));
	await(&s, RPMA_CONN_CLOSED);
	TRY(rpma_conn_delete(&s.conn));
	TRY(rpma_mr_remote_delete(&remote));
	TRY(rpma_mr_dereg(&s.mr));
	TRY(rpma_mr_dereg(&s.out_mr));
	TRY(rpma_mr_dereg(&s.in_mr));
	TRY(rpma_peer_delete(&s.peer));
	printf("good, %.1f MB/s\n", BLOCKS * (double)BLOCK / took / 1e6);
}

/* Eight blocks, and a byte back, as often as above. */
static void over_tcp(const char *addr, const char *port, int server)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *ai;
	const size_t chunk = 8 * BLOCK;
	char *p = memory(chunk);
	struct timespec start;
	int l, sock, on = 1;

	expect("getaddrinfo", !getaddrinfo(addr, port, &hints, &ai));
	sock = l = socket(ai->ai_family, SOCK_STREAM, 0);
	setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (server) {
		expect("listen",
		       !bind(l, ai->ai_addr, ai->ai_addrlen) && !listen(l, 1));
		sock = accept(l, NULL, NULL);
		expect("accept", sock >= 0);
	} else {
		expect("connect", !connect(l, ai->ai_addr, ai->ai_addrlen));
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int n = 0; n < BLOCKS / 8; n++) {
		if (server) {
			expect("recv", recv(sock, p, chunk, MSG_WAITALL) ==
					       (ssize_t)chunk);
			expect("send", send(sock, p, 1, 0) == 1);
		} else {
			expect("send",
			       send(sock, p, chunk, 0) == (ssize_t)chunk);
			expect("recv", recv(sock, p, 1, 0) == 1);
		}
	}
	printf("good, %.1f MB/s\n",
	       BLOCKS * (double)BLOCK / since(&start) / 1e6);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "tcp"))
		over_tcp(argv[2], argv[3], !strcmp(argv[4], "serve"));
	else if (argc == 4 && !strcmp(argv[3], "serve"))
		serve(argv[1], argv[2]);
	else if (argc == 4)
		write_all(argv[1], argv[2]);
	else
		return 2;
	return 0;
}
