// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uroce doctor --fabric: runs uroce-path with the device present and reads its output. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/companion.h"
#include "cli/doctor_path.h"
#include "cli/launch.h"
#include "cli/path/lines.h"
#include "cli/peer.h"
#include "cli/status.h"

#define PROGRAM "uroce-path"

static void take_class(struct ur_path_found *found, const char *rest)
{
	int sent, there, back;

	if (sscanf(rest, "%d %d %d", &sent, &there, &back) != 3 || sent < 0 ||
	    sent > 255)
		return;
	found->there[sent] = there;
	found->back[sent] = back;
}

static void take_size(struct ur_path_found *found, const char *rest)
{
	int bytes, there, back;

	if (sscanf(rest, "%d %d %d", &bytes, &there, &back) != 3)
		return;
	if (back) {
		found->fits = bytes;
		return;
	}
	found->lost = bytes;
	found->lost_there = !there;
}

static void take_burst(struct ur_path_found *found, const char *rest)
{
	struct ur_path_burst b;
	int tclass, which;

	if (sscanf(rest, "%d %d %d %d %d %lf", &tclass, &b.packets, &b.bytes,
		   &b.arrived, &b.marked, &b.spread_ns) != 6)
		return;
	which = tclass != 0;
	if (found->bursts[which] < UR_PATH_BURSTS)
		found->burst[which][found->bursts[which]++] = b;
}

static void take_self(struct ur_path_found *found, const char *rest)
{
	int sent, seen;

	if (sscanf(rest, "%d %d", &sent, &seen) == 2 && sent >= 0 && sent < 4)
		found->self[sent] = seen;
}

void ur_path_take_line(struct ur_path_found *found, char *line)
{
	char *rest = line + strcspn(line, " \n");
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(line, UR_PATH_LOCAL))
		snprintf(found->local, sizeof(found->local), "%s", rest);
	else if (!strcmp(line, UR_PATH_REFUSED) &&
		 sscanf(rest, "%d %n", &found->status, &at) == 1)
		snprintf(found->refused, sizeof(found->refused), "%s",
			 rest + at);
	else if (!strcmp(line, UR_PATH_FOUND))
		sscanf(rest, "%d %d", &found->mtu, &found->peer_mtu);
	else if (!strcmp(line, UR_PATH_SELF))
		take_self(found, rest);
	else if (!strcmp(line, UR_PATH_CLASS))
		take_class(found, rest);
	else if (!strcmp(line, UR_PATH_TRIP))
		sscanf(rest, "%lf %d", &found->trip_ns, &found->routers);
	else if (!strcmp(line, UR_PATH_SIZE))
		take_size(found, rest);
	else if (!strcmp(line, UR_PATH_BURST))
		take_burst(found, rest);
	else if (!strcmp(line, UR_PATH_DROPS))
		sscanf(rest, "%d %d %d %d %d %d", &found->sent[0],
		       &found->arrived[0], &found->sent[1], &found->arrived[1],
		       &found->echoed, &found->marked);
	else if (!strcmp(line, UR_PATH_V1))
		found->v1 = true;
	else if (!strcmp(line, UR_PATH_END))
		found->ended = true;
}

/* Connects to our device. If the host has only RDMA devices of the kernel, those are
 * probed. Returns a descriptor that keeps our device, -1 for the kernel's devices, or -2
 * after a message on stderr. */
static int find_device(struct ur_options *options)
{
	int sock = ur_client_connect(options->run_dir);
	bool started;

	if (sock >= 0)
		return sock;
	if (!options->netdevs && ur_doctor_has_kernel())
		return -1;
	sock = ur_launch(options, &started);
	return sock >= 0 ? sock : -2;
}

static int ask(const struct ur_options *options, const char *run_dir,
	       const char *peer)
{
	const char *argv[] = {PROGRAM, "ask", peer, NULL};
	struct ur_path_found found = {.peer = peer};
	struct doctor doctor = {.options = options};
	struct ur_companion program;
	char line[256];

	for (int i = 0; i < 256; i++)
		found.there[i] = found.back[i] = UR_PATH_NOT_SENT;
	for (int i = 0; i < 4; i++)
		found.self[i] = UR_PATH_NOT_SENT;
	if (ur_companion_start(&program, argv, run_dir))
		return UR_EXIT_FAILED;
	while (fgets(line, sizeof(line), program.said))
		ur_path_take_line(&found, line);
	if (ur_companion_wait(&program)) {
		ur_complain("%s could not be run", PROGRAM);
		return UR_EXIT_FAILED;
	}
	doctor.findings = json_object_new_array();
	ur_path_conclude(&doctor, &found);
	if (options->json)
		ur_json_print(doctor.findings);
	json_object_put(doctor.findings);
	return doctor.problems ? UR_EXIT_FAILED : 0;
}

int ur_doctor_fabric(struct ur_options *options)
{
	const char *listen[] = {PROGRAM, "listen", NULL};
	struct ur_peer peer = {0};
	const char *run_dir;
	int sock, status;

	if (options->rest_count > 1)
		return ur_too_many("doctor", options->rest[1]);
	if (!options->rest_count && options->json) {
		ur_complain("doctor: who waits for probes prints no JSON");
		return UR_EXIT_USAGE;
	}
	if (options->rest_count && ur_peer_find(&peer, options->rest[0]))
		return UR_EXIT_FAILED;
	sock = find_device(options);
	if (sock == -2 || (sock >= 0 && ur_status_check_devices(sock, options)))
		return UR_EXIT_FAILED;
	run_dir = sock >= 0 ? options->run_dir : NULL;
	status = options->rest_count ? ask(options, run_dir, peer.text)
				     : ur_companion_become(listen, run_dir);
	if (sock >= 0)
		close(sock);
	return status;
}
