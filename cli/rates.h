/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two status texts some time apart, and what counters did in between. */
#ifndef UR_CLI_RATES_H
#define UR_CLI_RATES_H

#include "cli/status.h"

struct ur_samples {
	struct json_object *before, *after;
	double seconds; /* between them, as it was */
	double when;	/* the last was taken, CLOCK_MONOTONIC */
};

/**
 * ur_samples_first() - the first status text
 * Return: 0 or -errno after saying why; end with ur_samples_free().
 */
int ur_samples_first(struct ur_samples *samples,
		     const struct ur_options *options);

/* Wait options->interval seconds, then the next; what was after is before. */
int ur_samples_next(struct ur_samples *samples,
		    const struct ur_options *options);
void ur_samples_free(struct ur_samples *samples);

/* The device of that name in a status text, or NULL. */
struct json_object *ur_status_device(struct json_object *status,
				     const char *name);

/* The queue pair of @status that @qp is, or NULL. */
struct json_object *ur_status_same_qp(struct json_object *status,
				      struct json_object *qp);

/* object.counters.name; 0 where there is none. */
int64_t ur_counter(struct json_object *object, const char *name);

/* A counter's growth per second from @before to @after (a device or a queue
 * pair). 0 where before is NULL or counted more: then it is another one. */
double ur_rate(const struct ur_samples *samples, struct json_object *before,
	       struct json_object *after, const char *name);

/* Members "seconds" and "rates" {NAME: per second} for @after. */
void ur_rates_add(const struct ur_samples *samples, struct json_object *before,
		  struct json_object *after);

#endif
