// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A program of libibumad, as people write them, addressed by GID as RoCE wants
 * it: serves and asks a vendor's class, waits in vain, asks for counters.
 *
 *	mads serve CA N		answers N questions of class 0x32
 *	mads ask CA SGID_INDEX DGID N	asks N, one after the other
 *	mads vain CA SGID_INDEX DGID	asks what nobody answers
 *	mads counters CA SGID_INDEX DGID	prints PortCountersExtended
 *	mads old CA SGID_INDEX DGID	asks as programs without P_Key index do
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <sys/ioctl.h>
/* libibumad has another structure of this name. */
#define ib_user_mad kernel_user_mad
#include <rdma/ib_user_mad.h>
#undef ib_user_mad

#include "tests/check.h"

#define MAD	     256
#define PING_CLASS   0x32
#define METHOD_GET   1
#define METHOD_TRAP  5
#define RESPONSE     0x80
#define OUI_AT	     37
#define DATA_AT	     40
#define QKEY_GSI     0x80010000u
#define WAIT_MS	     10000
#define VAIN_MS	     50
#define VAIN_RETRIES 2

static uint8_t oui[3] = {0x00, 0x14, 0x05};
static int port;
static uint8_t *umad; /* header and MAD */

static uint8_t *mad(void)
{
	return umad_get_mad(umad);
}

static void open_port(const char *ca)
{
	CHECK_EQ(umad_init(), 0);
	port = umad_open_port(ca, 1);
	CHECK(port >= 0);
	umad = umad_alloc(1, umad_size() + MAD);
	CHECK(umad);
}

static void set_address(const char *sgid_index, const char *dgid)
{
	ib_mad_addr_t to = {.grh_present = 1,
			    .gid_index = (uint8_t)atoi(sgid_index),
			    .hop_limit = 64};

	CHECK_EQ(inet_pton(AF_INET6, dgid, to.gid), 1);
	memset(umad, 0, umad_size() + MAD);
	CHECK_EQ(umad_set_addr(umad, 0, 1, 0, (int)QKEY_GSI), 0);
	CHECK_EQ(umad_set_grh(umad, &to), 0);
	/* That leaves this one out. */
	umad_get_mad_addr(umad)->gid_index = to.gid_index;
}

static void fill(uint8_t mgmt_class, uint8_t method, uint16_t attr,
		 uint32_t number)
{
	uint8_t *m = mad();

	m[0] = 1;
	m[1] = mgmt_class;
	m[2] = 1;
	m[3] = method;
	m[16] = (uint8_t)(attr >> 8);
	m[17] = (uint8_t)attr;
	number = htonl(number);
	memcpy(m + 12, &number, 4);
	if (mgmt_class == PING_CLASS)
		memcpy(m + OUI_AT, oui, 3);
}

/* Returns the agent of the MAD that comes within that time, or -errno. */
static int receive(int ms)
{
	int length = MAD;

	return umad_recv(port, umad, &length, ms);
}

static int serve(char **argv)
{
	long mask[2] = {1 << METHOD_GET};
	int agent;

	open_port(argv[0]);
	agent = umad_register_oui(port, PING_CLASS, 0, oui, mask);
	CHECK(agent >= 0);
	CHECK(umad_register_oui(port, PING_CLASS, 0, oui, mask) < 0);
	/* Nothing is there yet, and nobody waits for it. */
	CHECK_EQ(umad_poll(port, 0), -ETIMEDOUT);
	CHECK_EQ(receive(0), -EWOULDBLOCK);
	printf("serving\n");
	fflush(stdout);
	for (int n = atoi(argv[1]); n; n--) {
		CHECK_EQ(receive(-1), agent);
		CHECK_EQ(umad_status(umad), 0);
		CHECK_EQ(umad_get_mad_addr(umad)->grh_present, 1);
		for (int i = DATA_AT; i < MAD; i++)
			mad()[i] ^= 0xff;
		mad()[3] |= RESPONSE;
		CHECK_EQ(umad_send(port, agent, umad, MAD, 0, 0), 0);
	}
	CHECK_EQ(umad_unregister(port, agent), 0);
	CHECK_EQ(umad_close_port(port), 0);
	return 0;
}

static int ask(char **argv)
{
	int agent, n = atoi(argv[3]);

	open_port(argv[0]);
	agent = umad_register(port, PING_CLASS, 1, 0, NULL);
	CHECK(agent >= 0);
	for (int k = 0; k < n; k++) {
		set_address(argv[1], argv[2]);
		fill(PING_CLASS, METHOD_GET, 0, (uint32_t)k);
		for (int i = DATA_AT; i < MAD; i++)
			mad()[i] = (uint8_t)(i * 7 + k);
		CHECK_EQ(umad_send(port, agent, umad, MAD, WAIT_MS, 3), 0);
		CHECK_EQ(receive(WAIT_MS), agent);
		CHECK_EQ(umad_status(umad), 0);
		CHECK_EQ(mad()[3], METHOD_GET | RESPONSE);
		for (int i = DATA_AT; i < MAD; i++)
			CHECK_EQ(mad()[i], (uint8_t) ~(i * 7 + k));
	}
	printf("answered %d\n", n);
	return 0;
}

static int vain(char **argv)
{
	int agent;

	open_port(argv[0]);
	agent = umad_register(port, PING_CLASS, 1, 0, NULL);
	CHECK(agent >= 0);
	set_address(argv[1], argv[2]);
	fill(PING_CLASS, METHOD_TRAP, 0, 0x1234);
	CHECK_EQ(umad_send(port, agent, umad, MAD, VAIN_MS, VAIN_RETRIES), 0);
	/* By LID there is no way. */
	CHECK_EQ(umad_set_addr(umad, 1, 1, 0, (int)QKEY_GSI), 0);
	umad_get_mad_addr(umad)->grh_present = 0;
	CHECK(umad_send(port, agent, umad, MAD, VAIN_MS, 0) < 0);
	CHECK_EQ(errno, EINVAL);
	memset(umad, 0, umad_size() + MAD);
	CHECK_EQ(receive(WAIT_MS), agent);
	CHECK_EQ(umad_status(umad), ETIMEDOUT);
	CHECK_EQ(mad()[15], 0x34);
	/* No QP0. */
	CHECK(umad_register(port, 1, 1, 0, NULL) < 0);
	printf("nobody\n");
	return 0;
}

static uint64_t be64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

static int counters(char **argv)
{
	static const char *const names[] = {
		"port_xmit_data",	"port_rcv_data",
		"port_xmit_packets",	"port_rcv_packets",
		"unicast_xmit_packets", "unicast_rcv_packets"};
	int agent;

	open_port(argv[0]);
	agent = umad_register(port, 4, 1, 0, NULL);
	CHECK(agent >= 0);
	set_address(argv[1], argv[2]);
	fill(4, METHOD_GET, 0x1d, 1);
	mad()[65] = 1;
	CHECK_EQ(umad_send(port, agent, umad, MAD, WAIT_MS, 0), 0);
	CHECK_EQ(receive(WAIT_MS), agent);
	CHECK_EQ(umad_status(umad), 0);
	if (mad()[4] | mad()[5]) {
		printf("status %d\n", mad()[4] << 8 | mad()[5]);
		return 0;
	}
	for (int i = 0; i < 6; i++)
		printf("%s %llu\n", names[i],
		       (unsigned long long)be64(mad() + 72 + 8 * i));
	return 0;
}

/* The older header, and reads with less room than a MAD needs: libibumad makes
 * neither. */
static int old(char **argv)
{
	struct {
		struct ib_user_mad_hdr_old hdr;
		uint8_t mad[MAD];
	} p = {.hdr = {.qpn = htonl(1),
		       .timeout_ms = WAIT_MS,
		       .grh_present = 1,
		       .gid_index = (uint8_t)atoi(argv[1])}};
	struct ib_user_mad_reg_req req = {.qpn = 1};
	int fd = open("/dev/infiniband/umad0", O_RDWR);
	struct pollfd pollfd = {fd, POLLIN | POLLOUT, 0};
	pid_t child;
	int status;

	CHECK(fd >= 0);
	CHECK_EQ(ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req), 0);
	CHECK_EQ(poll(&pollfd, 1, 0), 1);
	CHECK_EQ(pollfd.revents, POLLOUT);
	CHECK_EQ(inet_pton(AF_INET6, argv[2], p.hdr.gid), 1);
	memcpy(p.mad, (uint8_t[]){1, 4, 1, 1}, 4);
	p.mad[17] = 1;
	/* A child may go on with what its parent has open. */
	child = fork();
	CHECK(child >= 0);
	if (!child)
		_exit(write(fd, &p, sizeof(p)) != sizeof(p));
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
	/* Waits for the MAD, which then stays where it is. */
	CHECK(read(fd, &p, sizeof(p) - 1) < 0);
	CHECK_EQ(errno, EINVAL);
	CHECK(read(fd, &p, sizeof(p.hdr) - 1) < 0);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(read(fd, &p, sizeof(p)), sizeof(p));
	CHECK_EQ(p.mad[3], METHOD_GET | RESPONSE);
	CHECK_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	CHECK(read(fd, &p, sizeof(p)) < 0);
	CHECK_EQ(errno, EAGAIN);
	CHECK(read(fd, &p, 100) < 0);
	CHECK_EQ(errno, EAGAIN);
	printf("as before\n");
	return close(fd);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int arguments;
		int (*fn)(char **argv);
	} commands[] = {{"serve", 2, serve},
			{"ask", 4, ask},
			{"vain", 3, vain},
			{"counters", 3, counters},
			{"old", 3, old}};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (argc == commands[i].arguments + 2 &&
		    !strcmp(argv[1], commands[i].name))
			return commands[i].fn(argv + 2);
	fprintf(stderr, "usage: see the top of mads.c\n");
	return 2;
}
