// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Names and addresses in a fabric. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fabric/plan.h"

#define SWITCH "switch"
#define NODE   "node"

/* 10 Tbit/s, 100 s, 256 MiB: larger values overflow in the kernel. */
#define RATE_MAX  10000000000000u
#define DELAY_MAX 100000000000u
#define QUEUE_MAX (256u << 20)

void ur_fabric_host_name(unsigned int host, char *name, size_t size)
{
	if (host)
		snprintf(name, size, NODE "%u", host);
	else
		snprintf(name, size, SWITCH);
}

int ur_fabric_host_number(const struct ur_fabric_plan *plan, const char *name)
{
	unsigned long n;
	char *end;

	if (!strcmp(name, SWITCH))
		return 0;
	if (strncmp(name, NODE, strlen(NODE)) != 0)
		return -ENOENT;
	name += strlen(NODE);
	n = strtoul(name, &end, 10);
	if (*name < '1' || *name > '9' || *end || n > plan->hosts)
		return -ENOENT;
	return (int)n;
}

void ur_fabric_port_name(unsigned int host, unsigned int card,
			 char name[IFNAMSIZ])
{
	if (!host)
		snprintf(name, IFNAMSIZ, "uplink%u", card % 2 + 1);
	else if (card)
		snprintf(name, IFNAMSIZ, NODE "%u.%u", host % 1000, card % 100);
	else
		snprintf(name, IFNAMSIZ, NODE "%u", host % 1000);
}

void ur_fabric_netdev_name(unsigned int card, char name[IFNAMSIZ])
{
	snprintf(name, IFNAMSIZ, "eth%u", card % 100);
}

unsigned int ur_fabric_rack(const struct ur_fabric_plan *plan,
			    unsigned int host)
{
	return plan->racks * (host - 1) / plan->hosts;
}

void ur_fabric_ipv4(unsigned int host, unsigned int card, uint8_t address[4])
{
	address[0] = 198;
	address[1] = 18;
	address[2] = (uint8_t)card;
	address[3] = (uint8_t)host;
}

void ur_fabric_ipv6(unsigned int host, unsigned int card, uint8_t address[16])
{
	memset(address, 0, 16);
	address[0] = 0xfd;
	address[1] = 0x18;
	address[7] = (uint8_t)card;
	address[15] = (uint8_t)host;
}

void ur_fabric_link_take(struct ur_fabric_link *to,
			 const struct ur_fabric_link *from, uint32_t traits)
{
	if (traits & UR_FABRIC_RATE)
		to->rate = from->rate;
	if (traits & UR_FABRIC_DELAY)
		to->delay_ns = from->delay_ns;
	if (traits & UR_FABRIC_QUEUE)
		to->queue = from->queue;
	if (traits & UR_FABRIC_LOSS)
		to->loss = from->loss;
	if (traits & UR_FABRIC_MARK)
		to->mark = from->mark;
	if (traits & UR_FABRIC_MTU)
		to->mtu = from->mtu;
	if (traits & UR_FABRIC_DOWN)
		to->down = from->down;
}

bool ur_fabric_link_check(const struct ur_fabric_link *link)
{
	return link->rate <= RATE_MAX && link->delay_ns <= DELAY_MAX &&
	       link->queue <= QUEUE_MAX && link->loss <= UR_FABRIC_PPM &&
	       link->mark <= UR_FABRIC_PPM && link->mtu >= UR_FABRIC_MTU_MIN &&
	       link->mtu <= UR_FABRIC_MTU_MAX;
}
