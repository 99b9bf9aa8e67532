// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks whether UDP port 4791 is filtered. Sends a datagram that is no RoCE packet to each
 * address of a device, from that same address, which the device's own packets never do. If
 * nothing filters it, the device counts it as forged. The datagram passes this host's own
 * filter, but as a packet of lo: rules for other interfaces are only searched for.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/port.h"
#include "cli/status.h"

#define TRIES	 50
#define TRY_MS	 10
#define TODO_NFT "nft list ruleset; allow 'udp dport 4791' in and out"

union peer_address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static socklen_t to_address(const char *gid, union peer_address *addr)
{
	struct in6_addr in6;

	memset(addr, 0, sizeof(*addr));
	/* A link-local address would need the name of its interface. */
	if (inet_pton(AF_INET6, gid, &in6) != 1 || IN6_IS_ADDR_LINKLOCAL(&in6))
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&in6)) {
		addr->in.sin_family = AF_INET;
		addr->in.sin_port = htons(UR_ROCE_PORT);
		memcpy(&addr->in.sin_addr, in6.s6_addr + 12, 4);
		return sizeof(addr->in);
	}
	addr->in6.sin6_family = AF_INET6;
	addr->in6.sin6_port = htons(UR_ROCE_PORT);
	addr->in6.sin6_addr = in6;
	return sizeof(addr->in6);
}

/* Returns -EADDRNOTAVAIL for an address outside this network namespace. */
static int send_probe(const union peer_address *to, socklen_t size)
{
	int fd = socket(to->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union peer_address from = *to;
	int err = 0;

	if (fd < 0)
		return -errno;
	from.in.sin_port = 0; /* same offset in both */
	if (bind(fd, &from.sa, size) ||
	    sendto(fd, "?", 1, 0, &to->sa, size) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Returns the number of datagrams that the device refused for their address or length. */
static int64_t bad_packets(const struct ur_options *options, const char *name)
{
	struct json_object *status = ur_status_get(options, "");
	struct json_object *counters = NULL;
	int64_t value = -1;

	if (!status)
		return -1;
	ur_json_each(d, ur_json_array(status, "devices")) {
		if (!strcmp(ur_status_text(d, "name"), name) &&
		    json_object_object_get_ex(d, "counters", &counters))
			value = ur_json_number(counters, "bad_gid") +
				ur_json_number(counters, "bad_length");
	}
	json_object_put(status);
	return value;
}

static bool arrives(const struct ur_options *options, const char *name,
		    int64_t before)
{
	for (int i = 0; i < TRIES; i++) {
		if (bad_packets(options, name) > before)
			return true;
		poll(NULL, 0, TRY_MS);
	}
	return false;
}

static void print_address(const union peer_address *addr,
			  char text[INET6_ADDRSTRLEN])
{
	inet_ntop(addr->sa.sa_family,
		  addr->sa.sa_family == AF_INET
			  ? (const void *)&addr->in.sin_addr
			  : (const void *)&addr->in6.sin6_addr,
		  text, INET6_ADDRSTRLEN);
}

static void check_gid(struct doctor *doctor, const char *name, const char *gid)
{
	char text[INET6_ADDRSTRLEN];
	union peer_address addr;
	socklen_t size = to_address(gid, &addr);
	int64_t before;
	int err;

	if (!size)
		return;
	print_address(&addr, text);
	before = bad_packets(doctor->options, name);
	err = send_probe(&addr, size);
	if (err == -EADDRNOTAVAIL)
		ur_doctor_print(
			doctor, "port", "note",
			"ask 'uroce doctor' in the device's own network "
			"namespace",
			"%s is an address of another network namespace", text);
	else if (err == -EPERM || err == -EACCES)
		ur_doctor_print(
			doctor, "port", "problem", TODO_NFT,
			"a packet filter refuses to send to UDP port %d "
			"(output)",
			UR_ROCE_PORT);
	else if (err)
		ur_doctor_print(doctor, "port", "problem",
				"ip address; ip route get that address",
				"%s cannot be sent to: %s", text,
				strerror(-err));
	else if (before >= 0 && !arrives(doctor->options, name, before))
		ur_doctor_print(doctor, "port", "problem", TODO_NFT,
				"UDP port %d of %s is filtered: a packet to it "
				"does not reach %s",
				UR_ROCE_PORT, text, name);
	else
		ur_doctor_print(doctor, "port", "ok", NULL,
				"packets to UDP port %d of %s reach %s",
				UR_ROCE_PORT, text, name);
}

static void print_taken(struct doctor *doctor, struct json_object *device)
{
	ur_json_each(one, ur_json_array(device, "taken")) {
		char text[INET6_ADDRSTRLEN];
		union peer_address addr;

		if (!to_address(ur_status_text(one, "gid"), &addr))
			continue;
		print_address(&addr, text);
		ur_doctor_print(
			doctor, "port", "problem",
			"as root: ss -uanp 'sport = :4791'; end the program "
			"that has the address",
			"%s has no GID on %s: another program has its UDP "
			"port %d, and gets what peers send there",
			text, ur_status_text(device, "name"), UR_ROCE_PORT);
	}
}

void ur_doctor_filter(struct doctor *doctor, struct json_object *status)
{
	ur_json_each(d, ur_json_array(status, "devices")) {
		print_taken(doctor, d);
		ur_json_each(g, ur_json_array(d, "gids")) {
			/* GIDs of v1 have no port. */
			if (strcmp(ur_status_text(g, "type"), "IB/RoCE v1"))
				check_gid(doctor, ur_status_text(d, "name"),
					  ur_status_text(g, "gid"));
		}
	}
}

void ur_doctor_rules(struct doctor *doctor)
{
	bool input = false, drops = false, named = false;
	char line[512];
	FILE *f;

	/* Prints nothing without the right to list rules. */
	f = popen("nft list ruleset 2>/dev/null", "re");
	while (f && fgets(line, sizeof(line), f)) {
		bool refuses = strstr(line, "drop") || strstr(line, "reject");

		line[strcspn(line, "\n")] = '\0';
		if (strstr(line, "type filter"))
			input = strstr(line, "hook input") != NULL;
		if (input && strstr(line, "policy drop"))
			drops = true;
		if (!strstr(line, "4791"))
			continue;
		named = true;
		if (refuses)
			ur_doctor_print(doctor, "filter", "problem", TODO_NFT,
					"nftables has the rule: %s",
					line + strspn(line, "\t"));
	}
	if (f)
		pclose(f);
	if (drops && !named)
		ur_doctor_print(
			doctor, "filter", "problem", TODO_NFT,
			"nftables drops what comes in by default, and no "
			"rule lets UDP port %d in",
			UR_ROCE_PORT);
}
