// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The explanation of a failure. For the other end it uses our records if the asker may see
 * them; otherwise, as with a card, only the packets received from there.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "device/administrator.h"
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/objects.h"
#include "device/uverbs/ufile.h"
#include "device/report/why.h"
#include "util/verbs_words.h"

static void who(FILE *out, const struct ur_why *y)
{
	fprintf(out, "queue pair 0x%06x of pid %d (%s) on %s", y->qpn,
		(int)y->pid, y->comm, y->device);
}

static void address(FILE *out, const struct ur_why *y)
{
	char text[INET6_ADDRSTRLEN];

	if (!y->have_path)
		return;
	if (ur_gid_is_v4(y->path.dgid))
		inet_ntop(AF_INET, y->path.dgid + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, y->path.dgid, text, sizeof(text));
	fprintf(out, ", connected to 0x%06x at %s", y->dest_qpn, text);
}

/* ---- a NAK without a record of the other end ---- */

static u32 needed(u8 opcode)
{
	if (opcode == UR_WR_READ)
		return UR_ACCESS_REMOTE_READ;
	if (opcode >= UR_WR_CMP_SWAP && opcode <= UR_WR_MASK_FETCH_ADD)
		return UR_ACCESS_REMOTE_ATOMIC;
	return UR_ACCESS_REMOTE_WRITE;
}

static void by_code(FILE *out, const struct ur_failure *f)
{
	switch (f->status) {
	case UR_WC_REM_ACCESS_ERR:
		fputs("its peer refused the memory (NAK, remote access error): "
		      "the rkey is not, or no longer, that of a region that "
		      "holds all of the range, or the region lacks ",
		      out);
		ur_why_flags(out, needed(f->opcode));
		fputs("; its side: 'uroce why' there", out);
		break;
	case UR_WC_REM_OP_ERR:
		fputs("its peer could not carry it out (NAK, remote "
		      "operational error): most often the memory of its "
		      "receive is not what its lkey is for",
		      out);
		break;
	default:
		fputs("its peer takes no such request (NAK, invalid request): ",
		      out);
		if (f->opcode < UR_WR_WRITE)
			fputs("the message is longer than its receive, or "
			      "path_mtu is another there",
			      out);
		else
			fputs("qp_access_flags of its queue pair lack the "
			      "right, its max_dest_rd_atomic is smaller than "
			      "max_rd_atomic here, path_mtu is another there, "
			      "or an atomic's address is not a multiple of 8",
			      out);
	}
}

static void refused(FILE *out, struct ur_daemon *daemon, struct ur_device *dev,
		    const struct ur_session *asker, const struct ur_why *y)
{
	struct ur_why theirs;

	if (!dev || !ur_why_of_peer(daemon, dev, asker, y, &theirs)) {
		by_code(out, &y->failure);
		return;
	}
	fputs("its peer, ", out);
	who(out, &theirs);
	fputs(", refused it: ", out);
	ur_why_refused(out, &theirs.failure);
	if (theirs.failure.reason == UR_REASON_PACKET)
		fprintf(out, "; here it is %u", y->path_mtu);
}

/* ---- no response ---- */

/* Returns whether rq_psn is current: for a queue pair in a program we know only its initial
 * value. */
static bool is_known(const struct ur_obj_qp *qp, const struct ur_why *y)
{
	return !y->failure.answered;
}

/* Writes why an existing queue pair did not respond. Returns false if its present state
 * shows no reason. */
static bool blame_live(FILE *out, struct ur_obj_qp *qp, const struct ur_why *y)
{
	const struct ur_epath *path = &qp->qpc->path;
	bool have_path = qp->qpc->have_path;
	struct ur_qp_attr attr;

	ur_qpc_look(qp->qpc, &attr);
	if (attr.state < UR_QP_RTR || attr.state > UR_QP_SQD)
		fprintf(out, "is in %s, and answers nobody",
			ur_qp_state_name(attr.state));
	else if (attr.dest_qpn != y->qpn)
		fprintf(out, "is connected to queue pair 0x%06x, not to this",
			attr.dest_qpn);
	else if (have_path && path->v1 != y->path.v1)
		fprintf(out,
			"is connected by RoCE %s and this one by RoCE %s: "
			"sgid_index names GIDs of different types",
			path->v1 ? "v1" : "v2", y->path.v1 ? "v1" : "v2");
	else if (have_path && (memcmp(path->dgid, y->path.sgid, 16) ||
			       memcmp(path->sgid, y->path.dgid, 16)))
		fputs("is connected by other GIDs than this one", out);
	else if (attr.rq_psn != y->failure.psn && is_known(qp, y))
		fprintf(out,
			"waits for PSN 0x%06x, and 0x%06x was sent: sq_psn "
			"here and rq_psn there differ",
			attr.rq_psn, y->failure.psn);
	else
		return false;
	return true;
}

static bool blame_peer(FILE *out, struct ur_daemon *daemon,
		       struct ur_device *dev, const struct ur_session *asker,
		       const struct ur_why *y)
{
	const struct ur_obj_qp *owner = ur_qpc_owner(dev, y->dest_qpn);
	struct ur_obj_qp *qp = ur_why_live_peer(dev, asker, y);
	char text[256] = "";
	FILE *part;
	bool found;

	/* Only an administrator may learn of others' queue pairs. */
	if (!qp && !ur_is_administrator(asker)) {
		fprintf(out,
			"no queue pair of this user's on %s has the number "
			"0x%06x; ",
			dev->name, y->dest_qpn);
		return false;
	}
	if (!owner || ur_destroy_is_hinted(&owner->obj)) {
		fprintf(out, "there is no queue pair 0x%06x on %s (any more)",
			y->dest_qpn, dev->name);
		return true;
	}
	part = fmemopen(text, sizeof(text), "w");
	if (!part)
		return false;
	found = blame_live(part, qp, y);
	fclose(part);
	if (found)
		fprintf(out, "queue pair 0x%06x of pid %d (%s) on %s %s",
			y->dest_qpn, (int)qp->obj.file->session->pid,
			qp->obj.file->session->comm, dev->name, text);
	return found;
}

static void not_sent(FILE *out, int error)
{
	fprintf(out,
		"the kernel did not send its packets (%s): ", strerror(error));
	switch (error) {
	case EMSGSIZE:
		fputs("the path does not carry packets of this path_mtu: take "
		      "a smaller one",
		      out);
		break;
	case EPERM:
		fputs("a firewall of this host drops UDP port 4791 on the way "
		      "out",
		      out);
		break;
	case ENETUNREACH:
	case EHOSTUNREACH:
		fputs("there is no route to that address ('ip route get')",
		      out);
		break;
	default:
		fputs("'uroce stat' counts them as send_err", out);
	}
}

static void silence(FILE *out, struct ur_daemon *daemon, struct ur_device *dev,
		    const struct ur_session *asker, const struct ur_why *y)
{
	const struct ur_failure *f = &y->failure;

	if (f->send_error)
		not_sent(out, f->send_error);
	else if (dev && blame_peer(out, daemon, dev, asker, y))
		return;
	else if (f->by_nak)
		fputs("its peer answered each time that a packet is missing "
		      "(NAK, PSN sequence error): they are lost on the way "
		      "there",
		      out);
	else if (f->stray)
		fprintf(out,
			"its peer answers about PSN 0x%06x, and 0x%06x was "
			"sent: sq_psn here and rq_psn there differ",
			f->stray_psn, f->psn);
	else if (f->answered)
		fputs("its peer answered before, and then no more: it ended, "
		      "its queue pair left RTS, or the network lost all",
		      out);
	else
		fputs("nothing ever came from its peer: no RoCE device or a "
		      "firewall at that address (UDP port 4791), no such "
		      "queue pair or none in RTR, another GID type (RoCE v1 or "
		      "v2) or another PSN there",
		      out);
}

static void retries(FILE *out, const struct ur_failure *f)
{
	if (f->reason == UR_REASON_RNR)
		fprintf(out, "  tries:  %u in %" PRIu64 " ms (rnr_retry %u)\n",
			f->rnr_retries + 1u, f->waited_ns / 1000000,
			f->rnr_retry);
	else if (f->reason == UR_REASON_SILENCE)
		fprintf(out,
			"  tries:  %u in %" PRIu64
			" ms (timeout %u: %.3g ms, retry_cnt %u)%s\n",
			f->retries + 1u, f->waited_ns / 1000000, f->timeout,
			f->timeout ? (double)ur_ack_timeout_ns(f->timeout) / 1e6
				   : 0.0,
			f->retry_cnt,
			f->probes ? ", and early ones between" : "");
}

/* ---- a request of its own ---- */

static void own(FILE *out, struct ur_daemon *daemon,
		const struct ur_session *asker, const struct ur_why *y)
{
	struct ur_device *dev =
		y->have_path ? ur_why_device_at(daemon, y->path.dgid) : NULL;
	const struct ur_failure *f = &y->failure;
	struct ur_obj_qp *peer = dev ? ur_why_live_peer(dev, asker, y) : NULL;

	switch (f->reason) {
	case UR_REASON_NAK:
		refused(out, daemon, dev, asker, y);
		break;
	case UR_REASON_SILENCE:
		silence(out, daemon, dev, asker, y);
		break;
	case UR_REASON_RNR:
		fputs("its peer", out);
		if (peer)
			fprintf(out, ", queue pair 0x%06x of pid %d (%s),",
				y->dest_qpn, (int)peer->obj.file->session->pid,
				peer->obj.file->session->comm);
		fputs(" had no receive posted (RNR NAK each time)", out);
		break;
	case UR_REASON_SOURCE:
		fputs("its own memory: ", out);
		ur_why_denied(out, &f->denied, "lkey");
		break;
	case UR_REASON_ANSWER:
		fputs("the answer of its peer does not fit the request", out);
		break;
	case UR_REASON_FORM:
		fputs("its opcode, its number of elements or its length is not "
		      "one that this queue pair takes",
		      out);
		break;
	case UR_REASON_RULE:
		fputs("a fault rule made it ('uroce fault')", out);
		break;
	case UR_REASON_RING:
		fputs("the program wrote over its queue", out);
		break;
	case UR_REASON_CQ:
		fputs("its completion queue was full", out);
		break;
	default:
		fputs("it says so itself", out);
	}
}

static void request(FILE *out, const struct ur_failure *f)
{
	fputs(ur_wqe_opcode_words(f->opcode), out);
	if (!f->peers)
		fprintf(out, " wr_id 0x%" PRIx64, f->wr_id);
	fprintf(out, ", %" PRIu64 " bytes", f->length);
	if (f->addr || f->rkey)
		fprintf(out, " %s 0x%" PRIx64 " with rkey 0x%x",
			f->opcode == UR_WR_READ ? "from" : "to", f->addr,
			f->rkey);
}

static void of_peer(FILE *out, struct ur_daemon *daemon,
		    const struct ur_session *asker, const struct ur_why *y)
{
	struct ur_device *dev =
		y->have_path ? ur_why_device_at(daemon, y->path.dgid) : NULL;
	struct ur_obj_qp *peer = dev ? ur_why_live_peer(dev, asker, y) : NULL;

	ur_why_refused(out, &y->failure);
	if (peer)
		fprintf(out, "\n  peer:   queue pair 0x%06x of pid %d (%s)",
			y->dest_qpn, (int)peer->obj.file->session->pid,
			peer->obj.file->session->comm);
}

void ur_why_story(FILE *out, struct ur_daemon *daemon,
		  const struct ur_session *asker, const struct ur_why *y)
{
	const struct ur_failure *f = &y->failure;

	if (y->cm) {
		ur_why_cm_story(out, y);
		return;
	}
	if (f->reason == UR_REASON_RING || f->reason == UR_REASON_CQ) {
		fputs("the queue pair failed (fatal event)", out);
	} else {
		if (f->peers)
			fputs("refused a request of its peer: ", out);
		request(out, f);
		if (!f->peers)
			fprintf(out, ": %s (status %u)",
				ur_wc_status_str(f->status), f->status);
	}
	fputs("\n  of:     ", out);
	who(out, y);
	address(out, y);
	fputs("\n  why:    ", out);
	if (f->peers)
		of_peer(out, daemon, asker, y);
	else
		own(out, daemon, asker, y);
	fputc('\n', out);
	ur_why_known(out, f);
	retries(out, f);
}
