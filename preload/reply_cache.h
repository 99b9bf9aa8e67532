/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The reply cache of a file: replies that the device sent ahead of their
 * question (struct uroce_tun_cached_reply). This file does not know what the
 * questions mean; it recognises them by their bytes. The caller holds the
 * file's lock.
 */
#ifndef UR_PRELOAD_REPLY_CACHE_H
#define UR_PRELOAD_REPLY_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-abi/uroce-tunnel.h"

#define UR_REPLY_CACHE_QUESTION \
	sizeof(((struct uroce_tun_cached_reply *)NULL)->question)

struct ur_reply_cache;

/* Returns an empty cache for the page of changes, whose descriptor stays the
 * caller's, or NULL where it is no such page or there is no memory: then no
 * reply is kept. */
struct ur_reply_cache *ur_reply_cache_open(int page);
/* Frees it. f may be NULL. */
void ur_reply_cache_close(struct ur_reply_cache *f);

/* Keeps the reply of @len bytes at @cached if there is room for it. @f may be
 * NULL. */
void ur_reply_cache_put(struct ur_reply_cache *f, const void *cached,
			size_t len);

/**
 * ur_reply_cache_get() - the answer, if it is known and still true
 * @question: UR_REPLY_CACHE_QUESTION bytes
 * @from, @to: where the answer may be stored; if it is to go elsewhere, the
 *             device shall do it
 * Return: true when it was stored.
 */
bool ur_reply_cache_get(const struct ur_reply_cache *f, const void *question,
			uint64_t from, uint64_t to);

#endif
