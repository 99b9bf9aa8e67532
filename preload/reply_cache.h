/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Answers that the device gave before they were asked for (struct
 * uroce_tun_cached_reply), of one file. What the questions mean is not known here:
 * one is recognised by its bytes. The caller holds the file's lock.
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

/* @page: descriptor of the page of changes, the caller's. NULL: it is none, or
 * no memory; then no reply is kept. */
struct ur_reply_cache *ur_reply_cache_open(int page);
void ur_reply_cache_close(struct ur_reply_cache *f);

/* Remembers what @len bytes at @cached say, or not. @f may be NULL. */
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
