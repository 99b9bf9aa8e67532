// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See pair.h. */
#define PAIR_OWN_LINES
#include "tests/scenario/cm/pair.h"

static void check_host(const struct host *h)
{
	const char *wrong = ur_cm_check(h->cm);

	if (wrong) {
		fprintf(stderr, "invariant broken: %s\n", wrong);
		exit(1);
	}
}

static void on_send(void *ctx, const struct ur_cm_path *path, const u8 *mad)
{
	struct host *h = ctx;
	struct letter *l =
		&h->tray[(h->tray_head + h->tray_count) % TRAY_SLOTS];

	CHECK(h->tray_count < TRAY_SLOTS);
	h->tray_count++;
	l->path = *path;
	memcpy(l->mad, mad, sizeof(l->mad));
}

static void on_event(void *ctx, struct ur_cm_id *id,
		     const struct ur_cm_event *event)
{
	struct host *h = ctx;
	struct happening *e;

	if (event->type == UR_CM_EVENT_REQ ||
	    event->type == UR_CM_EVENT_SIDR_REQ) {
		h->last_new = id;
		if (h->abandon_requests) {
			ur_cm_id_abandon(id);
			return;
		}
	}
	CHECK(h->events_count < EVENT_MAX);
	e = &h->events[(h->events_head + h->events_count++) % EVENT_MAX];
	memset(e, 0, sizeof(*e));
	e->type = event->type;
	e->status = event->status;
	e->id = id;
	if (event->mad)
		e->mad = *event->mad;
}

void new_manager(struct host *h, u64 key, const struct ur_cm_config *limits)
{
	struct ur_cm_config config = {0};

	if (limits)
		config = *limits;
	config.ctx = h;
	config.send = on_send;
	config.event = on_event;
	config.key[0] = key;
	h->cm = ur_cm_create(&config);
	CHECK(h->cm);
}

static void host_init(struct host *h, u8 last_byte,
		      const struct ur_cm_config *limits)
{
	memset(h, 0, sizeof(*h));
	h->tray = calloc(TRAY_SLOTS, sizeof(*h->tray));
	CHECK(h->tray);
	new_manager(h, last_byte, limits);
	memcpy(h->gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x4d\x00", 15);
	h->gid[15] = last_byte;
	h->guid = 0x505400fffe770000ull | last_byte;
}

void pair_init(struct pair *p, const struct ur_cm_config *limits)
{
	host_init(&p->a, 3, limits);
	host_init(&p->b, 2, limits);
	p->now = 1000 * MS;
	ur_cm_set_now(p->a.cm, p->now);
	ur_cm_set_now(p->b.cm, p->now);
}

void pair_fini(struct pair *p)
{
	ur_cm_destroy(p->a.cm);
	ur_cm_destroy(p->b.cm);
	free(p->a.tray);
	free(p->b.tray);
}

struct letter take(struct host *from, u16 attr)
{
	struct letter l;

	CHECK(from->tray_count);
	l = from->tray[from->tray_head];
	from->tray_head = (from->tray_head + 1) % TRAY_SLOTS;
	from->tray_count--;
	CHECK_EQ(ur_get_be16(l.mad + 16), attr);
	return l;
}

void deliver(struct pair *p, struct host *to, const struct letter *letter)
{
	struct ur_cm_path from = letter->path;

	/* Seen from the receiver. */
	memcpy(from.sgid, letter->path.dgid, 16);
	memcpy(from.dgid, letter->path.sgid, 16);
	ur_cm_rx(to->cm, p->now, &from, letter->mad, sizeof(letter->mad));
	check_host(to);
}

void pass(struct pair *p, struct host *from, u16 attr)
{
	struct letter l = take(from, attr);

	deliver(p, from == &p->a ? &p->b : &p->a, &l);
}

void drop(struct host *from, u16 attr)
{
	take(from, attr);
}

void expect_silence(struct host *h)
{
	if (h->tray_count)
		fprintf(stderr, "unexpected %s\n",
			ur_cm_attr_name(
				ur_get_be16(h->tray[h->tray_head].mad + 16)));
	CHECK_EQ(h->tray_count, 0);
}

struct happening expect(struct host *h, enum ur_cm_event_type type, int status)
{
	struct happening e;

	if (!h->events_count)
		fprintf(stderr, "no event, expected %s\n",
			ur_cm_event_name(type));
	CHECK(h->events_count);
	e = h->events[h->events_head];
	h->events_head = (h->events_head + 1) % EVENT_MAX;
	h->events_count--;
	if (e.type != type)
		fprintf(stderr, "event %s, expected %s\n",
			ur_cm_event_name(e.type), ur_cm_event_name(type));
	CHECK_EQ(e.type, type);
	CHECK_EQ(e.status, status);
	return e;
}

void expect_no_event(struct host *h)
{
	CHECK_EQ(h->events_count, 0);
}

void wait_deadline(struct pair *p, struct host *h, u64 limit_ms)
{
	u64 at = ur_cm_deadline(h->cm);

	CHECK(at != UR_CM_NEVER);
	CHECK(at <= p->now + limit_ms * MS);
	if (at > p->now)
		p->now = at;
	ur_cm_expire(h->cm, p->now);
	check_host(h);
}

void run_dry(struct pair *p)
{
	for (;;) {
		u64 at = ur_min_u64(ur_cm_deadline(p->a.cm),
				    ur_cm_deadline(p->b.cm));

		p->a.tray_count = 0;
		p->b.tray_count = 0;
		if (at == UR_CM_NEVER)
			return;
		if (at > p->now)
			p->now = at;
		ur_cm_expire(p->a.cm, p->now);
		ur_cm_expire(p->b.cm, p->now);
		check_host(&p->a);
		check_host(&p->b);
	}
}

struct ur_cm_id *listen_on(struct host *h, u32 backlog)
{
	struct ur_cm_id *id = ur_cm_id_create(h->cm, h);

	CHECK(id);
	CHECK_EQ(ur_cm_listen(id,
			      ur_ip_cm_service_id(UR_IP_CM_PS_TCP, TEST_PORT),
			      NULL, backlog),
		 0);
	return id;
}

struct ur_cm_path path_to(const struct host *from, const struct host *to)
{
	struct ur_cm_path path = {
		.hop_limit = 64, .pkey = 0xffff, .packet_life_time = 16};

	memcpy(path.sgid, from->gid, 16);
	memcpy(path.dgid, to->gid, 16);
	return path;
}

struct ur_cm_req request(const struct host *from, const struct host *to,
			 u32 qpn)
{
	struct ur_cm_req req = {
		.service_id = ur_ip_cm_service_id(UR_IP_CM_PS_TCP, TEST_PORT),
		.local_ca_guid = from->guid,
		.local_qpn = qpn,
		.responder_resources = 1,
		.initiator_depth = 1,
		.remote_response_timeout = 20,
		.local_response_timeout = 20,
		.starting_psn = 0x111111 + qpn,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.pkey = 0xffff,
		.path_mtu = 3,
		.max_cm_retries = 15,
		.primary = {.local_lid = 0xffff,
			    .remote_lid = 0xffff,
			    .hop_limit = 64,
			    .ack_timeout = 19}};
	struct ur_ip_cm ip = {.ip_version = 4, .src_port = 40000};

	memcpy(req.primary.local_gid, from->gid, 16);
	memcpy(req.primary.remote_gid, to->gid, 16);
	memcpy(ip.src, from->gid, 16);
	memcpy(ip.dst, to->gid, 16);
	ur_ip_cm_build(&ip, req.private_data);
	memcpy(req.private_data + UR_IP_CM_BYTES, "hello", 5);
	return req;
}

struct ur_cm_rep answer(const struct host *from, u32 qpn)
{
	return (struct ur_cm_rep){.local_qpn = qpn,
				  .starting_psn = 0x222222,
				  .responder_resources = 1,
				  .initiator_depth = 1,
				  .target_ack_delay = 15,
				  .rnr_retry_count = 7,
				  .local_ca_guid = from->guid,
				  .private_data = "welcome"};
}

struct ur_cm_id *connect_start(struct pair *p, struct host *from,
			       struct host *to, u32 qpn)
{
	struct ur_cm_id *id = ur_cm_id_create(from->cm, from);
	struct ur_cm_path path = path_to(from, to);
	struct ur_cm_req req = request(from, to, qpn);

	CHECK(id);
	CHECK_EQ(ur_cm_send_req(id, &path, &req), 0);
	check_host(from);
	return id;
}

void establish(struct pair *p, u32 qpn, struct ur_cm_id **a,
	       struct ur_cm_id **b)
{
	struct ur_cm_rep rep = answer(&p->b, qpn + 1000);

	*a = connect_start(p, &p->a, &p->b, qpn);
	pass(p, &p->a, UR_CM_REQ);
	*b = expect(&p->b, UR_CM_EVENT_REQ, 0).id;
	CHECK_EQ(ur_cm_send_rep(*b, &rep), 0);
	pass(p, &p->b, UR_CM_REP);
	expect(&p->a, UR_CM_EVENT_REP, 0);
	CHECK_EQ(ur_cm_send_rtu(*a, NULL, 0), 0);
	pass(p, &p->a, UR_CM_RTU);
	expect(&p->b, UR_CM_EVENT_RTU, 0);
	CHECK_EQ(ur_cm_id_state(*a), UR_CM_ESTABLISHED_STATE);
	CHECK_EQ(ur_cm_id_state(*b), UR_CM_ESTABLISHED_STATE);
}
