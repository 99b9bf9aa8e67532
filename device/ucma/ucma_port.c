// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ports of the port spaces TCP, UDP, IB and IPOIB. They are separate from the host's own
 * TCP and UDP ports, but follow the same rules: two ids conflict on a port if their
 * addresses do, unless both allow reuse and none listens. As in Linux, sysctls of the
 * network namespace apply.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/ucma/ucma.h"
#include "util/assert.h"

/* The default of net.ipv4.ip_local_port_range. */
#define EPHEMERAL_FIRST 32768u
#define EPHEMERAL_LAST	60999u

/* The default of net.ipv4.ip_unprivileged_port_start. */
#define FIRST_FREE 1024u

void ucma_ports_open(struct ucma_sysctls *sysctls)
{
	sysctls->port_range = open("/proc/sys/net/ipv4/ip_local_port_range",
				   O_RDONLY | O_CLOEXEC);
	sysctls->first_free =
		open("/proc/sys/net/ipv4/ip_unprivileged_port_start",
		     O_RDONLY | O_CLOEXEC);
	sysctls->bind_v6_only =
		open("/proc/sys/net/ipv6/bindv6only", O_RDONLY | O_CLOEXEC);
}

void ucma_ports_close(struct ucma_sysctls *sysctls)
{
	if (sysctls->port_range >= 0)
		close(sysctls->port_range);
	if (sysctls->first_free >= 0)
		close(sysctls->first_free);
	if (sysctls->bind_v6_only >= 0)
		close(sysctls->bind_v6_only);
}

/* Reads up to two numbers from a sysctl file. Returns their number. */
static int read_numbers(int fd, u32 *a, u32 *b)
{
	char text[64], *end, *rest;
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (n < 0)
		return 0;
	text[n] = 0;
	*a = (u32)strtoul(text, &end, 10);
	if (end == text)
		return 0;
	*b = (u32)strtoul(end, &rest, 10);
	return 1 + (rest != end);
}

static void ephemeral_range(const struct ur_ucma *ucma, u32 *first, u32 *last)
{
	if (read_numbers(ucma->sysctls.port_range, first, last) == 2 &&
	    *first && *first <= *last && *last <= UINT16_MAX)
		return;
	*first = EPHEMERAL_FIRST;
	*last = EPHEMERAL_LAST;
}

unsigned int ucma_first_free_port(const struct ur_ucma *ucma)
{
	u32 first = FIRST_FREE, none;

	read_numbers(ucma->sysctls.first_free, &first, &none);
	return first;
}

/* Returns the value set by the program, or the default of Linux' rdma_bind_addr(). */
static bool af_only(const struct ucma_id *id)
{
	u32 set = 0, none;

	if (id->af_only_set || id->src.sa.sa_family == AF_IB)
		return id->af_only;
	if (id->src.sa.sa_family == AF_INET)
		return true;
	read_numbers(ucma_of(id->file)->sysctls.bind_v6_only, &set, &none);
	return set;
}

static struct ur_list *bucket(struct ur_ucma *ucma, u16 ps, u16 port)
{
	return &ucma->ports[(port * 4u + ps) % UCMA_PORT_BUCKETS];
}

/* Returns 0 if both can share the port, else the error of Linux' cma_check_port(). */
static int conflict(const struct ucma_id *a, const struct ucma_id *b,
		    bool reuse)
{
	if (reuse && a->reuse_addr && b->reuse_addr && b->state != UCMA_LISTEN)
		return 0;
	if (a->src.sa.sa_family != b->src.sa.sa_family &&
	    ((a->af_only && b->af_only) || a->src.sa.sa_family == AF_IB ||
	     b->src.sa.sa_family == AF_IB))
		return 0;
	if (ucma_sa_any(&a->src) || ucma_sa_any(&b->src))
		return -EADDRNOTAVAIL;
	return ucma_sa_same_addr(&a->src, &b->src) ? -EADDRINUSE : 0;
}

static int check_port(struct ur_ucma *ucma, const struct ucma_id *id, u16 port,
		      bool reuse, bool ephemeral)
{
	ur_list_each(const struct ucma_id, other, bucket(ucma, id->ps, port),
		     port_node) {
		int err;

		if (other == id || other->ps != id->ps || other->port != port)
			continue;
		err = ephemeral ? -EADDRINUSE : conflict(id, other, reuse);
		if (err)
			return err;
	}
	return 0;
}

static void take_port(struct ur_ucma *ucma, struct ucma_id *id, u16 port)
{
	id->port = port;
	ucma_sa_set_port(&id->src, port);
	ur_list_add_tail(bucket(ucma, id->ps, port), &id->port_node);
}

static int take_ephemeral(struct ur_ucma *ucma, struct ucma_id *id)
{
	u32 first, last, start, count;

	ephemeral_range(ucma, &first, &last);
	count = last - first + 1;
	start = ur_rng_below(&ucma->rng, count);
	for (u32 i = 0; i < count; i++) {
		u16 port = (u16)(first + (start + i) % count);

		if (!check_port(ucma, id, port, false, true)) {
			take_port(ucma, id, port);
			return 0;
		}
	}
	return -EADDRNOTAVAIL;
}

int ucma_port_bind(struct ucma_id *id)
{
	struct ur_ucma *ucma = ucma_of(id->file);
	u16 port = ucma_sa_port(&id->src);
	int err;

	id->af_only = af_only(id);
	if (!port)
		return take_ephemeral(ucma, id);
	if (!id->file->low_ports && port < ucma_first_free_port(ucma))
		return -EACCES;
	err = check_port(ucma, id, port, true, false);
	if (!err)
		take_port(ucma, id, port);
	return err;
}

void ucma_port_restore(struct ucma_id *id, unsigned int port)
{
	take_port(ucma_of(id->file), id, (u16)port);
}

int ucma_port_listen(struct ucma_id *id)
{
	return check_port(ucma_of(id->file), id, id->port, false, false);
}

void ucma_port_release(struct ucma_id *id)
{
	ur_assert(ur_loop_mine(id->file->daemon->loop));
	ur_list_del(&id->port_node);
}
