/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Finds out at run time what the libibverbs and the provider of a context are: the
 * program's library need not be the one whose headers this was built with.
 */
#ifndef UR_CHECK_LAYOUT_H
#define UR_CHECK_LAYOUT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether the context has one of the layouts that this knows: releases
 * add entries before those of struct verbs_context that were there, whose size is
 * in it. *verbs: that struct, or NULL for a context of before there was one. Any
 * thread. */
bool ur_layout_known(struct ibv_context *context, struct verbs_context **verbs);

/* Puts the provider's name into name, size bytes with the NUL, as in the name of
 * its library: "mlx5" for libmlx5.so.1, "rxe" for librxe-rdmav34.so; "" where that
 * does not show. Any thread. */
void ur_provider_name(const struct ibv_context *context, char *name,
		      size_t size);

#endif
