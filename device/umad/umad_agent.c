// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MAD agents: their registration, by the kernel's rules (ib_register_mad_agent), and the
 * choice of the agent for a MAD.
 */
#include <errno.h>
#include <stdlib.h>

#include "device/umad/umad.h"
#include "util/assert.h"

/* MAX_MGMT_CLASS and MAX_MGMT_VERSION of the kernel. */
#define CLASSES	 80
#define VERSIONS 0x83
#define RMPP_IBA 1
/* The offset of the OUI in vendor classes. */
#define OUI_OFFSET 37
/* The flags of RMPP, and "active" among them, IBA volume 1, 13.6.2.1. */
#define RMPP_FLAGS_OFFSET 26
#define RMPP_ACTIVE	  1
/* as ib_cm in the kernel */
#define CM_CLASS_VERSION 2

bool umad_class_has_oui(u8 mgmt_class)
{
	return mgmt_class >= UR_MAD_CLASS_VENDOR2_FIRST &&
	       mgmt_class <= UR_MAD_CLASS_VENDOR2_LAST;
}

bool umad_class_has_rmpp(u8 mgmt_class)
{
	return mgmt_class == UR_MAD_CLASS_SUBN_ADM ||
	       mgmt_class == UR_MAD_CLASS_DEVICE_MGT ||
	       mgmt_class == UR_MAD_CLASS_DEVICE_ADM ||
	       mgmt_class == UR_MAD_CLASS_BIS || umad_class_has_oui(mgmt_class);
}

bool umad_is_segment(const u8 *mad)
{
	return umad_class_has_rmpp(mad[1]) &&
	       mad[RMPP_FLAGS_OFFSET] & RMPP_ACTIVE;
}

static bool has_oui(const u8 *oui)
{
	return oui[0] || oui[1] || oui[2];
}

static int check(const struct umad_registration *r)
{
	u8 class = r->mgmt_class;

	/* Ethernet has no QP0. */
	if (!r->qpn)
		return -EPROTONOSUPPORT;
	if (r->rmpp_version && r->rmpp_version != RMPP_IBA)
		return -EINVAL;
	if (!class)
		return 0;
	if (r->class_version >= VERSIONS || class >= CLASSES ||
	    class == UR_MAD_CLASS_SUBN_LID)
		return -EINVAL;
	if (umad_class_has_oui(class) && !has_oui(r->oui))
		return -EINVAL;
	return r->rmpp_version && !umad_class_has_rmpp(class) ? -EINVAL : 0;
}

static bool has_method(const u64 methods[2], u32 method)
{
	return methods[method / 64] >> (method % 64) & 1;
}

static bool same_kind(const struct umad_agent *a, u8 mgmt_class, u8 version,
		      const u8 *oui)
{
	return a->listens && a->mgmt_class == mgmt_class &&
	       a->class_version == version &&
	       (!umad_class_has_oui(mgmt_class) || !memcmp(a->oui, oui, 3));
}

/* A method of a class can have only one agent on a device. */
static bool is_taken(const struct umad_file *file,
		     const struct umad_registration *r)
{
	if (r->mgmt_class == UR_MAD_CLASS_CM &&
	    r->class_version == CM_CLASS_VERSION &&
	    has_method(r->methods, UR_MAD_SEND))
		return true;
	ur_list_each(const struct umad_agent, a, &umad_of(file)->agents, node) {
		if (a->file->dev == file->dev &&
		    same_kind(a, r->mgmt_class, r->class_version, r->oui) &&
		    (a->methods[0] & r->methods[0] ||
		     a->methods[1] & r->methods[1]))
			return true;
	}
	return false;
}

static u32 new_hi_tid(struct ur_umad *umad)
{
	for (;;) {
		bool found = false;
		u32 tid = ++umad->last_hi_tid;

		ur_list_for_each(it, &umad->agents)
			found |= ur_list_entry(it, struct umad_agent, node)
					 ->hi_tid == tid;
		if (!found)
			return tid;
	}
}

int umad_agent_add(struct umad_file *file, const struct umad_registration *r,
		   struct umad_agent **agent)
{
	struct umad_agent *a;
	u32 id = 0;
	int err;

	ur_assert(ur_loop_mine(file->dev->daemon->loop));
	while (id < UMAD_FILE_AGENTS_MAX && file->agents[id])
		id++;
	if (id == UMAD_FILE_AGENTS_MAX)
		return -ENOMEM;
	err = check(r);
	if (err)
		return err;
	if (r->mgmt_class && is_taken(file, r))
		return -EINVAL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->file = file;
	a->id = id;
	a->hi_tid = new_hi_tid(umad_of(file));
	a->listens = r->mgmt_class;
	a->mgmt_class = r->mgmt_class;
	a->class_version = r->class_version;
	memcpy(a->oui, r->oui, sizeof(a->oui));
	memcpy(a->methods, r->methods, sizeof(a->methods));
	a->rmpp_version = r->rmpp_version;
	a->rmpp_by_user = r->rmpp_by_user;
	ur_list_add_tail(&umad_of(file)->agents, &a->node);
	ur_assert(id < UMAD_FILE_AGENTS_MAX && !file->agents[id]);
	file->agents[id] = a;
	*agent = a;
	return 0;
}

void umad_agent_remove(struct umad_agent *a)
{
	ur_assert(ur_loop_mine(a->file->dev->daemon->loop));
	ur_list_for_each_safe(it, &a->file->sends) {
		struct umad_send *s = ur_list_entry(it, struct umad_send, node);

		if (s->agent == a)
			umad_send_free(s);
	}
	ur_assert(a->file->agents[a->id] == a);
	a->file->agents[a->id] = NULL;
	ur_list_del(&a->node);
	free(a);
}

struct umad_agent *umad_agent_for(const struct ur_device *dev,
				  const struct ur_mad_header *h, const u8 *mad)
{
	const struct ur_umad *umad = dev->daemon->umad;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	ur_list_each(struct umad_agent, a, &umad->agents, node) {
		if (a->file->dev == dev &&
		    same_kind(a, h->mgmt_class, h->class_version,
			      mad + OUI_OFFSET) &&
		    has_method(a->methods, h->method & ~UR_MAD_RESPONSE))
			return a;
	}
	return NULL;
}

struct umad_agent *umad_agent_by_tid(const struct ur_device *dev, u32 hi_tid)
{
	const struct ur_umad *umad = dev->daemon->umad;

	ur_assert(ur_loop_mine(dev->daemon->loop));
	ur_list_each(struct umad_agent, a, &umad->agents, node) {
		if (a->file->dev == dev && a->hi_tid == hi_tid)
			return a;
	}
	return NULL;
}
