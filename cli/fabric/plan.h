/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fabric: its hosts, its links, and the names and addresses that
 * follow from their numbers. Host 0 is the switch; hosts are 1 to plan.hosts,
 * their cards 0 to plan.devices - 1. The link of host 0 is the one between the
 * switches of two racks.
 */
#ifndef UR_CLI_FABRIC_PLAN_H
#define UR_CLI_FABRIC_PLAN_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UR_FABRIC_HOSTS_MAX   128
#define UR_FABRIC_DEVICES_MAX 8
#define UR_FABRIC_MTU_MIN     1280 /* of IPv6: RFC 8200 */
#define UR_FABRIC_MTU_MAX     65535
#define UR_FABRIC_NAME_MAX    32 /* with the NUL */

#define UR_FABRIC_PPM 1000000u

/* The traits of both directions of a link. */
struct ur_fabric_link {
	uint64_t rate;	   /* bit/s; 0: as fast as it goes */
	uint64_t delay_ns; /* one way */
	/* bytes that may wait for the rate; 0: 10 ms of it */
	uint32_t queue;
	uint32_t loss; /* packets of a million */
	uint32_t mark; /* packets of a million that get CE, if ECT */
	uint32_t mtu;
	uint32_t down;
};

/* A bit for each member of struct ur_fabric_link. */
enum ur_fabric_trait {
	UR_FABRIC_RATE = 1 << 0,
	UR_FABRIC_DELAY = 1 << 1,
	UR_FABRIC_QUEUE = 1 << 2,
	UR_FABRIC_LOSS = 1 << 3,
	UR_FABRIC_MARK = 1 << 4,
	UR_FABRIC_MTU = 1 << 5,
	UR_FABRIC_DOWN = 1 << 6,
};

struct ur_fabric_plan {
	uint32_t hosts, devices, racks;
	struct ur_fabric_link link; /* initial traits of each link */
};

/* Gets the name of a host: node1 ..., or switch. */
void ur_fabric_host_name(unsigned int host, char *name, size_t size);

/**
 * ur_fabric_host_number() - the reverse
 * Return: the number, or -ENOENT where the fabric has no such host.
 */
int ur_fabric_host_number(const struct ur_fabric_plan *plan, const char *name);

/* Gets the name of the switch's interface to a card; for host 0, uplink1 and uplink2 on
 * side 0 and 1. */
void ur_fabric_port_name(unsigned int host, unsigned int card,
			 char name[IFNAMSIZ]);
/* Gets the name of the interface in the host: eth0 ... */
void ur_fabric_netdev_name(unsigned int card, char name[IFNAMSIZ]);

/* Returns the index of a host's switch, from 0. */
unsigned int ur_fabric_rack(const struct ur_fabric_plan *plan,
			    unsigned int host);

/* Get a card's addresses, in network byte order: 198.18.CARD.HOST/24, since 198.18.0.0/15
 * is for tests of network devices (RFC 2544), and fd18:0:0:CARD::HOST/64, unique local (RFC
 * 4193). */
void ur_fabric_ipv4(unsigned int host, unsigned int card, uint8_t address[4]);
void ur_fabric_ipv6(unsigned int host, unsigned int card, uint8_t address[16]);

/* Copies the members in traits from one link to another. */
void ur_fabric_link_take(struct ur_fabric_link *to,
			 const struct ur_fabric_link *from, uint32_t traits);

/* Returns whether a link from a socket has valid numbers. */
bool ur_fabric_link_check(const struct ur_fabric_link *link);

#endif
