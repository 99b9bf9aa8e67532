// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The listener: serves one asker at a time, which gets a queue pair for as long as the
 * tally permits. Others are refused meanwhile.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/path/asker.h"
#include "cli/path/lines.h"

#define BACKLOG	   4
#define QUANTUM_NS 50000000ull

/* Traffic classes that a session may use: an address handle for each. */
#define CLASSES_MAX 16

struct session {
	struct rdma_cm_id *id; /* NULL: no asker */
	struct ur_path_queue queue;
	struct ur_path_tally tally;
	char name[NI_MAXHOST];
	uint32_t qpn; /* of the asker, after its first datagram */
	uint32_t qkey, refused;
	struct ibv_ah *ah[CLASSES_MAX];
	uint8_t tclass[CLASSES_MAX];
	int classes;
};

static void end_session(struct session *s)
{
	printf("%s %s %u %u\n", UR_PATH_SERVED, s->name, s->tally.taken,
	       s->refused);
	for (int i = 0; i < s->classes; i++)
		ibv_destroy_ah(s->ah[i]);
	ur_path_queue_close(&s->queue);
	rdma_destroy_id(s->id);
	*s = (struct session){0};
}

static int accept_asker(struct session *s)
{
	struct ur_path_welcome welcome = {.version = UR_PATH_VERSION};
	struct rdma_conn_param param = {.private_data = &welcome,
					.private_data_len = sizeof(welcome),
					.qp_num = s->id->qp->qp_num};

	if (getrandom(&welcome.token, sizeof(welcome.token), 0) !=
	    sizeof(welcome.token))
		return -EIO;
	welcome.active_mtu = htonl(ur_path_queue_mtu(&s->queue));
	ur_path_tally_begin(&s->tally, be64toh(welcome.token), ur_path_now());
	return rdma_accept(s->id, &param) ? -errno : 0;
}

static void begin_session(struct session *s, struct rdma_cm_id *id)
{
	if (s->id || ur_path_queue_open(&s->queue, id)) {
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
		return;
	}
	s->id = id;
	s->qkey = RDMA_UDP_QKEY;
	if (getnameinfo(rdma_get_peer_addr(id), sizeof(struct sockaddr_in6),
			s->name, sizeof(s->name), NULL, 0, NI_NUMERICHOST))
		strcpy(s->name, "?");
	if (accept_asker(s)) {
		end_session(s);
		return;
	}
	printf("%s %s\n", UR_PATH_SERVING, s->name);
}

/* Returns the handle to the sender of got for that traffic class, or NULL. */
static struct ibv_ah *handle(struct session *s, struct ur_path_received *got,
			     uint8_t tclass)
{
	struct ibv_ah_attr attr = {0};
	struct ibv_ah *ah;

	for (int i = 0; i < s->classes; i++)
		if (s->tclass[i] == tclass)
			return s->ah[i];
	if (s->classes == CLASSES_MAX ||
	    ibv_init_ah_from_wc(s->id->verbs, s->id->port_num, &got->wc,
				&got->grh, &attr))
		return NULL;
	/* A device of ours sends answers with the ECN bits of their handle only after a
	 * program has made a handle with ECT. The asker makes one in ask_self(). */
	attr.grh.traffic_class = UR_ECN_IS_ECT0;
	ah = s->classes ? NULL : ibv_create_ah(s->queue.pd, &attr);
	if (ah)
		ibv_destroy_ah(ah);
	attr.grh.traffic_class = tclass;
	s->ah[s->classes] = ibv_create_ah(s->queue.pd, &attr);
	if (!s->ah[s->classes])
		return NULL;
	s->tclass[s->classes] = tclass;
	return s->ah[s->classes++];
}

/* Handles one datagram. Returns false if the session is to end. */
static bool serve_one(struct session *s, struct ur_path_received *got)
{
	struct ur_path_message reply;
	struct ur_path_target to = {.qpn = got->wc.src_qp, .qkey = s->qkey};
	enum ur_path_reply what = UR_PATH_REFUSE;

	if (!s->qpn || s->qpn == to.qpn)
		what = ur_path_tally_take(&s->tally, &got->arrival, &reply);
	if (what == UR_PATH_REFUSE) {
		s->refused++;
		return true;
	}
	s->qpn = to.qpn;
	if (what == UR_PATH_ANSWER) {
		to.ah = handle(s, got, reply.tclass);
		/* A queue pair that cannot send ends the session. */
		return !to.ah || !ur_path_queue_send(&s->queue, &to, &reply,
						     got->arrival.bytes);
	}
	return what != UR_PATH_FINISH;
}

/* Serves for a moment. */
static void serve(struct session *s)
{
	uint64_t until = ur_path_now() + QUANTUM_NS;
	struct ur_path_received got;
	bool on = true;

	while (on) {
		int n = ur_path_queue_receive(&s->queue, until, &got);

		if (n == 0)
			break;
		on = n > 0 && serve_one(s, &got) &&
		     !ur_path_tally_over(&s->tally, got.arrival.ns);
		if (got.arrival.ns >= until)
			break;
	}
	if (!on || ur_path_tally_over(&s->tally, ur_path_now()))
		end_session(s);
}

/* Returns an exit status, or 0 to continue. */
static int take_event(struct rdma_event_channel *channel,
		      const struct rdma_cm_id *listener, struct session *s)
{
	enum rdma_cm_event_type what;
	struct rdma_cm_event *event;
	struct rdma_cm_id *of;

	if (rdma_get_cm_event(channel, &event))
		return ur_path_fail(UR_PATH_LOCAL, strerror(errno));
	what = event->event;
	of = event->id;
	rdma_ack_cm_event(event);
	if (what == RDMA_CM_EVENT_CONNECT_REQUEST)
		begin_session(s, of);
	else if (what == RDMA_CM_EVENT_DEVICE_REMOVAL && of == listener)
		return ur_path_fail(UR_PATH_LOCAL, "device removed");
	else if (of == s->id)
		end_session(s);
	return 0;
}

int ur_path_listen(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_in6 any = {.sin6_family = AF_INET6,
				   .sin6_port =
					   htons((uint16_t)atoi(UR_PATH_PORT))};
	struct session session = {0};
	struct rdma_cm_id *id;
	int status = 0;

	if (!channel || rdma_create_id(channel, &id, NULL, RDMA_PS_UDP) ||
	    rdma_bind_addr(id, (struct sockaddr *)&any) ||
	    rdma_listen(id, BACKLOG))
		return ur_path_fail(UR_PATH_LOCAL, strerror(errno));
	puts(UR_PATH_LISTENING);
	while (!status) {
		struct pollfd pfd = {.fd = channel->fd, .events = POLLIN};
		int n = poll(&pfd, 1, session.id ? 0 : -1);

		if (n < 0)
			status = ur_path_fail(UR_PATH_LOCAL, strerror(errno));
		else if (n)
			status = take_event(channel, id, &session);
		else if (session.id)
			serve(&session);
	}
	return status;
}
