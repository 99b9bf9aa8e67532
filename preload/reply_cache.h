/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The reply cache of a file: replies that the device sent ahead of their
 * requests (struct uroce_tun_cached_reply). This file does not interpret the
 * requests; it compares their bytes. The caller holds the file's lock.
 */
#ifndef UR_PRELOAD_REPLY_CACHE_H
#define UR_PRELOAD_REPLY_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-abi/uroce-tunnel.h"

#define UR_REPLY_CACHE_QUESTION \
	sizeof(((struct uroce_tun_cached_reply *)NULL)->question)
#define UR_REPLY_CACHE_EVENT  16 /* bytes of a GET_EVENT */
#define UR_REPLY_CACHE_CREATE 32 /* bytes of a CREATE_ID */

struct ur_reply_cache;

/* Returns an empty cache. page: descriptor of the page of changes, which stays
 * the caller's. Returns NULL where it is no such page or there is no memory:
 * then no reply is cached. */
struct ur_reply_cache *ur_reply_cache_open(int page);
/* Frees the cache. f may be NULL. */
void ur_reply_cache_close(struct ur_reply_cache *f);

/* Caches the reply of @len bytes at @cached if there is room. @f may be
 * NULL. */
void ur_reply_cache_put(struct ur_reply_cache *f, const void *cached,
			size_t len);

/**
 * ur_reply_cache_get() - store the reply, if it is cached and still valid
 * @question: UR_REPLY_CACHE_QUESTION bytes
 * @from, @to: where a reply may be stored; one for another address is left to
 * the device
 * Return: true when it was stored.
 */
bool ur_reply_cache_get(const struct ur_reply_cache *f, const void *question,
			uint64_t from, uint64_t to);

/* Does the same with the event that was sent ahead and a GET_EVENT of
 * UR_REPLY_CACHE_EVENT bytes. An event is given once. f may be NULL. */
bool ur_reply_cache_take(struct ur_reply_cache *f, const void *question,
			 uint64_t from, uint64_t to);

/* Returns whether there is an event that was sent ahead. f may be NULL. */
bool ur_reply_cache_has_event(const struct ur_reply_cache *f);

/* Answers a CREATE_ID of UR_REPLY_CACHE_CREATE bytes with the spare id, in the same
 * way. */
bool ur_reply_cache_create(struct ur_reply_cache *f, const void *question,
			   uint64_t from, uint64_t to);

/* Forgets the event that was sent ahead. f may be NULL. Returns what the next
 * command must tell the device: UROCE_TUN_TAKEN, and UROCE_TUN_CREATED with
 * *created; or 0. */
uint64_t ur_reply_cache_take_report(struct ur_reply_cache *f,
				    struct uroce_tun_created *created);

/* Returns whether the device waits to hear of an event or of an id. f may be NULL. */
bool ur_reply_cache_owes(const struct ur_reply_cache *f);

#endif
