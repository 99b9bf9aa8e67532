// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Checks the device process of the run directory, and its devices. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/doctor.h"
#include "cli/status.h"
#include "kernel-abi/uroce-tunnel.h"

static void check_device(struct doctor *doctor, struct json_object *device)
{
	const char *name = ur_status_text(device, "name");
	const char *netdev = ur_status_text(device, "netdev");
	int64_t mtu = ur_json_number(device, "active_mtu");
	struct json_object *settings;
	size_t gids = ur_json_count(device, "gids");

	if (strcmp(ur_status_text(device, "state"), "ACTIVE"))
		ur_doctor_print(doctor, "device", "problem",
				"ip link set IF up",
				"%s: its port is %s because %s is", name,
				ur_status_text(device, "state"), netdev);
	else if (json_object_object_get_ex(device, "settings", &settings) &&
		 !strcmp(ur_status_text(settings, "roce_enable"), "0"))
		ur_doctor_print(doctor, "device", "problem",
				"uroce link set DEVICE roce_enable on",
				"RoCE of %s is switched off", name);
	else if (!gids)
		ur_doctor_print(
			doctor, "device", "problem",
			"ip address add ADDRESS/BITS dev IF; uroce's log says "
			"where port 4791 is taken",
			"%s has no usable GID: %s has no address that could be "
			"served",
			name, netdev);
	else if (mtu < 1024)
		ur_doctor_print(
			doctor, "device", "problem",
			"ip link set IF mtu 1500 (9000 for an active MTU of 4096)",
			"%s: %s carries only packets of %" PRId64
			"; programs ask for 1024",
			name, netdev, mtu);
	else
		ur_doctor_print(doctor, "device", "ok", NULL,
				"%s on %s, MTU %" PRId64 ", %zu GIDs", name,
				netdev, mtu, gids);
}

static void check_twins(struct doctor *doctor, struct json_object *devices)
{
	ur_json_each(a, devices) {
		ur_json_each(b, devices) {
			if (a_at >= b_at)
				continue;
			if (!strcmp(ur_status_text(a, "netdev"),
				    ur_status_text(b, "netdev")) ||
			    !strcmp(ur_status_text(a, "node_guid"),
				    ur_status_text(b, "node_guid")))
				ur_doctor_print(
					doctor, "device", "problem",
					"name each --netdev once; give each "
					"interface its own MAC address",
					"%s and %s are the same twice",
					ur_status_text(a, "name"),
					ur_status_text(b, "name"));
		}
	}
}

static void absent(struct doctor *doctor, int err)
{
	const char *dir = doctor->options->run_dir;

	if (access(dir, F_OK) == 0 && access(dir, W_OK))
		ur_doctor_print(
			doctor, "daemon", "problem",
			"systemctl start uroced, or use a directory of "
			"your own: --run-dir",
			"no device is running at %s, and we may not start "
			"one there: %s",
			dir, strerror(errno));
	else if (err == -ECONNREFUSED)
		ur_doctor_print(
			doctor, "daemon", "note",
			"start a device as before; it clears that up",
			"no device is running: %s/%s is left of one that "
			"died",
			dir, UROCE_TUN_SOCKET);
	else
		ur_doctor_print(
			doctor, "daemon", "note",
			"uroce run -- PROGRAM starts one, uroced one that "
			"stays",
			"no device is running at %s", dir);
	ur_doctor_netdev(doctor);
	ur_doctor_rules(doctor);
}

/* Reports the rights that the daemon gave up; an older release has no such
 * member. */
static void check_confinement(struct doctor *doctor, struct json_object *status)
{
	struct json_object *c;
	const char *caps;

	if (!json_object_object_get_ex(status, "confinement", &c))
		return;
	caps = ur_status_text(c, "capabilities");
	if (!ur_json_number(c, "asked"))
		ur_doctor_print(
			doctor, "confinement", "note",
			"start uroced without 'confine = no'",
			"the device keeps every right that it was started with");
	else if (!ur_json_number(c, "calls"))
		ur_doctor_print(
			doctor, "confinement", "note",
			"allow seccomp where uroced is started",
			"the device's system calls are not filtered: the "
			"kernel, or its parent process, did not allow that");
	else
		ur_doctor_print(doctor, "confinement", "ok", NULL,
				"system calls filtered, %s%s, capabilities: %s",
				ur_json_number(c, "files") ? "files by Landlock"
				: ur_json_number(c, "mounts") ? "files"
							      : "all files",
				ur_json_number(c, "mounts")
					? ", own mount namespace"
					: "",
				*caps ? caps : "none");
}

void ur_doctor_devices(struct doctor *doctor)
{
	struct json_object *status, *devices;
	int sock;

	sock = ur_client_connect(doctor->options->run_dir);
	if (sock == -EACCES || sock == -EPERM) {
		ur_doctor_print(
			doctor, "daemon", "problem",
			"ask for access to its socket, or use a device of your "
			"own: --run-dir",
			"the device of %s refuses us: %s",
			doctor->options->run_dir, strerror(-sock));
		return;
	}
	if (sock < 0) {
		absent(doctor, sock);
		return;
	}
	close(sock);
	status = ur_status_get(doctor->options, "");
	if (!status) {
		doctor->problems++;
		return;
	}
	ur_doctor_print(doctor, "daemon", "ok", NULL,
			"running, process %" PRId64,
			ur_json_number(status, "pid"));
	check_confinement(doctor, status);
	devices = ur_json_array(status, "devices");
	ur_json_each(device, devices)
		check_device(doctor, device);
	check_twins(doctor, devices);
	ur_doctor_programs(doctor, status);
	ur_doctor_filter(doctor, status);
	ur_doctor_rules(doctor);
	json_object_put(status);
}
