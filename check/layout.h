/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Identifies the libibverbs and the provider of a context at run time: they
 * need not be those whose headers this was built with.
 */
#ifndef UR_CHECK_LAYOUT_H
#define UR_CHECK_LAYOUT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether the context's layout is known: releases add entries in front
 * of struct verbs_context, which contains its size. *verbs: that struct, or
 * NULL for a context of before it existed. Any thread. */
bool ur_layout_known(struct ibv_context *context, struct verbs_context **verbs);

/* Sets name, size bytes with the NUL, to the provider's name, from its library:
 * "mlx5" for libmlx5.so.1, "rxe" for librxe-rdmav34.so; "" if unknown. Any
 * thread. */
void ur_provider_name(const struct ibv_context *context, char *name,
		      size_t size);

#endif
