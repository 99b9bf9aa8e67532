/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ports of rdma_cm ids, as Linux' cma gives them. Control lock held. */
#ifndef UR_DEVICE_UCMA_UCMA_PORT_H
#define UR_DEVICE_UCMA_UCMA_PORT_H

struct ucma_id;
struct ur_ucma;

/* Files of /proc/sys/net of our namespace that say how ports are given, or -1;
 * read each time, since they change. */
struct ucma_sysctls {
	int port_range;	  /* ipv4/ip_local_port_range */
	int first_free;	  /* ipv4/ip_unprivileged_port_start */
	int bind_v6_only; /* ipv6/bindv6only */
};

/* Opens, and closes, what sysctls names. */
void ucma_ports_open(struct ucma_sysctls *sysctls);
void ucma_ports_close(struct ucma_sysctls *sysctls);
/*
 * Gives id the port of id->src (0: chooses one of
 * net.ipv4.ip_local_port_range), and sets whether a wildcard of IPv6 leaves
 * IPv4 alone, if its program has not. Returns 0; -EADDRINUSE where another has
 * the address and port; -EADDRNOTAVAIL where one of the two is a wildcard, or
 * no port is free; -EACCES where the port takes a right that the client has not
 * shown (file->low_ports).
 */
int ucma_port_bind(struct ucma_id *id);
/* Gives id the port that it had with an earlier uroced. */
void ucma_port_restore(struct ucma_id *id, unsigned int port);
/* Returns the first port that anybody may have. */
unsigned int ucma_first_free_port(const struct ur_ucma *ucma);
/* Takes the port of id for listening. Returns as ucma_port_bind(). */
int ucma_port_listen(struct ucma_id *id);
/* Gives the port back, if id has one. */
void ucma_port_release(struct ucma_id *id);

#endif
