/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Answers that the device gave before they were asked for (struct
 * uroce_tun_foretold), of one file. What the questions mean is not known here:
 * one is recognised by its bytes. The caller holds the file's lock.
 */
#ifndef UR_PRELOAD_FORETOLD_H
#define UR_PRELOAD_FORETOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel-abi/uroce-tunnel.h"

#define UR_FORETOLD_QUESTION \
	sizeof(((struct uroce_tun_foretold *)NULL)->question)

struct ur_foretold;

/* @page: descriptor of the page of changes, the caller's. NULL: it is none, or
 * no memory; then nothing is foretold. */
struct ur_foretold *ur_foretold_begin(int page);
void ur_foretold_end(struct ur_foretold *f);

/* Remembers what @len bytes at @told say, or not. @f may be NULL. */
void ur_foretold_keep(struct ur_foretold *f, const void *told, size_t len);

/**
 * ur_foretold_answer() - the answer, if it is known and still true
 * @question: UR_FORETOLD_QUESTION bytes
 * @from, @to: where the answer may be stored; if it is to go elsewhere, the
 *             device shall do it
 * Return: true when it was stored.
 */
bool ur_foretold_answer(const struct ur_foretold *f, const void *question,
			uint64_t from, uint64_t to);

#endif
