// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Rules of nftables, by its netlink family: a table for each port with two
 * chains, where frames come in from the link and where they go out to it.
 *
 *     numgen random mod 1000000 < LOSS drop
 *     ip  ecn != not-ect numgen random mod 1000000 < MARK ip  ecn set ce
 *     ip6 ecn != not-ect numgen random mod 1000000 < MARK ip6 ecn set ce
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/fabric/filter.h"
#include "cli/fabric/plan.h"
#include "cli/fabric/netlink.h"

#define NFT(message) (NFNL_SUBSYS_NFTABLES << 8 | (message))

static void begin_message(struct ur_nl_msg *nl, unsigned short type,
			  unsigned short flags)
{
	const struct nfgenmsg m = {.nfgen_family = NFPROTO_NETDEV,
				   .version = NFNETLINK_V0};

	ur_nlmsg_begin(nl, NFT(type), flags | NLM_F_ACK, &m, sizeof(m));
}

/* Puts the begin or end of a transaction: the messages between are applied together, or
 * none. */
static void put_batch(struct ur_nl_msg *nl, unsigned short type)
{
	const struct nfgenmsg m = {.nfgen_family = AF_UNSPEC,
				   .version = NFNETLINK_V0,
				   .res_id = htons(NFNL_SUBSYS_NFTABLES)};

	ur_nlmsg_begin(nl, type, 0, &m, sizeof(m));
}

static void put_be32(struct ur_nl_msg *nl, unsigned short type, uint32_t value)
{
	ur_nl_put_u32(nl, type, htonl(value));
}

static void put_table(struct ur_nl_msg *nl, unsigned short message,
		      unsigned short flags, const char *table)
{
	begin_message(nl, message, flags);
	ur_nl_put_text(nl, NFTA_TABLE_NAME, table);
}

static void put_chain(struct ur_nl_msg *nl, const char *table,
		      const char *chain, uint32_t hooknum, const char *port)
{
	u32 hook;

	begin_message(nl, NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	ur_nl_put_text(nl, NFTA_CHAIN_TABLE, table);
	ur_nl_put_text(nl, NFTA_CHAIN_NAME, chain);
	ur_nl_put_text(nl, NFTA_CHAIN_TYPE, "filter");
	hook = ur_nlmsg_nest(nl, NFTA_CHAIN_HOOK);
	put_be32(nl, NFTA_HOOK_HOOKNUM, hooknum);
	put_be32(nl, NFTA_HOOK_PRIORITY, 0);
	ur_nl_put_text(nl, NFTA_HOOK_DEV, port);
	ur_nl_nest_end(nl, hook);
}

/* The two nested attributes of an expression; end_expr() ends them. */
struct nest {
	u32 element, data;
};

static struct nest begin_expr(struct ur_nl_msg *nl, const char *name)
{
	struct nest nest = {.element = ur_nlmsg_nest(nl, NFTA_LIST_ELEM)};

	ur_nl_put_text(nl, NFTA_EXPR_NAME, name);
	nest.data = ur_nlmsg_nest(nl, NFTA_EXPR_DATA);
	return nest;
}

static void end_expr(struct ur_nl_msg *nl, struct nest nest)
{
	ur_nl_nest_end(nl, nest.data);
	ur_nl_nest_end(nl, nest.element);
}

static void put_value(struct ur_nl_msg *nl, unsigned short type,
		      const void *value, size_t size)
{
	u32 nest = ur_nlmsg_nest(nl, type);

	ur_nl_put(nl, NFTA_DATA_VALUE, value, (u32)size);
	ur_nl_nest_end(nl, nest);
}

/* Continues the rule if the comparison with register 1 holds. */
static void put_compare(struct ur_nl_msg *nl, enum nft_cmp_ops op,
			const void *value, size_t size)
{
	struct nest nest = begin_expr(nl, "cmp");

	put_be32(nl, NFTA_CMP_SREG, NFT_REG_1);
	put_be32(nl, NFTA_CMP_OP, op);
	put_value(nl, NFTA_CMP_DATA, value, size);
	end_expr(nl, nest);
}

/* Continues the rule for ppm packets of a million. */
static void put_chance(struct ur_nl_msg *nl, uint32_t ppm)
{
	uint32_t limit = htonl(ppm);
	struct nest nest = begin_expr(nl, "numgen");

	put_be32(nl, NFTA_NG_DREG, NFT_REG_1);
	put_be32(nl, NFTA_NG_MODULUS, UR_FABRIC_PPM);
	put_be32(nl, NFTA_NG_TYPE, NFT_NG_RANDOM);
	end_expr(nl, nest);
	/* The comparison is bytewise, so it needs big-endian. */
	nest = begin_expr(nl, "byteorder");
	put_be32(nl, NFTA_BYTEORDER_SREG, NFT_REG_1);
	put_be32(nl, NFTA_BYTEORDER_DREG, NFT_REG_1);
	put_be32(nl, NFTA_BYTEORDER_OP, NFT_BYTEORDER_HTON);
	put_be32(nl, NFTA_BYTEORDER_LEN, sizeof(limit));
	put_be32(nl, NFTA_BYTEORDER_SIZE, sizeof(limit));
	end_expr(nl, nest);
	put_compare(nl, NFT_CMP_LT, &limit, sizeof(limit));
}

static void put_drop(struct ur_nl_msg *nl)
{
	struct nest nest = begin_expr(nl, "immediate");
	u32 data, verdict;

	put_be32(nl, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = ur_nlmsg_nest(nl, NFTA_IMMEDIATE_DATA);
	verdict = ur_nlmsg_nest(nl, NFTA_DATA_VERDICT);
	put_be32(nl, NFTA_VERDICT_CODE, NF_DROP);
	ur_nl_nest_end(nl, verdict);
	ur_nl_nest_end(nl, data);
	end_expr(nl, nest);
}

/* Begins a rule. Returns the mark of its expressions. */
static u32 begin_rule(struct ur_nl_msg *nl, const char *table,
		      const char *chain)
{
	begin_message(nl, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
	ur_nl_put_text(nl, NFTA_RULE_TABLE, table);
	ur_nl_put_text(nl, NFTA_RULE_CHAIN, chain);
	return ur_nlmsg_nest(nl, NFTA_RULE_EXPRESSIONS);
}

/* The two ECN bits are in the second byte of either header. The kernel updates the IPv4
 * checksum only for an even offset, so two bytes are used. */
static const struct ecn_place {
	uint16_t ethertype;
	uint8_t bits[2];
	bool checksum; /* the header has one, at byte 10 */
} places[] = {{ETH_P_IP, {0, 0x03}, true}, {ETH_P_IPV6, {0, 0x30}, false}};

#define ECN_BYTES sizeof(places->bits)

static void put_place(struct ur_nl_msg *nl)
{
	put_be32(nl, NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
	put_be32(nl, NFTA_PAYLOAD_OFFSET, 0);
	put_be32(nl, NFTA_PAYLOAD_LEN, ECN_BYTES);
}

/* Loads the bytes with ECN into register 1, ANDs them with mask and XORs them with bits. */
static void put_ecn(struct ur_nl_msg *nl, const uint8_t mask[ECN_BYTES],
		    const uint8_t bits[ECN_BYTES])
{
	struct nest nest = begin_expr(nl, "payload");

	put_be32(nl, NFTA_PAYLOAD_DREG, NFT_REG_1);
	put_place(nl);
	end_expr(nl, nest);
	nest = begin_expr(nl, "bitwise");
	put_be32(nl, NFTA_BITWISE_SREG, NFT_REG_1);
	put_be32(nl, NFTA_BITWISE_DREG, NFT_REG_1);
	put_be32(nl, NFTA_BITWISE_LEN, ECN_BYTES);
	put_value(nl, NFTA_BITWISE_MASK, mask, ECN_BYTES);
	put_value(nl, NFTA_BITWISE_XOR, bits, ECN_BYTES);
	end_expr(nl, nest);
}

static void put_mark_rule(struct ur_nl_msg *nl, const char *table,
			  const char *chain, const struct ecn_place *place,
			  uint32_t ppm)
{
	static const uint8_t none[ECN_BYTES];
	const uint8_t others[] = {(uint8_t)~place->bits[0],
				  (uint8_t)~place->bits[1]};
	uint16_t ethertype = htons(place->ethertype);
	u32 rule = begin_rule(nl, table, chain);
	struct nest nest = begin_expr(nl, "meta");

	put_be32(nl, NFTA_META_DREG, NFT_REG_1);
	put_be32(nl, NFTA_META_KEY, NFT_META_PROTOCOL);
	end_expr(nl, nest);
	put_compare(nl, NFT_CMP_EQ, &ethertype, sizeof(ethertype));
	put_ecn(nl, place->bits, none);
	put_compare(nl, NFT_CMP_NEQ, none, sizeof(none));
	put_chance(nl, ppm);
	put_ecn(nl, others, place->bits);
	nest = begin_expr(nl, "payload");
	put_be32(nl, NFTA_PAYLOAD_SREG, NFT_REG_1);
	put_place(nl);
	if (place->checksum) {
		put_be32(nl, NFTA_PAYLOAD_CSUM_TYPE, NFT_PAYLOAD_CSUM_INET);
		put_be32(nl, NFTA_PAYLOAD_CSUM_OFFSET, 10);
	}
	end_expr(nl, nest);
	ur_nl_nest_end(nl, rule);
}

static void put_rules(struct ur_nl_msg *nl, const char *table,
		      const char *chain, uint32_t loss, uint32_t mark)
{
	u32 rule;

	if (loss) {
		rule = begin_rule(nl, table, chain);
		put_chance(nl, loss);
		put_drop(nl);
		ur_nl_nest_end(nl, rule);
	}
	for (size_t i = 0; i < 2 && mark; i++)
		put_mark_rule(nl, table, chain, &places[i], mark);
}

int ur_fabric_filter(const char *port, uint32_t loss, uint32_t mark,
		     struct ur_fabric_error *error)
{
	int sock = ur_nlmsg_open(NETLINK_NETFILTER), err;
	char table[IFNAMSIZ + 8];
	struct ur_nl_msg nl = {.large = true};

	/* No nftables, so no rules can exist, and none are requested. */
	if (sock < 0 && !loss && !mark)
		return 0;
	snprintf(table, sizeof(table), "link-%s", port);
	put_batch(&nl, NFNL_MSG_BATCH_BEGIN);
	/* Creates the table first, so that the deletion cannot fail. */
	put_table(&nl, NFT_MSG_NEWTABLE, NLM_F_CREATE, table);
	put_table(&nl, NFT_MSG_DELTABLE, 0, table);
	if (loss || mark) {
		put_table(&nl, NFT_MSG_NEWTABLE, NLM_F_CREATE, table);
		put_chain(&nl, table, "in", NF_NETDEV_INGRESS, port);
		put_rules(&nl, table, "in", loss, mark);
		put_chain(&nl, table, "out", NF_NETDEV_EGRESS, port);
		put_rules(&nl, table, "out", loss, mark);
	}
	put_batch(&nl, NFNL_MSG_BATCH_END);
	err = sock < 0 ? sock : ur_nlmsg_ask(sock, &nl);
	if (sock >= 0)
		close(sock);
	if (!err)
		return 0;
	if (err == -ENOENT || err == -EPROTONOSUPPORT)
		err = -EOPNOTSUPP;
	/* A kernel without nftables had no rules to delete. */
	if (err == -EOPNOTSUPP && !loss && !mark)
		return 0;
	return ur_fabric_fail(
		error, err,
		"loss and marks take nftables with hooks of family netdev at "
		"ingress and egress (Linux 5.16, CONFIG_NETFILTER_EGRESS, "
		"nf_tables, nft_numgen)");
}
