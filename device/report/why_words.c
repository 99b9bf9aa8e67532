// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Texts for access rights and refusals. */
#include <inttypes.h>
#include "device/report/why.h"
#include "util/verbs_words.h"

/* Rights that a request can require; others are not listed. */
#define RIGHTS                                             \
	(UR_ACCESS_LOCAL_WRITE | UR_ACCESS_REMOTE_WRITE |  \
	 UR_ACCESS_REMOTE_READ | UR_ACCESS_REMOTE_ATOMIC | \
	 UR_ACCESS_FLUSH_GLOBAL | UR_ACCESS_FLUSH_PERSISTENT)

void ur_why_flags(FILE *out, u32 access)
{
	const char *between = "";

	for (u32 bit = 1; bit && bit <= RIGHTS; bit <<= 1) {
		if (!(access & RIGHTS & bit))
			continue;
		fprintf(out, "%s%s", between, ur_access_flag_name(bit));
		between = " | ";
	}
	if (!(access & RIGHTS))
		fputs("no access flags", out);
}

static void range(FILE *out, const struct ur_denied *d)
{
	fprintf(out, "0x%" PRIx64 " to 0x%" PRIx64, d->first,
		d->size ? d->first + d->size - 1 : d->first);
}

static void meant(FILE *out, const struct ur_denied *d)
{
	u64 upper = d->first & ~0xffffffffull;

	switch (d->meant) {
	case UR_MEANT_SWAPPED:
		fprintf(out,
			"; with its bytes turned around the address is 0x%" PRIx64
			", which is inside: it went without be64toh()",
			__builtin_bswap64(d->addr));
		break;
	case UR_MEANT_CUT:
		fprintf(out,
			"; 0x%" PRIx64 " would be inside: the address lost its "
			"upper 32 bits",
			upper | d->addr);
		break;
	case UR_MEANT_OFFSET:
		fprintf(out,
			"; it would be inside if it counted from the region's "
			"begin: 0x%" PRIx64,
			d->first + d->addr);
		break;
	case UR_MEANT_SWAPPED_KEY:
		fputs("; with its bytes turned around it is the key of ", out);
		range(out, d);
		fputs(": it went without ntohl()", out);
		break;
	default:
		break;
	}
}

static void outside(FILE *out, const struct ur_denied *d)
{
	u64 end = d->addr + d->length, last = d->first + d->size;

	if (d->addr < d->first)
		fprintf(out, "it begins %" PRIu64 " bytes before",
			d->first - d->addr);
	else if (d->addr >= last)
		fprintf(out, "it begins %" PRIu64 " bytes behind the end",
			d->addr - last);
	else
		fprintf(out, "%" PRIu64 " byte%s beyond", end - last,
			end - last == 1 ? "" : "s");
}

void ur_why_denied(FILE *out, const struct ur_denied *d, const char *key)
{
	switch (d->why) {
	case UR_DENIED_KEY:
		fprintf(out, "no region or window has the %s 0x%x", key,
			d->key);
		if (!d->meant)
			fputs(" (any more)", out);
		break;
	case UR_DENIED_DOMAIN:
		fprintf(out,
			"the %s 0x%x is of another protection domain than the "
			"queue pair",
			key, d->key);
		break;
	case UR_DENIED_RANGE:
		fprintf(out, "the %s 0x%x is for ", key, d->key);
		range(out, d);
		fputs(": ", out);
		outside(out, d);
		break;
	case UR_DENIED_RIGHTS:
		fprintf(out, "the region of %s 0x%x, ", key, d->key);
		range(out, d);
		fputs(", has ", out);
		ur_why_flags(out, d->have);
		fputs(" and lacks ", out);
		ur_why_flags(out, d->need & ~d->have);
		break;
	case UR_DENIED_UNBOUND:
		fprintf(out,
			"the window of %s 0x%x is not bound, or to another "
			"queue pair",
			key, d->key);
		break;
	default:
		fprintf(out,
			"the memory of %s 0x%x could not be reached, or went "
			"meanwhile",
			key, d->key);
	}
	meant(out, d);
}

/* The READ of UCX's uct_rc_verbs_ep_flush_remote(), with UCT_IB_MD_INVALID_FLUSH_RKEY. */
#define UCX_FENCE_BYTES 8u
#define UCX_FENCE_RKEY	0xffu

void ur_why_known(FILE *out, const struct ur_failure *f)
{
	if (f->opcode == UR_WR_READ && f->status == UR_WC_REM_ACCESS_ERR &&
	    f->length == UCX_FENCE_BYTES && !f->addr &&
	    f->rkey == UCX_FENCE_RKEY)
		fputs("  known:  UCX's strong fence reads so, with its number "
		      "for no key, on cards that are not mlx5: "
		      "UCX_FENCE_MODE=weak or ep_based\n",
		      out);
}

void ur_why_refused(FILE *out, const struct ur_failure *f)
{
	switch (f->reason) {
	case UR_REASON_MEMORY:
		ur_why_denied(out, &f->denied, "rkey");
		break;
	case UR_REASON_QP_RIGHTS:
		fputs("qp_access_flags of its queue pair has ", out);
		ur_why_flags(out, f->denied.have & ~UR_ACCESS_LOCAL_WRITE);
		fputs(" and lacks ", out);
		ur_why_flags(out, f->denied.need & ~f->denied.have);
		break;
	case UR_REASON_ALIGN:
		fprintf(out, "0x%" PRIx64 " is not a multiple of 8", f->addr);
		break;
	case UR_REASON_RESOURCES:
		fprintf(out,
			"it takes %u READs and atomics at once "
			"(max_dest_rd_atomic), and this was one more",
			f->room);
		break;
	case UR_REASON_ORDER:
		fputs("a packet of another message came in the middle of one",
		      out);
		break;
	case UR_REASON_PACKET:
		fprintf(out,
			"a packet of %u bytes does not go with its path MTU, "
			"%u (path_mtu of both ends must be the same)",
			f->got, f->room);
		break;
	case UR_REASON_RECV_SHORT:
		fprintf(out,
			"the receive that took it, wr_id 0x%" PRIx64
			", has room for %u bytes, and %u or more came",
			f->wr_id, f->room, f->got);
		break;
	case UR_REASON_RECV_MEMORY:
		fprintf(out,
			"the receive that took it, wr_id 0x%" PRIx64
			", cannot be written: ",
			f->wr_id);
		ur_why_denied(out, &f->denied, "lkey");
		break;
	case UR_REASON_INVALIDATE:
		fputs("the key to invalidate is of no window of type 2 that is "
		      "bound to its queue pair",
		      out);
		break;
	case UR_REASON_NO_RECEIVES:
		fputs("its queue pair has no receive queue", out);
		break;
	case UR_REASON_PROCESS:
		fputs("its process ended", out);
		break;
	case UR_REASON_RULE:
		fputs("a fault rule made it ('uroce fault')", out);
		break;
	default:
		fprintf(out, "it is a %s", ur_wc_status_str(f->status));
	}
}
