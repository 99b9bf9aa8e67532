/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The outstanding requests of a queue, as far as the program can know: a
 * request is done when its completion, or a later one of the same send queue,
 * was polled. Several threads may post and poll at once, so completions that
 * come in another order than the requests are taken as they come. The table's
 * lock is held.
 */
#ifndef UR_CHECK_QUEUE_H
#define UR_CHECK_QUEUE_H

#include "check/object.h"

/* Adds a copy of @request. Returns it, valid until the next ur_queue_add(), or
 * NULL without memory. */
struct ur_request *ur_queue_add(struct ur_queue *queue,
				const struct ur_request *request);

/* Takes back the last @n that were added and are not done: the provider refused
 * them. */
void ur_queue_refused(struct ur_queue *queue, uint32_t n);

/*
 * Ends the oldest request with this wr_id (@succeeded: that makes a completion
 * without an error) and, in a send queue, the unsignaled
 * ones before it. Copies it to @request. Returns whether there was one.
 */
bool ur_queue_complete(struct ur_queue *queue, uint64_t wr_id, bool succeeded,
		       struct ur_request *request);

/* Is it a READ or an atomic, whose elements the device writes to? */
bool ur_request_fetches(const struct ur_request *request);

/* Ends all of them. */
void ur_queue_clear(struct ur_queue *queue);

/* The request number @i from the oldest, or NULL beyond the last; those that
 * are done are among them. */
struct ur_request *ur_queue_at(struct ur_queue *queue, uint32_t i);

/* Returns the oldest that is not done, or NULL. */
struct ur_request *ur_queue_oldest(struct ur_queue *queue);

#endif
