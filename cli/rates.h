/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two status texts some time apart, and the rates of counters between them. */
#ifndef UR_CLI_RATES_H
#define UR_CLI_RATES_H

#include "cli/status.h"

struct ur_samples {
	struct json_object *before, *after;
	double seconds; /* time between them */
	double when;	/* time of the last one, CLOCK_MONOTONIC */
};

/**
 * ur_samples_first() - take the first status text
 * Return: 0, or -errno after a message on stderr; free with ur_samples_free().
 */
int ur_samples_first(struct ur_samples *samples,
		     const struct ur_options *options);

/* Waits options->interval seconds and takes the next text; after becomes before. Returns as
 * above. */
int ur_samples_next(struct ur_samples *samples,
		    const struct ur_options *options);
/* Frees both texts. */
void ur_samples_free(struct ur_samples *samples);

/* Returns the device of that name in a status text, or NULL. */
struct json_object *ur_status_device(struct json_object *status,
				     const char *name);

/* Returns the same queue pair as qp in status, or NULL. */
struct json_object *ur_status_same_qp(struct json_object *status,
				      struct json_object *qp);

/* Returns object.counters.name, or 0 if there is none. */
int64_t ur_counter(struct json_object *object, const char *name);

/* Returns a counter's growth per second from before to after (a device or a queue pair).
 * Returns 0 if before is NULL or has a higher count, since it is another object then. */
double ur_rate(const struct ur_samples *samples, struct json_object *before,
	       struct json_object *after, const char *name);

/* Adds the members "seconds" and "rates" {NAME: per second} to @after. */
void ur_rates_add(const struct ur_samples *samples, struct json_object *before,
		  struct json_object *after);

#endif
