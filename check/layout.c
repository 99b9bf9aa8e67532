// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Identifies the layout of a context, and its provider. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "check/layout.h"

/* struct verbs_context had 648 bytes in rdma-core 34 and 696 in 65: entries of
 * 8 bytes, and struct ibv_context at its end. A smaller one lacks some entries;
 * verbs.h could not work with another form. */
#define VERBS_MIN (sizeof(struct ibv_context) + 2 * sizeof(void *))
#define VERBS_MAX 4096

bool ur_layout_known(struct ibv_context *context, struct verbs_context **verbs)
{
	*verbs = verbs_get_ctx(context);
	return !*verbs ||
	       ((*verbs)->sz >= VERBS_MIN && (*verbs)->sz <= VERBS_MAX &&
		(*verbs)->sz % sizeof(void *) == 0);
}

static bool name_of(const void *function, char *name, size_t size)
{
	const char *file;
	Dl_info info;

	if (!function || !dladdr(function, &info) || !info.dli_fname)
		return false;
	file = basename(info.dli_fname);
	if (strncmp(file, "lib", 3) != 0)
		return false;
	snprintf(name, size, "%.*s", (int)strcspn(file + 3, "-."), file + 3);
	/* Where the provider has no function, the library enters its own. */
	return strcmp(name, "ibverbs") != 0;
}

void ur_provider_name(const struct ibv_context *context, char *name,
		      size_t size)
{
	const struct ibv_context_ops *ops = &context->ops;
	const void *functions[] = {(void *)ops->post_send, (void *)ops->poll_cq,
				   (void *)ops->post_recv};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (name_of(functions[i], name, size))
			return;
	*name = '\0';
}
