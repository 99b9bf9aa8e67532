// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * uroce ping: sends a request to another RoCE device's connection manager. Without a reply
 * it finds the failing step: our own address and GID, our firewall, the peer's host, its
 * port 4791, the MTU on the path. With --rc it then connects to a service of the peer, and
 * sends packets on the connection.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/launch.h"
#include "cli/ping_cm.h"
#include "cli/ping_probe.h"
#include "cli/ping_rc.h"
#include "cli/port.h"
#include "cli/status.h"

/* The first timeout allows for a sleeping or busy device. The further requests make up for
 * lost packets: with 5 % loss four of them fail once in ten thousand pings. */
#define TIMEOUT_MS 2000
#define AGAIN_MS   500
#define SILENT_MAX 4

/* The result, for people and for programs. */
struct verdict {
	const char *cause; /* one word; NULL: the peer answers */
	char text[512];
};

__attribute__((format(printf, 3, 4))) static void
conclude(struct verdict *v, const char *cause, const char *format, ...)
{
	va_list ap;

	v->cause = cause;
	va_start(ap, format);
	vsnprintf(v->text, sizeof(v->text), format, ap);
	va_end(ap);
}

static void explain_local(struct verdict *v, const struct ur_peer *peer,
			  int err)
{
	if (err == -ENODEV || err == -EADDRNOTAVAIL)
		conclude(v, "gid",
			 "%s is reached from an address that is no GID of the "
			 "device: 'ip route get %s' says which, 'uroce link' "
			 "what there is; start the device with that --netdev",
			 peer->text, peer->text);
	else if (err == -ETIMEDOUT || err == -EHOSTUNREACH)
		conclude(v, "address",
			 "no neighbour answers for %s: it is down, or on "
			 "another network ('ip neigh')",
			 peer->text);
	else if (err == -ENETUNREACH)
		conclude(v, "route", "there is no route to %s ('ip route')",
			 peer->text);
	else
		conclude(v, "address", "%s cannot be resolved: %s", peer->text,
			 strerror(-err));
}

static void explain_silence(struct verdict *v, struct ur_peer *peer)
{
	int err = ur_probe_port(peer);

	if (err == EPERM || err == EACCES)
		conclude(v, "filtered",
			 "this machine's firewall refuses UDP to port %d of "
			 "%s: 'nft list ruleset'; allow udp dport %d",
			 UR_ROCE_PORT, peer->text, UR_ROCE_PORT);
	else if (err == ECONNREFUSED)
		conclude(v, "no-device",
			 "%s answers, but nothing has its UDP port %d: no "
			 "device is running there, or that address is no GID "
			 "of it; 'uroce doctor' and 'uroce link' on that "
			 "machine",
			 peer->text, UR_ROCE_PORT);
	else if (err == EHOSTUNREACH)
		conclude(v, "address",
			 "no neighbour answers for %s: it is down, or on "
			 "another network ('ip neigh')",
			 peer->text);
	else if (ur_probe_fits(peer, 64))
		conclude(v, "filtered",
			 "%s answers, its UDP port %d does not: filtered by a "
			 "firewall (there, here or on the way: 'uroce doctor' "
			 "on both; allow udp dport %d), or what has the port "
			 "does not speak RoCE",
			 peer->text, UR_ROCE_PORT, UR_ROCE_PORT);
	else
		conclude(v, "address",
			 "%s answers neither RoCE nor an echo: down, or "
			 "everything filtered",
			 peer->text);
}

/* Small packets cross: tests those of the device's active MTU. */
static void check_mtu(struct verdict *v, const struct ur_options *options,
		      struct ur_peer *peer)
{
	struct json_object *status;
	int64_t mtu = 0;

	status = ur_status_get(options, "");
	if (!status)
		return;
	ur_json_each(device, ur_json_array(status, "devices")) {
		int64_t one = ur_json_number(device, "active_mtu");

		if (!mtu || one < mtu)
			mtu = one;
	}
	json_object_put(status);
	/* UDP, BTH, longest extended header, ICRC. If small packets get no answer either,
	 * large ones prove nothing. */
	if (ur_probe_fits(peer, (size_t)mtu + 8 + 12 + 16 + 4) ||
	    !ur_probe_fits(peer, 64))
		return;
	conclude(v, "mtu",
		 "small packets reach %s, those with %lld bytes do not: an MTU "
		 "on the way is smaller than this interface's; lower it ('ip "
		 "link set IF mtu'), or use a path MTU below %lld in the "
		 "program",
		 peer->text, (long long)mtu, (long long)mtu);
}

static void print_answer(const struct ur_peer *peer, int err, double us,
			 struct json_object *out)
{
	if (out)
		json_object_array_add(out,
				      err ? NULL : json_object_new_double(us));
	else if (err)
		printf("%s: no answer\n", peer->text);
	else
		printf("%s: answer in %.0f us\n", peer->text, us);
}

/* Asks @count times. Until the first answer it asks SILENT_MAX times instead: more would
 * not help, and fewer would take one lost packet for silence. Returns the number of
 * answers. */
static int ask_all(struct ur_ping_cm *cm, struct verdict *v,
		   struct ur_peer *peer, int count, struct json_object *out)
{
	enum ur_ping_step step = UR_PING_ADDRESS;
	int answers = 0, err = 0;

	for (int i = 0; answers ? i < count : i < SILENT_MAX; i++) {
		double us = 0;

		err = ur_ping_cm_ask(
			cm, (struct sockaddr *)&peer->addr, peer->size,
			i && !answers ? AGAIN_MS : TIMEOUT_MS, &step, &us);
		if (err && step != UR_PING_ANSWER) {
			explain_local(v, peer, err);
			break;
		}
		answers += !err;
		print_answer(peer, err, us, out);
	}
	return answers;
}

static void explain_rc(struct verdict *v, const struct ur_peer *peer, int port,
		       const struct ur_ping_rc *rc)
{
	switch (rc->end) {
	case UR_PING_RC_OK:
		break;
	case UR_PING_RC_NO_SERVICE:
		conclude(v, "no-service",
			 "%s speaks RoCE, but nobody listens on rdma_cm port "
			 "%d: run 'uroce ping --listen %d' there, or, on any "
			 "RDMA device, 'rping -s -P -p %d'",
			 peer->text, port, port, port);
		break;
	case UR_PING_RC_LOCAL:
		conclude(v, "local", "no RC queue pair on this host: %s",
			 *rc->why ? rc->why : "see above");
		break;
	case UR_PING_RC_REFUSED:
		conclude(v, "refused",
			 "the service on rdma_cm port %d of %s refuses the "
			 "connection (%s): ask another one, as 'uroce ping "
			 "--listen' or 'rping -s -P'",
			 port, peer->text, rc->why);
		break;
	case UR_PING_RC_SILENT:
		conclude(v, "rc",
			 "%s answers, but not the request to connect to "
			 "rdma_cm port %d",
			 peer->text, port);
		break;
	case UR_PING_RC_LOST:
		conclude(v, "rc",
			 "the connection to %s stands, but packets on it are "
			 "not acknowledged (%s): something on the way tells "
			 "packets to UDP port %d apart ('nft list ruleset'), "
			 "or the service has gone",
			 peer->text, rc->why, UR_ROCE_PORT);
		break;
	case UR_PING_RC_MTU:
		conclude(v, "mtu",
			 "small RC packets reach %s, those with %d bytes do "
			 "not: the MTU of an interface on the way or of the "
			 "peer is smaller than this interface's; lower it "
			 "('ip link set IF mtu'), or use a path MTU below %d "
			 "in the program",
			 peer->text, rc->mtu, rc->mtu);
		break;
	}
}

static void check_rc(struct verdict *v, const struct ur_options *options,
		     const struct ur_peer *peer, int count,
		     struct json_object *out)
{
	struct json_object *times = NULL;
	struct ur_ping_rc rc;

	if (out)
		times = json_object_new_array();
	if (ur_ping_rc(options, peer->text, options->rc_port, count, times,
		       &rc))
		rc = (struct ur_ping_rc){.end = UR_PING_RC_LOCAL};
	explain_rc(v, peer, options->rc_port, &rc);
	if (out) {
		json_object_object_add(out, "rc_answers_us", times);
		ur_json_put_number(out, "path_mtu", rc.mtu);
	} else if (rc.end == UR_PING_RC_OK) {
		printf("%s: RC packets of %d bytes cross\n", peer->text,
		       rc.mtu);
	}
}

static void print_json(const struct verdict *v, const struct ur_peer *peer,
		       struct json_object *out)
{
	ur_json_put_text(out, "peer", peer->text);
	ur_json_put_text(out, "cause", v->cause ? v->cause : "ok");
	ur_json_put_text(out, "text", v->text);
	ur_json_print(out);
}

static int ping(const struct ur_options *options, struct ur_peer *peer,
		int count)
{
	struct json_object *out = NULL, *times = NULL;
	struct verdict v = {0};
	struct ur_ping_cm cm;
	int answers, err;

	err = ur_ping_cm_open(&cm, options->run_dir);
	if (err) {
		ur_complain("the device's connection manager: %s",
			    strerror(-err));
		return UR_EXIT_FAILED;
	}
	if (options->json) {
		out = json_object_new_object();
		times = json_object_new_array();
		json_object_object_add(out, "answers_us", times);
	}
	answers = ask_all(&cm, &v, peer, count, times);
	ur_ping_cm_close(&cm);
	if (!answers && !v.cause)
		explain_silence(&v, peer);
	else if (answers && options->rc_port)
		check_rc(&v, options, peer, count, out);
	else if (answers)
		check_mtu(&v, options, peer);
	if (out)
		print_json(&v, peer, out);
	else if (v.cause)
		ur_complain("%s", v.text);
	json_object_put(out);
	return v.cause ? UR_EXIT_FAILED : 0;
}

int ur_cmd_ping(struct ur_options *options)
{
	struct ur_peer peer = {0};
	bool started;
	int sock, ret;

	if (options->listen_port ? options->rest_count || options->rc_port
				 : options->rest_count < 1) {
		ur_complain("ping: usage: uroce ping [-c COUNT] [--rc PORT] "
			    "ADDRESS, or uroce ping --listen PORT");
		return UR_EXIT_USAGE;
	}
	/* ADDRESS COUNT */
	if (options->rest_count > 2)
		return ur_too_many("ping", options->rest[2]);
	ret = options->rest_count == 2
		      ? ur_option_take(options, "ping", "count",
				       options->rest[1])
		      : 0;
	if (ret)
		return ret;
	if (!options->listen_port && ur_peer_find(&peer, options->rest[0]))
		return UR_EXIT_FAILED;
	sock = ur_launch(options, &started);
	if (sock < 0)
		return UR_EXIT_FAILED;
	ret = options->listen_port
		      ? ur_ping_rc_listen(options, options->listen_port)
		      : ping(options, &peer,
			     options->count ? options->count : 3);
	close(sock);
	return ret;
}
