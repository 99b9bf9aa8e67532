// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sending: adjacent packets of the burst buffer with the same route and size become
 * one UDP_SEGMENT message; messages of one socket leave with one sendmmsg.
 */
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include "engine/faults/faults.h"
#include "engine/wire/udp_message.h"
#include "engine/wire/wire_udp.h"

/* Writes the ICRCs of packets [first, first + count), which leave as one burst. e: NULL, or spoils some. */
static void put_icrcs(const struct ur_wire_udp *w, struct ur_icrc_cache *cache,
		      const struct ur_tx *tx, u32 first, u32 count,
		      const struct ur_udp_flow *flow, const struct ur_engine *e)
{
	u32 heads = 0, len = 0;

	for (u32 k = 0; k < count; k++) {
		const struct ur_tx_desc *d = &tx->desc[first + k];
		u8 *bth = tx->buf + d->off;
		u32 crc;

		if (d->len != len) {
			len = d->len;
			heads = ur_udp_icrc_headers(w, flow, len, 0);
		}
		crc = flow->v4 ? heads ^ w->id_crc[k] : heads;
		crc = ur_icrc_packet(cache, crc, bth, len);
		if (e && ur_faults_spoils(e, first + k))
			crc = ~crc;
		ur_put_le32(bth + len, crc);
	}
}

/* Fills iov with the bytes of packets [first, first + count) of tx. Returns the number of entries. */
static u32 put_pieces(struct iovec *iov, const struct ur_tx *tx, u32 first,
		      u32 count)
{
	u32 n = 0, end = 0;

	for (u32 i = first; i < first + count; i++) {
		const struct ur_tx_desc *d = &tx->desc[i];
		u32 bytes = d->len + UR_ICRC_BYTES;

		if (n && d->off == end) {
			iov[n - 1].iov_len += bytes;
		} else {
			iov[n].iov_base = tx->buf + d->off;
			iov[n++].iov_len = bytes;
		}
		end = d->off + bytes;
	}
	return n;
}

/* Makes message m of packets [first, first + count) of tx. Returns how many entries of iov it uses. */
static u32 fill_message(const struct ur_wire_udp *w, struct ur_udp_messages *to,
			u32 m, const struct ur_tx *tx, u32 first, u32 count,
			const struct ur_udp_out *out, struct iovec *iov)
{
	const struct ur_tx_desc *d = &tx->desc[first];
	const struct ur_av *av = d->av;
	struct msghdr *msg = &to->msg[m].msg_hdr;
	int tos = av->traffic_class;
	u16 size = (u16)(d->len + UR_ICRC_BYTES);

	msg->msg_name = &to->name[m];
	msg->msg_namelen =
		ur_udp_sockaddr(w, &to->name[m], av->dgid, UR_ROCE_V2_UDP_PORT);
	if (!av->v4 && !out->no_label)
		to->name[m].v6.sin6_flowinfo = htonl(av->flow_label);
	msg->msg_iov = iov;
	msg->msg_iovlen = put_pieces(iov, tx, first, count);
	msg->msg_control = to->ctrl[m];
	msg->msg_controllen = 0;
	msg->msg_flags = 0;
	ur_udp_add_source(w, msg, av->sgid);
	ur_udp_add_ttl(msg, av->v4, av->hop_limit, av->mcast);
	/* A granted socket serves all traffic classes. */
	if ((out->granted || out->copy) && av->traffic_class)
		ur_udp_add_cmsg(msg, av->v4 ? IPPROTO_IP : IPPROTO_IPV6,
				av->v4 ? IP_TOS : IPV6_TCLASS, &tos,
				sizeof(tos));
	if (count > 1)
		ur_udp_add_cmsg(msg, IPPROTO_UDP, UDP_SEGMENT, &size,
				sizeof(size));
	to->count[m] = count;
	return (u32)msg->msg_iovlen;
}

static void count_refused(struct ur_wire_udp *w, struct ur_av *av, int error,
			  u32 packets)
{
	av->send_error = error ? error : EADDRNOTAVAIL;
	av->send_error_at = w->wire.engine->now;
	ur_engine_tally(w->wire.engine, UR_CNT_send_err, packets);
	if (error == EMSGSIZE && !w->logged_msgsize &&
	    !w->wire.engine->config.inproc) {
		w->logged_msgsize = true;
		fprintf(stderr,
			"uroced: %s: the path does not carry packets of the "
			"MTU in use; lower the QPs' path MTU\n",
			w->wire.engine->netdev);
	}
}

/*
 * Stops using flow labels on this socket: the kernel refuses labels that are not
 * leased once a program of this network namespace has an exclusive lease. Returns
 * false if messages [first, end) have none.
 */
static bool drop_labels(struct ur_wire_udp *w, struct ur_udp_out *out,
			u32 first, u32 end)
{
	bool any = false;

	for (u32 m = first; m < end; m++) {
		struct sockaddr_in6 *sa = &w->tx.name[m].v6;

		if (sa->sin6_family != AF_INET6 || !sa->sin6_flowinfo)
			continue;
		sa->sin6_flowinfo = 0;
		any = true;
	}
	out->no_label |= any;
	return any;
}

/* Returns the address vector of message m. first: the first packet of message 0. */
static struct ur_av *av_of(const struct ur_wire_udp *w, const struct ur_tx *tx,
			   u32 first, u32 m)
{
	for (u32 i = 0; i < m; i++)
		first += w->tx.count[i];
	return (struct ur_av *)tx->desc[first].av;
}

/* Sends messages [0, n) by one socket; first: the first packet of message 0. Returns how many
 * were handled; fewer than n: there is no room. */
static u32 put_out(struct ur_wire_udp *w, struct ur_udp_out *out, u32 n,
		   const struct ur_tx *tx, u32 first)
{
	u32 done = 0;
	int refused;

	for (;;) {
		done += ur_wire_put(out->fd, w->tx.msg + done, n - done,
				    &refused);
		if (!refused)
			return done;
		if (refused == EINVAL && drop_labels(w, out, done, n))
			continue;
		if (w->tx.count[done] > 1 &&
		    (refused == EIO || refused == EINVAL)) {
			/* This route does not segment. The ICRCs are for a
			 * burst, so it is lost; later packets go singly. */
			out->no_gso = true;
		}
		/* Refused by a filter, no route, or too big. It is lost, as on
		 * any wire; the transport retries or fails. */
		count_refused(w, av_of(w, tx, first, done), refused,
			      w->tx.count[done]);
		done++;
	}
}

static bool is_for_ring(struct ur_wire_udp *w, const struct ur_udp_out *out,
			const struct ur_tx *tx, u32 i)
{
	return w->paired && out->granted && ur_udp_pair_for(w, tx, i);
}

/* Puts packets from i on into rings to programs of this host. Returns the first one that is for no ring. */
static u32 put_in_rings(struct ur_wire_udp *w, const struct ur_tx *tx, u32 i,
			u32 end)
{
	while (i < end) {
		struct ur_udp_out *o =
			ur_udp_out(w, (struct ur_av *)tx->desc[i].av);
		struct ur_udp_pair *p =
			o && o->granted ? ur_udp_pair_for(w, tx, i) : NULL;

		if (!p)
			break;
		i += ur_udp_pair_send(w, p, tx, i, end);
	}
	return i;
}

static struct ur_udp_flow flow_of(const struct ur_av *av,
				  const struct ur_udp_out *out)
{
	return (struct ur_udp_flow){av->sgid, av->dgid, out->sport, av->v4};
}

static u32 put_all(struct ur_wire_udp *w, const struct ur_tx *tx, u32 first,
		   u32 end, int *wait_fd)
{
	u32 i = first;

	while (i < end) {
		struct ur_udp_out *out = NULL;
		u32 n = 0, pieces = 0, taken = 0, done, start = i;

		if (w->paired)
			i = put_in_rings(w, tx, i, end);
		start = i;
		while (i < end && n < UR_UDP_TX_MSGS &&
		       pieces <= UR_UDP_TX_IOVS - UR_UDP_SEGS) {
			struct ur_av *av = (struct ur_av *)tx->desc[i].av;
			struct ur_udp_out *o = ur_udp_out(w, av);
			struct ur_udp_flow flow;
			u32 count;

			/* The address is lost, or the ring that has the payload. */
			if (!o ||
			    (tx->desc[i].split && !is_for_ring(w, o, tx, i))) {
				if (n)
					break;
				count_refused(w, av, 0, 1);
				start = ++i;
				continue;
			}
			if ((out && o != out) || is_for_ring(w, o, tx, i))
				break;
			out = o;
			count = o->no_gso ? 1
					  : ur_udp_run_length(tx, i, end, true);
			flow = flow_of(av, o);
			put_icrcs(w, w->icrc_cache, tx, i, count, &flow,
				  w->wire.engine);
			pieces += fill_message(w, &w->tx, n++, tx, i, count, o,
					       &w->tx.iov[pieces]);
			i += count;
		}
		if (!n)
			continue;
		done = put_out(w, out, n, tx, start);
		for (u32 m = 0; m < done; m++)
			taken += w->tx.count[m];
		if (done < n) {
			*wait_fd = out->fd;
			return start + taken - first;
		}
	}
	return end - first;
}

u32 ur_udp_send(struct ur_wire *wire, const struct ur_tx *tx, u32 first,
		u32 end, int *wait_fd)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	u32 taken = put_all(w, tx, first, end, wait_fd);

	if (w->paired)
		ur_udp_pairs_publish(w);
	return taken;
}

/* ---- without the owner lock ---- */

struct ur_udp_pack *ur_udp_pack_new(void)
{
	return calloc(1, sizeof(struct ur_udp_pack));
}

/* Returns the socket that all packets of tx can leave by, or NULL. */
static struct ur_udp_out *only_out(struct ur_wire_udp *w,
				   const struct ur_tx *tx)
{
	struct ur_av *av = (struct ur_av *)tx->desc[0].av;
	struct ur_udp_out *out;

	for (u32 i = 0; i < tx->n_desc; i++)
		if (tx->desc[i].split || tx->desc[i].av->v1 ||
		    tx->desc[i].av->raw || tx->desc[i].av->loop ||
		    !ur_udp_same_path(tx->desc[i].av, av))
			return NULL;
	out = ur_udp_out(w, av);
	return out && !(w->paired && out->granted) ? out : NULL;
}

bool ur_udp_pack(struct ur_wire *wire, const struct ur_tx *tx,
		 struct ur_udp_pack *p)
{
	struct ur_wire_udp *w = ur_container_of(wire, struct ur_wire_udp, wire);
	u32 i = 0, pieces = 0;

	p->out = only_out(w, tx);
	if (!p->out)
		return false;
	p->wire = w;
	p->flow = flow_of(tx->desc[0].av, p->out);
	for (p->n = 0; i < tx->n_desc; i += p->m.count[p->n++]) {
		u32 count =
			p->out->no_gso
				? 1
				: ur_udp_run_length(tx, i, tx->n_desc, true);

		if (p->n == UR_UDP_TX_MSGS ||
		    pieces > UR_UDP_TX_IOVS - UR_UDP_SEGS)
			return false;
		pieces += fill_message(w, &p->m, p->n, tx, i, count, p->out,
				       &p->m.iov[pieces]);
	}
	p->out->packs++;
	return true;
}

u32 ur_udp_pack_send(struct ur_udp_pack *p, const struct ur_tx *tx)
{
	u32 first = 0, done = 0, sent;
	int refused;

	for (u32 m = 0; m < p->n; m++) {
		put_icrcs(p->wire, &p->icrc_cache, tx, first, p->m.count[m],
			  &p->flow, NULL);
		first += p->m.count[m];
	}
	sent = ur_wire_put(p->out->fd, p->m.msg, p->n, &refused);
	for (u32 m = 0; m < sent; m++)
		done += p->m.count[m];
	return done;
}

void ur_udp_pack_end(struct ur_udp_pack *p)
{
	p->out->packs--;
}
