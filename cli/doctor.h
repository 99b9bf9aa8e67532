/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The findings of `uroce doctor`. Each check says one line of what it found
 * and, where something is to be done, one line of what to type.
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

/* @todo: NULL where nothing is to be done; @state "ok", "note" or "problem".
 * Only a problem makes the exit status 1. */
__attribute__((format(printf, 5, 6))) void
ur_doctor_say(struct doctor *doctor, const char *check, const char *state,
	      const char *todo, const char *format, ...);

/* Checks how much this user may lock, and /proc. doctor_limits.c */
void ur_doctor_limits(struct doctor *doctor);

/* Does the same for the programs that have the device of @status open and that
 * we may look at. */
void ur_doctor_programs(struct doctor *doctor, struct json_object *status);

/* No device yet: can one be started here? doctor_netdev.c */
void ur_doctor_netdev(struct doctor *doctor);

/* The device process and its devices, or what one would need. doctor_device.c
 */
void ur_doctor_devices(struct doctor *doctor);

/* Checks whether UDP packets to port 4791 reach the devices of @status.
 * doctor_filter.c */
void ur_doctor_filter(struct doctor *doctor, struct json_object *status);

/* Packet filter rules that name the port, where we may read them. */
void ur_doctor_rules(struct doctor *doctor);

/* Whether every program of the host sees the device. host/host.c */
void ur_doctor_host(struct doctor *doctor);
/* Services that `uroce enable` lets see the device. service/service.c */
void ur_doctor_services(struct doctor *doctor);

/* RDMA devices of the kernel. doctor_netdev.c */
void ur_doctor_kernel(struct doctor *doctor);

/* Returns whether there are any. */
bool ur_doctor_has_kernel(void);

/* uroce doctor --fabric: asks the listener at the address of @options, or is
 * one where there is none. Returns an exit status. doctor_path.c */
int ur_doctor_fabric(struct ur_options *options);

#endif
