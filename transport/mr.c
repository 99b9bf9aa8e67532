// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Memory regions. IBTA volume 1, 10.6 (memory management). */
#include "transport/mem.h"
#include "transport/port.h"
#include "util/assert.h"

#include <errno.h>
#include <stdlib.h>

static int check_attr(const struct ur_mr_attr *attr)
{
	const u32 remote_store =
		UR_ACCESS_REMOTE_WRITE | UR_ACCESS_REMOTE_ATOMIC;

	/* IBTA C10-57: remote stores require local write. */
	if ((attr->access & remote_store) &&
	    !(attr->access & UR_ACCESS_LOCAL_WRITE))
		return -EINVAL;
	if (attr->length && attr->iova + (attr->length - 1) < attr->iova)
		return -EINVAL;
	if (!attr->direct && !attr->ops && !attr->null_mr)
		return -EINVAL;
	return 0;
}

int ur_mr_create(struct ur_port *port, const struct ur_mr_attr *attr,
		 struct ur_mr **mr)
{
	struct ur_mr *m;
	int err = check_attr(attr);

	if (err)
		return err;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->port = port;
	m->attr = *attr;
	m->k.kind = UR_KEY_MR;
	if (attr->key) {
		m->k.id = attr->key >> 8;
		m->k.key = attr->key;
		err = ur_table_put(&port->keys, &m->k, m->k.id);
	} else {
		err = ur_table_add(&port->keys, &m->k, &m->k.id);
		m->k.key = m->k.id << 8 | ur_port_key_byte(port);
	}
	if (err) {
		free(m);
		return err;
	}
	ur_mem_changed(port);
	*mr = m;
	return 0;
}

int ur_mr_rereg(struct ur_mr *mr, const struct ur_mr_attr *attr)
{
	int err = check_attr(attr);

	ur_assert(mr->port && mr->k.kind == UR_KEY_MR);
	if (err)
		return err;
	if (mr->windows)
		return -EBUSY;
	mr->attr = *attr;
	ur_mem_ended(mr->port);
	return 0;
}

int ur_mr_destroy(struct ur_mr *mr)
{
	ur_assert(ur_table_lookup(&mr->port->keys, mr->k.id) == &mr->k);
	if (mr->windows)
		return -EBUSY;
	ur_mem_ended(mr->port);
	ur_table_remove(&mr->port->keys, mr->k.id);
	free(mr);
	return 0;
}

struct ur_mr *ur_mr_lookup(struct ur_port *port, u32 key)
{
	struct ur_key *k = ur_table_lookup(&port->keys, key >> 8);

	if (!k || k->kind != UR_KEY_MR || k->key != key)
		return NULL;
	return ur_container_of(k, struct ur_mr, k);
}

u32 ur_mr_key(const struct ur_mr *mr)
{
	return mr->k.key;
}
