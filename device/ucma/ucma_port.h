/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ports of rdma_cm ids, allocated as by Linux' cma. Control lock held. */
#ifndef UR_DEVICE_UCMA_UCMA_PORT_H
#define UR_DEVICE_UCMA_UCMA_PORT_H

struct ucma_id;
struct ur_ucma;

/* Files of /proc/sys/net of our namespace about the allocation of ports, or -1; read each
 * time, since they change. */
struct ucma_sysctls {
	int port_range;	  /* ipv4/ip_local_port_range */
	int first_free;	  /* ipv4/ip_unprivileged_port_start */
	int bind_v6_only; /* ipv6/bindv6only */
};

/* Open and close these files. */
void ucma_ports_open(struct ucma_sysctls *sysctls);
void ucma_ports_close(struct ucma_sysctls *sysctls);
/*
 * Binds id to the port of id->src; 0: chooses one of net.ipv4.ip_local_port_range. Also
 * sets af_only of an IPv6 wildcard, unless the program has. Returns 0; -EADDRINUSE if
 * another id has the address and port; -EADDRNOTAVAIL if one of the two addresses is a
 * wildcard, or no port is free; -EACCES if the port is privileged and the client has not
 * proved the right (file->low_ports).
 */
int ucma_port_bind(struct ucma_id *id);
/* Restores the port that id had with an earlier uroced. */
void ucma_port_restore(struct ucma_id *id, unsigned int port);
/* Returns the first unprivileged port. */
unsigned int ucma_first_free_port(const struct ur_ucma *ucma);
/* Claims the port of id for listening. Returns as ucma_port_bind(). */
int ucma_port_listen(struct ucma_id *id);
/* Releases the port of id, if it has one. */
void ucma_port_release(struct ucma_id *id);

#endif
