// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Every command of rdma_cm, and connections made by them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#include "tests/faults/faults.h"

#define PATIENCE_MS 20000

static struct rdma_event_channel *channel, *other;
static struct rdma_cm_id *id, *listener, *client, *server;

static struct sockaddr_in at(const char *ip, uint16_t port)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
				  .sin_port = htons(port)};

	CHECK(inet_pton(AF_INET, ip, &sin.sin_addr) == 1);
	return sin;
}

#define TRIED(call) ((call) ? errno : 0)

/* The next event, if it is this one; else what it says instead. */
static int expect(struct rdma_event_channel *ch, enum rdma_cm_event_type type,
		  struct rdma_cm_id **of)
{
	struct pollfd p = {.fd = ch->fd, .events = POLLIN};
	struct rdma_cm_event *ev;
	int err;

	CHECK_EQ(poll(&p, 1, PATIENCE_MS), 1);
	if (rdma_get_cm_event(ch, &ev))
		return errno;
	err = ev->event == type ? 0 : ev->status ? EREMOTEIO : EPROTO;
	if (of)
		*of = ev->id;
	rdma_ack_cm_event(ev);
	return err;
}

static int open_channel(void)
{
	other = rdma_create_event_channel();
	return other ? 0 : errno;
}

static void close_channel(void)
{
	rdma_destroy_event_channel(other);
}

static int create_id(void)
{
	return TRIED(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
}

static void fresh(void)
{
	CHECK_EQ(create_id(), 0);
}

static int destroy_id(void)
{
	return TRIED(rdma_destroy_id(id));
}

static void gone(void)
{
	CHECK_EQ(destroy_id(), 0);
}

/* An id that was half made is of no more use to librdmacm: another instead. */
static int or_anew(int err, void (*prepare)(void))
{
	if (!err)
		return 0;
	gone();
	prepare();
	return err;
}

static int bind_id(void)
{
	struct sockaddr_in sin = at("10.79.0.1", 0);

	return or_anew(TRIED(rdma_bind_addr(id, (struct sockaddr *)&sin)),
		       fresh);
}

static void bound(void)
{
	fresh();
	CHECK_EQ(bind_id(), 0);
}

static int listen_id(void)
{
	return or_anew(TRIED(rdma_listen(id, 8)), bound);
}

static int resolve_addr(void)
{
	struct sockaddr_in sin = at("10.79.0.2", 7000);
	int err = TRIED(
		rdma_resolve_addr(id, NULL, (struct sockaddr *)&sin, 2000));

	if (!err)
		err = expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	return or_anew(err, fresh);
}

static void resolved(void)
{
	fresh();
	CHECK_EQ(resolve_addr(), 0);
}

static int resolve_route(void)
{
	int err = TRIED(rdma_resolve_route(id, 2000));

	if (!err)
		err = expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	return or_anew(err, resolved);
}

static int set_option(void)
{
	uint8_t tos = 32;

	return TRIED(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
				     &tos, sizeof(tos)));
}

static void with_other(void)
{
	fresh();
	CHECK_EQ(open_channel(), 0);
}

static int migrate(void)
{
	return TRIED(rdma_migrate_id(id, other));
}

static void migrated(void)
{
	gone();
	close_channel();
}

/* ---- a group ---- */

static void datagrams(void)
{
	struct sockaddr_in sin = at("10.79.0.1", 0);

	CHECK(!rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	CHECK(!rdma_bind_addr(id, (struct sockaddr *)&sin));
}

static int join(void)
{
	struct sockaddr_in group = at("239.1.2.4", 0);
	int err =
		TRIED(rdma_join_multicast(id, (struct sockaddr *)&group, NULL));

	return err ? err : expect(channel, RDMA_CM_EVENT_MULTICAST_JOIN, NULL);
}

static void left(void)
{
	struct sockaddr_in group = at("239.1.2.4", 0);

	CHECK_EQ(rdma_leave_multicast(id, (struct sockaddr *)&group), 0);
	gone();
}

/* ---- a connection ---- */

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){.qp_type = IBV_QPT_RC,
					 .cap = {.max_send_wr = 4,
						 .max_recv_wr = 4,
						 .max_send_sge = 1,
						 .max_recv_sge = 1}};
}

static int ask(void)
{
	struct sockaddr_in sin = at("10.79.0.2", 7001);
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_conn_param param = {.retry_count = 7};
	int err = TRIED(rdma_create_id(other, &client, NULL, RDMA_PS_TCP));

	if (err)
		return err;
	err = TRIED(
		rdma_resolve_addr(client, NULL, (struct sockaddr *)&sin, 2000));
	if (!err)
		err = expect(other, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	if (!err)
		err = TRIED(rdma_resolve_route(client, 2000));
	if (!err)
		err = expect(other, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	if (!err)
		err = TRIED(rdma_create_qp(client, NULL, &attr));
	return err ? err : TRIED(rdma_connect(client, &param));
}

/* The request that the server has had meanwhile may be one that has ended. */
static int answer(void)
{
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_conn_param param = {0};
	int err = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &server);

	if (err)
		return err;
	err = TRIED(rdma_create_qp(server, NULL, &attr));
	return err ? err : TRIED(rdma_accept(server, &param));
}

static void drop(struct rdma_cm_id **which)
{
	if (!*which)
		return;
	if ((*which)->qp)
		rdma_destroy_qp(*which);
	CHECK_EQ(rdma_destroy_id(*which), 0);
	*which = NULL;
}

static bool pending(const struct rdma_event_channel *ch)
{
	struct pollfd p = {.fd = ch->fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/* Requests that nobody accepted and ends that nobody waited for. */
static void drain(struct rdma_event_channel *ch)
{
	struct rdma_cm_event *ev;

	while (pending(ch)) {
		struct rdma_cm_id *stray = NULL;

		if (rdma_get_cm_event(ch, &ev))
			break;
		if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			stray = ev->id;
		rdma_ack_cm_event(ev);
		if (stray)
			rdma_destroy_id(stray);
	}
}

static void hang_up(void)
{
	drop(&client);
	drop(&server);
	drain(channel);
	drain(other);
}

static int converse(void)
{
	int err = ask();

	if (!err)
		err = answer();
	if (!err)
		err = expect(other, RDMA_CM_EVENT_ESTABLISHED, NULL);
	if (!err)
		err = expect(channel, RDMA_CM_EVENT_ESTABLISHED, NULL);
	if (!err)
		err = TRIED(rdma_disconnect(client));
	if (!err)
		err = expect(channel, RDMA_CM_EVENT_DISCONNECTED, NULL);
	hang_up();
	return err;
}

static const struct step steps[] = {
	{"create channel", NULL, open_channel, close_channel, ANY_ERRNO},
	{"create id", NULL, create_id, gone, 0},
	/* When librdmacm goes to the device again, it has an errno of its own.
	 * */
	{"bind", fresh, bind_id, gone, ENODEV},
	{"listen", bound, listen_id, gone, 0},
	{"resolve address", fresh, resolve_addr, gone, EREMOTEIO},
	{"resolve route", resolved, resolve_route, gone, EREMOTEIO},
	{"set option", fresh, set_option, gone, 0},
	{"migrate id", with_other, migrate, migrated, 0},
	{"join", datagrams, join, left, EREMOTEIO},
	{"destroy id", bound, destroy_id, NULL, 0},
	{0},
};

static const struct step connection[] = {
	{"connection", NULL, converse, NULL, ANY_ERRNO},
	{0},
};

static void open_server(void)
{
	struct sockaddr_in sin = at("10.79.0.2", 7001);

	channel = rdma_create_event_channel();
	CHECK(channel);
	CHECK_EQ(open_channel(), 0);
	CHECK(!rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
	CHECK(!rdma_bind_addr(listener, (struct sockaddr *)&sin));
	CHECK(!rdma_listen(listener, 8));
}

static void close_server(void)
{
	CHECK_EQ(rdma_destroy_id(listener), 0);
	close_channel();
	rdma_destroy_event_channel(channel);
}

/* librdmacm has a device open as long as an id is bound to it. */
static struct rdma_event_channel *idle;
static struct rdma_cm_id *anchor[2];

static void drop_anchors(void)
{
	static const char *const ip[] = {"10.79.0.1", "10.79.0.2"};

	idle = rdma_create_event_channel();
	CHECK(idle);
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in sin = at(ip[i], 0);

		CHECK(!rdma_create_id(idle, &anchor[i], NULL, RDMA_PS_TCP));
		CHECK(!rdma_bind_addr(anchor[i], (struct sockaddr *)&sin));
	}
}

static void weigh_anchors(void)
{
	for (int i = 0; i < 2; i++)
		CHECK_EQ(rdma_destroy_id(anchor[i]), 0);
	rdma_destroy_event_channel(idle);
}

void test_cm(void)
{
	drop_anchors();
	open_server();
	CHECK_EQ(converse(), 0);
	close_server();
	faults_baseline(3);
	channel = rdma_create_event_channel();
	CHECK(channel);
	faults_each(steps);
	rdma_destroy_event_channel(channel);
	open_server();
	faults_each(connection);
	close_server();
	faults_settle();
	weigh_anchors();
}
