/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The findings of `uroce doctor`. Each check prints one line about what it found and, if
 * something is to be done, one line with the command to type.
 */
#ifndef UR_CLI_DOCTOR_H
#define UR_CLI_DOCTOR_H

#include <json-c/json.h>

#include "cli/command.h"

struct doctor {
	const struct ur_options *options;
	struct json_object *findings;
	int problems;
};

/* todo: NULL if nothing is to be done; state: "ok", "note" or "problem". Only a problem
 * makes the exit status 1. */
__attribute__((format(printf, 5, 6))) void
ur_doctor_print(struct doctor *doctor, const char *check, const char *state,
		const char *todo, const char *format, ...);

/* Checks the limit of locked memory of this user, and /proc. doctor_limits.c */
void ur_doctor_limits(struct doctor *doctor);

/* Does the same for the programs in status that have the device open, as far as we may
 * examine them. */
void ur_doctor_programs(struct doctor *doctor, struct json_object *status);

/* Checks whether a device could be started here. doctor_netdev.c */
void ur_doctor_netdev(struct doctor *doctor);

/* Checks the device process and its devices, or what one would need. doctor_device.c */
void ur_doctor_devices(struct doctor *doctor);

/* Checks whether UDP packets to port 4791 reach the devices of @status.
 * doctor_filter.c */
void ur_doctor_filter(struct doctor *doctor, struct json_object *status);

/* Reports packet filter rules that name the port, if we may read them. */
void ur_doctor_rules(struct doctor *doctor);

/* Checks whether every program of the host sees the device. host/host.c */
void ur_doctor_host(struct doctor *doctor);
/* Reports services that `uroce enable` has given the device. service/service.c */
void ur_doctor_services(struct doctor *doctor);

/* Reports RDMA devices of the kernel. doctor_netdev.c */
void ur_doctor_kernel(struct doctor *doctor);

/* Returns whether the kernel has RDMA devices. */
bool ur_doctor_has_kernel(void);

/* uroce doctor --fabric: probes the path to the listener at the address in options, or
 * listens if there is none. Returns an exit status. doctor_path.c */
int ur_doctor_fabric(struct ur_options *options);

#endif
