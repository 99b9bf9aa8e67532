/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The bytes of a fuzzer, taken from the front; zeros when they are used up. */
#ifndef UR_TESTS_FUZZ_INPUT_H
#define UR_TESTS_FUZZ_INPUT_H

#include <string.h>

#include "util/bytes.h"

struct input {
	const u8 *p;
	size_t left;
};

static inline u8 take(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static inline u16 take16(struct input *in)
{
	u16 v = take(in);

	return (u16)(v | take(in) << 8);
}

/* As many, the most significant first. */
static inline u32 take_be(struct input *in, int bytes)
{
	u32 v = 0;

	while (bytes--)
		v = v << 8 | take(in);
	return v;
}

static inline void take_bytes(struct input *in, u8 *dst, size_t len)
{
	size_t n = len < in->left ? len : in->left;

	memset(dst, 0, len);
	memcpy(dst, in->p, n);
	in->p += n;
	in->left -= n;
}

#endif
