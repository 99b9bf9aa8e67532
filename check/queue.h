/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The outstanding requests of a queue, as far as the program can know: a
 * request is done when its completion, or a later one of the same send queue,
 * was polled. Several threads may post and poll at once, so completions may
 * come in another order than the requests. The table's lock is held.
 */
#ifndef UR_CHECK_QUEUE_H
#define UR_CHECK_QUEUE_H

#include "check/object.h"

/* Adds a copy of @request. Returns it, valid until the next ur_queue_add(), or
 * NULL without memory. */
struct ur_request *ur_queue_add(struct ur_queue *queue,
				const struct ur_request *request);

/* Removes the last @n requests that are not done, which the provider
 * refused. */
void ur_queue_refused(struct ur_queue *queue, uint32_t n);

/*
 * Ends the oldest request with this wr_id and, in a send queue, the unsignaled
 * ones before it. @succeeded: the completion is no error, so only a signaled
 * request fits. Copies the request to @request. Returns whether there was one.
 */
bool ur_queue_complete(struct ur_queue *queue, uint64_t wr_id, bool succeeded,
		       struct ur_request *request);

/* Returns whether the device writes to its elements: a READ or an atomic. */
bool ur_request_fetches(const struct ur_request *request);

/* Removes all requests. */
void ur_queue_clear(struct ur_queue *queue);

/* Returns request number @i from the oldest, done ones included, or NULL beyond
 * the last. */
struct ur_request *ur_queue_at(struct ur_queue *queue, uint32_t i);

/* Returns the oldest request that is not done, or NULL. */
struct ur_request *ur_queue_oldest(struct ur_queue *queue);

#endif
