// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Samples of the status text, and rates between them. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "cli/rates.h"
#include "util/os/clock.h"

static struct json_object *sample(const struct ur_options *options,
				  double *ret_when)
{
	uint64_t start = ur_clock_ns(CLOCK_MONOTONIC);
	struct json_object *status = ur_status_get(options, "");

	*ret_when = (double)(start + ur_clock_ns(CLOCK_MONOTONIC)) / 2e9;
	return status;
}

int ur_samples_first(struct ur_samples *samples,
		     const struct ur_options *options)
{
	memset(samples, 0, sizeof(*samples));
	samples->after = sample(options, &samples->when);
	return samples->after ? 0 : -ENODEV;
}

int ur_samples_next(struct ur_samples *samples,
		    const struct ur_options *options)
{
	double start = samples->when;

	json_object_put(samples->before);
	samples->before = samples->after;
	poll(NULL, 0, (int)(options->interval * 1000));
	samples->after = sample(options, &samples->when);
	samples->seconds = samples->when - start;
	return samples->after ? 0 : -ENODEV;
}

void ur_samples_free(struct ur_samples *samples)
{
	json_object_put(samples->before);
	json_object_put(samples->after);
}

/* Returns the first matching object of a list, or NULL. */
static struct json_object *
find_object(struct json_object *status, const char *list,
	    bool (*is)(struct json_object *one, const void *meant),
	    const void *meant)
{
	ur_json_each(one, ur_json_array(status, list)) {
		if (is(one, meant))
			return one;
	}
	return NULL;
}

static bool is_named(struct json_object *one, const void *name)
{
	return !strcmp(ur_status_text(one, "name"), name);
}

struct json_object *ur_status_device(struct json_object *status,
				     const char *name)
{
	return find_object(status, "devices", is_named, name);
}

/* Compares the session, too, since numbers are reused. */
static bool is_same_qp(struct json_object *one, const void *meant)
{
	struct json_object *qp = (struct json_object *)meant;

	return ur_json_number(one, "qpn") == ur_json_number(qp, "qpn") &&
	       ur_json_number(one, "session") ==
		       ur_json_number(qp, "session") &&
	       !strcmp(ur_status_text(one, "device"),
		       ur_status_text(qp, "device"));
}

struct json_object *ur_status_same_qp(struct json_object *status,
				      struct json_object *qp)
{
	return find_object(status, "qps", is_same_qp, qp);
}

int64_t ur_counter(struct json_object *object, const char *name)
{
	struct json_object *counters;

	if (!object ||
	    !json_object_object_get_ex(object, "counters", &counters))
		return 0;
	return ur_json_number(counters, name);
}

double ur_rate(const struct ur_samples *samples, struct json_object *before,
	       struct json_object *after, const char *name)
{
	int64_t delta = ur_counter(after, name) - ur_counter(before, name);

	if (!before || delta < 0 || samples->seconds <= 0)
		return 0;
	return (double)delta / samples->seconds;
}

void ur_rates_add(const struct ur_samples *samples, struct json_object *before,
		  struct json_object *after)
{
	struct json_object *counters, *rates = json_object_new_object();

	if (json_object_object_get_ex(after, "counters", &counters) &&
	    json_object_is_type(counters, json_type_object)) {
		json_object_object_foreach(counters, name, value)
		{
			(void)value;
			json_object_object_add(
				rates, name,
				json_object_new_double(
					ur_rate(samples, before, after, name)));
		}
	}
	json_object_object_add(after, "seconds",
			       json_object_new_double(samples->seconds));
	json_object_object_add(after, "rates", rates);
}
