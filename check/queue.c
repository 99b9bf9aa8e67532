// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Outstanding requests. */
#include <stdlib.h>

#include "check/queue.h"

struct ur_request *ur_queue_at(struct ur_queue *queue, uint32_t i)
{
	return i < queue->used ? &queue->ring[(queue->head + i) % queue->size]
			       : NULL;
}

static bool grow_queue(struct ur_queue *queue)
{
	uint32_t size = queue->size ? 2 * queue->size : 64;
	struct ur_request *ring = calloc(size, sizeof(*ring));

	if (!ring)
		return false;
	for (uint32_t i = 0; i < queue->used; i++)
		ring[i] = *ur_queue_at(queue, i);
	free(queue->ring);
	queue->ring = ring;
	queue->size = size;
	queue->head = 0;
	return true;
}

bool ur_request_fetches(const struct ur_request *request)
{
	return !request->receive &&
	       (request->opcode == IBV_WR_RDMA_READ ||
		request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD);
}

struct ur_request *ur_queue_add(struct ur_queue *queue,
				const struct ur_request *request)
{
	struct ur_request *at;

	if (queue->used == queue->size && !grow_queue(queue))
		return NULL;
	queue->used++;
	queue->count++;
	queue->signaled += request->signaled;
	queue->fetches += ur_request_fetches(request);
	at = ur_queue_at(queue, queue->used - 1);
	*at = *request;
	return at;
}

static void end(struct ur_queue *queue, struct ur_request *request)
{
	request->done = true;
	queue->count--;
	queue->signaled -= request->signaled;
	queue->fetches -= ur_request_fetches(request);
}

static void trim(struct ur_queue *queue)
{
	while (queue->used && queue->ring[queue->head].done) {
		queue->head = (queue->head + 1) % queue->size;
		queue->used--;
	}
}

void ur_queue_refused(struct ur_queue *queue, uint32_t n)
{
	while (n && queue->used) {
		struct ur_request *last = ur_queue_at(queue, queue->used - 1);

		if (!last->done) {
			end(queue, last);
			n--;
		}
		queue->used--;
	}
}

static bool fits(const struct ur_request *request, uint64_t wr_id,
		 bool succeeded)
{
	return !request->done && request->wr_id == wr_id &&
	       (request->signaled || !succeeded);
}

bool ur_queue_complete(struct ur_queue *queue, uint64_t wr_id, bool succeeded,
		       struct ur_request *request)
{
	uint32_t at = 0;

	while (at < queue->used &&
	       !fits(ur_queue_at(queue, at), wr_id, succeeded))
		at++;
	if (at == queue->used)
		return false;
	*request = *ur_queue_at(queue, at);
	end(queue, ur_queue_at(queue, at));
	for (uint32_t i = 0; i < at && !request->receive; i++) {
		struct ur_request *older = ur_queue_at(queue, i);

		if (!older->done && !older->signaled)
			end(queue, older);
	}
	trim(queue);
	return true;
}

void ur_queue_clear(struct ur_queue *queue)
{
	queue->used = queue->count = queue->signaled = queue->fetches = 0;
}

struct ur_request *ur_queue_oldest(struct ur_queue *queue)
{
	return queue->used ? &queue->ring[queue->head] : NULL;
}
