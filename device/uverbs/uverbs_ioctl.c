// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The ioctl form of commands: decodes attributes. uverbs_methods.c has the table from
 * (object, method) to attribute specs and handler.
 *
 * libibverbs chooses its fallbacks by the errors: EPROTONOSUPPORT only if the method or a
 * mandatory attribute is unknown; EINVAL if an attribute is missing, repeated or of the
 * wrong size; EOPNOTSUPP if it carries more than is known; ENOENT for an unknown handle.
 */
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdlib.h>
#include "device/uverbs/destroy_hint.h"
#include "device/uverbs/uverbs_cmd.h"
#include "device/uverbs/uverbs_methods.h"

#define MAX_LENGTH 4096 /* of header and attributes, as in the kernel */

struct ur_attr {
	const struct ur_attr_spec *spec;
	struct ib_uverbs_attr raw;
	u64 user; /* address of the attribute in the client */
	bool given;
	u8 *data;     /* UR_A_IN: the copy */
	u64 small[4]; /* where it lies if it fits */
	struct ur_object *obj;
};

static struct ur_attr *find_attr(const struct ur_cmd *cmd, u16 id)
{
	for (u32 i = 0; i < cmd->n_attrs; i++)
		if (cmd->attrs[i].spec->id == id)
			return &cmd->attrs[i];
	return NULL;
}

static struct ur_attr *find_given(const struct ur_cmd *cmd, u16 id)
{
	struct ur_attr *a = find_attr(cmd, id);

	return a && a->given ? a : NULL;
}

bool ur_attr_given(const struct ur_cmd *cmd, u16 id)
{
	return find_given(cmd, id);
}

u32 ur_attr_len(const struct ur_cmd *cmd, u16 id)
{
	struct ur_attr *a = find_given(cmd, id);

	return a ? a->raw.len : 0;
}

void ur_attr_in(const struct ur_cmd *cmd, u16 id, void *dst, size_t len)
{
	struct ur_attr *a = find_given(cmd, id);
	size_t n;

	memset(dst, 0, len);
	if (!a || !a->data)
		return;
	n = a->raw.len < len ? a->raw.len : len;
	memcpy(dst, a->data, n);
}

u64 ur_attr_u64(const struct ur_cmd *cmd, u16 id)
{
	u64 v;

	ur_attr_in(cmd, id, &v, sizeof(v));
	return v;
}

int ur_attr_u32(const struct ur_cmd *cmd, u16 id, u32 *v)
{
	u64 wide = ur_attr_u64(cmd, id);

	if (wide > UINT32_MAX)
		return -EINVAL;
	*v = (u32)wide;
	return 0;
}

void *ur_attr_obj(const struct ur_cmd *cmd, u16 id)
{
	struct ur_attr *a = find_given(cmd, id);

	return a ? a->obj : NULL;
}

int ur_attr_fd(const struct ur_cmd *cmd, u16 id)
{
	struct ur_attr *a = find_given(cmd, id);

	if (!a || a->raw.data_s64 < 0 || a->raw.data_s64 > INT32_MAX)
		return -1;
	return (int)a->raw.data_s64;
}

static int mark_output(struct ur_cmd *cmd, struct ur_attr *a)
{
	a->raw.flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	return ur_cmd_out(cmd, a->user + offsetof(struct ib_uverbs_attr, flags),
			  &a->raw.flags, sizeof(a->raw.flags));
}

int ur_attr_out(struct ur_cmd *cmd, u16 id, const void *src, size_t len)
{
	struct ur_attr *a = find_given(cmd, id);
	int err;

	if (!a)
		return 0;
	if (len > a->raw.len)
		len = a->raw.len;
	err = ur_cmd_out(cmd, a->raw.data, src, len);
	return err ? err : mark_output(cmd, a);
}

int ur_attr_set(struct ur_cmd *cmd, u16 id, u64 value)
{
	struct ur_attr *a = find_given(cmd, id);
	int err;

	if (!a)
		return 0;
	err = ur_cmd_out(cmd, a->user + offsetof(struct ib_uverbs_attr, data),
			 &value, sizeof(value));
	return err ? err : mark_output(cmd, a);
}

/* ---- decoding ---- */

static bool is_zero(const u8 *p, size_t n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

/* Copies an input of raw.len bytes; bytes beyond the spec must be zero. */
static int copy_in(struct ur_cmd *cmd, struct ur_attr *a)
{
	const struct ur_attr_spec *spec = a->spec;
	u32 len = a->raw.len;

	if (len < spec->min)
		return -EINVAL;
	if (len > UR_ATTR_MAX_BYTES)
		return -EINVAL;
	a->data = len <= sizeof(a->small) ? (u8 *)a->small : malloc(len);
	if (!a->data)
		return -ENOMEM;
	if (len <= 8)
		memcpy(a->data, &a->raw.data, len);
	else if (ur_session_read(cmd->file->session, a->raw.data, a->data, len))
		return -EFAULT;
	if (spec->max && len > spec->max &&
	    !is_zero(a->data + spec->max, len - spec->max))
		return -EOPNOTSUPP;
	return 0;
}

static int decode_one(struct ur_cmd *cmd, struct ur_attr *a)
{
	switch (a->spec->kind) {
	case UR_A_IN:
		return copy_in(cmd, a);
	case UR_A_OUT:
		return a->raw.len < a->spec->min ? -EINVAL : 0;
	case UR_A_OBJ:
	case UR_A_NEW:
	case UR_A_FD:
	case UR_A_FD_NEW:
		return a->raw.len ? -EINVAL : 0;
	}
	return -EINVAL;
}

static int decode(struct ur_cmd *cmd, u64 addr, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		u64 user = addr + i * sizeof(struct ib_uverbs_attr);
		struct ib_uverbs_attr raw;
		struct ur_attr *a;
		int err;

		if (ur_session_read(cmd->file->session, user, &raw,
				    sizeof(raw)))
			return -EFAULT;
		a = find_attr(cmd, raw.attr_id);
		if (!a) {
			if (raw.flags & UVERBS_ATTR_F_MANDATORY)
				return -EPROTONOSUPPORT;
			continue;
		}
		if (a->given || raw.attr_data.reserved)
			return -EINVAL;
		a->given = true;
		a->raw = raw;
		a->user = user;
		err = decode_one(cmd, a);
		if (err)
			return err;
	}
	for (u32 i = 0; i < cmd->n_attrs; i++)
		if (cmd->attrs[i].spec->mandatory && !cmd->attrs[i].given)
			return -EINVAL;
	return 0;
}

/* Looks up the handles, which needs the lock. */
static int resolve(struct ur_cmd *cmd)
{
	for (u32 i = 0; i < cmd->n_attrs; i++) {
		struct ur_attr *a = &cmd->attrs[i];

		if (!a->given || a->spec->kind != UR_A_OBJ)
			continue;
		a->obj = ur_object_get(cmd->file, a->spec->object, a->raw.data);
		if (!a->obj)
			return -ENOENT;
	}
	return 0;
}

static void take_udata(struct ur_cmd *cmd)
{
	struct ur_attr *in = find_given(cmd, UVERBS_ATTR_UHW_IN);
	struct ur_attr *out = find_given(cmd, UVERBS_ATTR_UHW_OUT);

	if (in && in->spec->kind == UR_A_IN) {
		cmd->udata_in_len = ur_min_u32(in->raw.len, UR_UDATA_MAX);
		memcpy(cmd->udata, in->data, cmd->udata_in_len);
	}
	if (out && out->spec->kind == UR_A_OUT) {
		cmd->udata_out_addr = out->raw.data;
		cmd->udata_out_len = out->raw.len;
	}
}

/* Carries out a write command in attributes; the command checks its core sizes. */
static int invoke_write(struct ur_cmd *cmd)
{
	struct ur_attr *in = find_given(cmd, UVERBS_ATTR_CORE_IN);
	struct ur_attr *out = find_given(cmd, UVERBS_ATTR_CORE_OUT);
	struct ur_core core = {0};
	u64 command = ur_attr_u64(cmd, UVERBS_ATTR_WRITE_CMD);
	int err;

	if (command > UINT32_MAX)
		return -EINVAL;
	if (in) {
		core.in_len = in->raw.len;
		core.in_addr = in->raw.data;
		core.in_inline = in->raw.len <= 8;
	}
	if (out) {
		core.out_len = out->raw.len;
		core.out_addr = out->raw.data;
	}
	err = ur_write_invoke(cmd, (u32)command, &core);
	if (!err && out)
		err = mark_output(cmd, out);
	return err;
}

static int run(struct ur_cmd *cmd, const struct ur_method *m)
{
	struct ur_loop *loop = cmd->dev->daemon->loop;
	int err;

	take_udata(cmd);
	if (!m->fn)
		return invoke_write(cmd);
	ur_loop_lock(loop);
	ur_destroy_hint_take(cmd->file);
	if (!cmd->file->has_context && !m->without_context)
		err = -EINVAL;
	else if (m->of_user && ur_ufile_is_anothers(cmd->file))
		err = -EPERM;
	else
		err = resolve(cmd);
	if (!err)
		err = m->fn(cmd);
	ur_loop_unlock(loop);
	if (!err && ur_attr_given(cmd, UVERBS_ATTR_UHW_OUT) &&
	    find_attr(cmd, UVERBS_ATTR_UHW_OUT)->spec->kind == UR_A_OUT)
		err = mark_output(cmd, find_attr(cmd, UVERBS_ATTR_UHW_OUT));
	return err;
}

static int check_header(const struct ib_uverbs_ioctl_hdr *hdr)
{
	if (hdr->length > MAX_LENGTH ||
	    hdr->length != sizeof(*hdr) + hdr->num_attrs *
						  sizeof(struct ib_uverbs_attr))
		return -EINVAL;
	if (hdr->reserved1 || hdr->reserved2)
		return -EPROTONOSUPPORT;
	/* A device found by sysfs has no driver id. */
	if (hdr->driver_id)
		return -EINVAL;
	return 0;
}

s64 ur_uverbs_ioctl(void *arg, u64 request, u64 addr)
{
	struct ur_ufile *file = arg;
	struct ur_attr attrs[UR_METHOD_MAX_ATTRS];
	const struct ur_method *m;
	struct ib_uverbs_ioctl_hdr hdr;
	struct ur_cmd cmd;
	int err;

	if ((u32)request != (u32)RDMA_VERBS_IOCTL)
		return -ENOTTY;
	if (ur_session_read(file->session, addr, &hdr, sizeof(hdr)))
		return -EFAULT;
	err = check_header(&hdr);
	if (err)
		return err;
	m = ur_method_find(hdr.object_id, hdr.method_id);
	if (!m)
		return -EPROTONOSUPPORT;
	ur_cmd_init(&cmd, file);
	memset(attrs, 0, m->n_specs * sizeof(*attrs));
	for (u32 i = 0; i < m->n_specs; i++)
		attrs[i].spec = &m->specs[i];
	cmd.attrs = attrs;
	cmd.n_attrs = m->n_specs;
	err = decode(&cmd, addr + sizeof(hdr), hdr.num_attrs);
	if (!err)
		err = run(&cmd, m);
	err = ur_cmd_finish(&cmd, err);
	for (u32 i = 0; i < m->n_specs; i++)
		if (attrs[i].data != (u8 *)attrs[i].small)
			free(attrs[i].data);
	return err;
}
