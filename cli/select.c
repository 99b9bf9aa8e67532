// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Selects packets by address and queue pair. */
#include <arpa/inet.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/peer.h"
#include "cli/select.h"
#include "cli/status.h"
#include "transport/packet.h"

/* Is silent without a device, which is not required. */
static struct json_object *ask_device(const struct ur_options *options)
{
	int sock = ur_client_connect(options->run_dir);
	struct json_object *status = NULL;
	char *text;
	size_t size;

	if (sock < 0)
		return NULL;
	if (!ur_client_status(sock, "", &text, &size)) {
		status = json_tokener_parse(text);
		free(text);
	}
	close(sock);
	return status;
}

/* Finds the peer of a connected queue pair: its packets name only the peer. */
static void find_far_end(struct ur_select *select,
			 const struct ur_options *options)
{
	struct json_object *status = ask_device(options);

	if (!status)
		return;
	ur_json_each(qp, ur_json_array(status, "qps")) {
		if (ur_json_number(qp, "qpn") != select->qpn ||
		    inet_pton(AF_INET6, ur_status_text(qp, "dgid"),
			      select->far_gid) != 1)
			continue;
		select->far_qpn = (uint32_t)ur_json_number(qp, "dest_qpn");
		select->by_far = true;
	}
	json_object_put(status);
}

int ur_select_init(struct ur_select *select, const struct ur_options *options)
{
	struct ur_peer peer = {0};

	memset(select, 0, sizeof(*select));
	if (options->peer) {
		if (ur_peer_find(&peer, options->peer))
			return UR_EXIT_FAILED;
		ur_peer_gid(&peer, select->peer);
		select->by_peer = true;
	}
	if (options->qpn >= 0) {
		select->by_qpn = true;
		select->qpn = (uint32_t)options->qpn;
		find_far_end(select, options);
	}
	return 0;
}

static bool wants_qpn(const struct ur_select *select,
		      const struct ur_frame *frame)
{
	struct ur_pkt pkt;

	if (frame->bth_bytes >= UR_BTH_BYTES) {
		uint32_t dqpn = ur_bth_dqpn(frame->bth);

		if (dqpn == select->qpn)
			return true;
		if (select->by_far && dqpn == select->far_qpn &&
		    !memcmp(frame->addr.dgid, select->far_gid, 16))
			return true;
	}
	/* Datagrams have the source QPN. */
	return ur_pkt_parse(&pkt, frame->bth, frame->bth_bytes) == UR_PKT_OK &&
	       pkt.op->flags & UR_OPF_DETH && pkt.sqpn == select->qpn;
}

bool ur_select_wants(const struct ur_select *select, bool v1,
		     const uint8_t *packet, size_t len)
{
	struct ur_frame frame;
	enum ur_frame_error error;

	if (!select->by_peer && !select->by_qpn)
		return true;
	error = ur_frame_parse(&frame, v1, packet, len);
	/* A packet with a bad ICRC is selected by its headers. */
	if (error != UR_FRAME_OK && error != UR_FRAME_ICRC)
		return false;
	if (select->by_peer && memcmp(frame.addr.sgid, select->peer, 16) &&
	    memcmp(frame.addr.dgid, select->peer, 16))
		return false;
	return !select->by_qpn || wants_qpn(select, &frame);
}
