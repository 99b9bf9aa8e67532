// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The explanation of a connection that rdma_cm failed to make. */
#include <errno.h>
#include <string.h>
#include "device/report/why.h"

/* REJ reasons, IBTA volume 1, table 110 (12.6.7.2). */
static const char *reject_reason(int reason)
{
	switch (reason) {
	case 1:
		return "it has no queue pair left";
	case 3:
		return "it has no resources";
	case 4:
		return "it gave up waiting for an answer of this end";
	case 5:
		return "it does not support the request";
	case 6:
		return "it does not know the connection";
	case 8:
		return "nobody listens on that port there";
	case 9:
		return "the listener is of another kind (RC, UC, UD)";
	case 10:
		return "the connection is stale: this queue pair is "
		       "connected to it still";
	case 12:
		return "it does not know the GID";
	case 26:
		return "it does not take the path's MTU";
	case 27:
		return "it has not so many responder_resources";
	case 28:
		return "its program refused it (rdma_reject(), or the id was "
		       "destroyed)";
	case 29:
		return "it does not take the RNR retry count";
	default:
		return "see IBTA volume 1, 12.6.7.2";
	}
}

void ur_why_cm_story(FILE *out, const struct ur_why *y)
{
	bool rejected = y->event == 8; /* RDMA_CM_EVENT_REJECTED */

	fprintf(out,
		"connection to %s %s\n  of:     pid %d (%s) on %s\n"
		"  why:    ",
		y->dst,
		rejected ? "was rejected (RDMA_CM_EVENT_REJECTED)"
			 : "was not made (RDMA_CM_EVENT_UNREACHABLE)",
		(int)y->pid, y->comm, y->device);
	if (rejected)
		fprintf(out, "the other end says: %s (reason %d)\n",
			reject_reason(y->status), y->status);
	else if (y->status == -ETIMEDOUT)
		fputs("no answer came to any of its requests: no RoCE device "
		      "or a firewall at that address (UDP port 4791), or the "
		      "listener was too slow\n",
		      out);
	else if (y->status > 0)
		fprintf(out,
			"the other end answered with status %d of a datagram "
			"listener: nobody listens there, or it refused\n",
			y->status);
	else
		fprintf(out, "%s\n", strerror(-y->status));
}
