// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Contexts. The data path's functions are inline in verbs.h, and use the
 * context's table of functions, where ours replace the provider's. So do those
 * that <infiniband/verbs.h> takes from struct verbs_context.
 */
#include <string.h>

#include "check/front.h"
#include "check/layout.h"
#include "check/real.h"
#include "check/report.h"
#include "check/vendor.h"

const struct ur_watched_context *
ur_front_real(const struct ibv_context *context)
{
	const struct ur_watched_context *found;

	ur_table_lock();
	found = ur_watched(UR_KIND_CONTEXT, context);
	ur_table_unlock();
	return found;
}

/* Entries grow upwards from the context, so an older library has fewer. */
#define HAS(verbs, entry) \
	((verbs)->sz >=   \
	 sizeof(*(verbs)) - offsetof(struct verbs_context, entry))
#define FRONT(entry)                                      \
	do {                                              \
		if (HAS(verbs, entry) && verbs->entry) {  \
			kept->verbs.entry = verbs->entry; \
			verbs->entry = ur_front_##entry;  \
		}                                         \
	} while (0)

/* Only where there is an operation, since programs may check for it. */
#define FRONT_OP(op)                                     \
	do {                                             \
		if (context->ops.op)                     \
			context->ops.op = ur_front_##op; \
	} while (0)

static void front_verbs(struct ur_watched_context *kept,
			struct verbs_context *verbs)
{
	FRONT(create_cq_ex);
	FRONT(create_qp_ex);
	FRONT(create_srq_ex);
	FRONT(alloc_null_mr);
	FRONT(reg_dm_mr);
	FRONT(alloc_parent_domain);
}

struct ibv_context *ur_front_context(struct ibv_context *context)
{
	struct ur_watched_context *kept;
	struct verbs_context *verbs;
	char provider[sizeof(kept->provider)];
	struct ur_stack made;

	if (!context)
		return NULL;
	ur_stack_take(&made);
	if (!ur_layout_known(context, &verbs)) {
		ur_table_lock();
		ur_vendor_opened("");
		ur_table_unlock();
		ur_report_note(
			"%s: this libibverbs has contexts of a form that "
			"is not known here (%zu bytes): what is done with "
			"the device is not looked at",
			context->device->name, verbs->sz);
		return context;
	}
	/* Takes the linker's lock, so not with the table's. */
	ur_provider_name(context, provider, sizeof(provider));
	ur_table_lock();
	ur_vendor_opened(provider);
	kept = ur_watch(UR_KIND_CONTEXT, sizeof(*kept), context, context, 0,
			&made);
	if (kept) {
		memcpy(kept->provider, provider, sizeof(provider));
		kept->ops = context->ops;
		FRONT_OP(post_send);
		FRONT_OP(post_recv);
		FRONT_OP(post_srq_recv);
		FRONT_OP(poll_cq);
		FRONT_OP(req_notify_cq);
		FRONT_OP(alloc_mw);
		FRONT_OP(dealloc_mw);
		if (verbs)
			front_verbs(kept, verbs);
	}
	ur_table_unlock();
	return context;
}

UR_FRONT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	return ur_front_context(ur_real(UR_VERBS, ibv_open_device)(device));
}

UR_FRONT struct ibv_context *ibv_import_device(int cmd_fd)
{
	return ur_front_context(ur_real(UR_VERBS, ibv_import_device)(cmd_fd));
}

UR_FRONT int ibv_close_device(struct ibv_context *context)
{
	struct ur_watched *kept = ur_watch_ending(UR_KIND_CONTEXT, context);
	int err = ur_real(UR_VERBS, ibv_close_device)(context);

	ur_watch_ended(kept, err);
	return err;
}
