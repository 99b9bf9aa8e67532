// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The text form of fault rules, and when a rule strikes. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/fault_rule.h"
#include "engine/engine.h"
#include "util/verbs_words.h"

/* Size of the buffer for one word of a rule. */
#define WORD_MAX 64

struct name {
	const char *name;
	u64 number;
};

#define STATUS(number, name, word, ...) {word, number},
static const struct name statuses[] = {UR_WC_ERROR_LIST(STATUS){0}};

/* The NAK codes of IBTA 9.7.5.2.8. */
static const struct name naks[] = {
	{"inv_req", UR_REFUSE_INV_REQ},
	{"rem_access", UR_REFUSE_ACCESS},
	{"rem_op", UR_REFUSE_OP},
	{0},
};

static const struct name ops[] = {
	{"send", UR_FAULT_OP_SEND},
	{"write", UR_FAULT_OP_WRITE},
	{"read", UR_FAULT_OP_READ},
	{"atomic", UR_FAULT_OP_ATOMIC},
	{"flush", UR_FAULT_OP_FLUSH},
	{"response", UR_FAULT_OP_RESPONSE},
	{"ack", UR_FAULT_OP_ACK},
	{"nak", UR_FAULT_OP_NAK},
	{"cm", UR_FAULT_OP_CM},
	{"cnp", UR_FAULT_OP_CNP},
	{0},
};

#define REQUESTS                                                   \
	(UR_FAULT_OP_SEND | UR_FAULT_OP_WRITE | UR_FAULT_OP_READ | \
	 UR_FAULT_OP_ATOMIC | UR_FAULT_OP_FLUSH)

/* The conditions that a rule of an action may have. */
#define BY_DIR	(1u << 0)
#define BY_PEER (1u << 1)
#define BY_OP	(1u << 2)
#define BY_QP	(1u << 3)
#define BY_TURN (1u << 4) /* after, nth, prob, count, seed */
#define PACKETS (BY_PEER | BY_OP | BY_QP | BY_TURN)

static const struct action {
	const char *name;
	const struct name *values; /* names of values; NULL: a number */
	u64 min, max;		   /* max 0: there is no value */
	bool optional;
	u32 by;
	u32 ops; /* that op= may name */
} actions[UR_FAULT_ACTIONS] = {
	[UR_FAULT_DROP] = {"drop", .by = PACKETS | BY_DIR, .ops = ~0u},
	[UR_FAULT_DUP] = {"dup", .by = PACKETS | BY_DIR, .ops = ~0u},
	[UR_FAULT_DELAY] = {"delay", NULL, 1, 10000000, .by = PACKETS | BY_DIR,
			    .ops = ~0u},
	[UR_FAULT_REORDER] = {"reorder", .by = PACKETS | BY_DIR, .ops = ~0u},
	[UR_FAULT_CORRUPT] = {"corrupt", .by = PACKETS | BY_DIR, .ops = ~0u},
	[UR_FAULT_CM_DROP] = {"cm-drop", .by = BY_PEER | BY_TURN | BY_DIR},
	[UR_FAULT_SLOW] = {"slow", NULL, 1, 100000,
			   .by = BY_PEER | BY_OP | BY_QP | BY_DIR, .ops = ~0u},
	[UR_FAULT_STALL] = {"stall", NULL, 1, 60000, .by = PACKETS | BY_DIR,
			    .ops = ~0u},
	[UR_FAULT_NAK] = {"nak", naks, .by = BY_OP | BY_QP | BY_TURN,
			  .ops = REQUESTS},
	[UR_FAULT_RNR] = {"rnr", .by = BY_QP | BY_TURN},
	[UR_FAULT_WC] = {"wc", statuses, .by = BY_OP | BY_QP | BY_TURN,
			 .ops = REQUESTS},
	[UR_FAULT_CQ_OVERRUN] = {"cq-overrun", .by = BY_QP | BY_TURN},
	[UR_FAULT_REG_ENOMEM] = {"reg-enomem", .by = BY_TURN},
	[UR_FAULT_CM_REJECT] = {"cm-reject", NULL, 1, UINT16_MAX, true,
				.by = BY_TURN},
	[UR_FAULT_LINK_DOWN] = {"link-down", NULL, 1, 600000, true},
	[UR_FAULT_GID_CHANGE] = {"gid-change"},
	[UR_FAULT_PORT_ERROR] = {"port-error"},
	[UR_FAULT_DEVICE_FATAL] = {"device-fatal"},
};

bool ur_fault_of_packets(enum ur_fault_action action)
{
	return action <= UR_FAULT_STALL;
}

static bool find_name(const struct name *names, const char *text, u64 *number)
{
	for (; names->name; names++) {
		if (strcmp(names->name, text))
			continue;
		*number = names->number;
		return true;
	}
	return false;
}

/* Parses a whole number from min to max, decimal, or hexadecimal after 0x. */
static bool number(const char *text, u64 min, u64 max, u64 *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return !*end && !errno && *out >= min && *out <= max;
}

/* Parses a number from 0 to 1, by digits alone: no locale, no exponent, no infinity. */
static bool probability(const char *text, u64 *out)
{
	double v;
	char *end;

	if (strspn(text, "0123456789.") != strlen(text) || !*text)
		return false;
	v = strtod(text, &end);
	if (*end || v < 0 || v > 1)
		return false;
	*out = (u64)(v * 4294967296.0);
	return true;
}

static bool address(const char *text, u8 gid[16])
{
	struct in_addr v4;

	if (inet_pton(AF_INET6, text, gid) == 1)
		return true;
	if (inet_pton(AF_INET, text, &v4) != 1)
		return false;
	memset(gid, 0, 10);
	gid[10] = gid[11] = 0xff;
	memcpy(gid + 12, &v4, 4);
	return true;
}

static bool some_ops(char *text, u32 allowed, u32 *out)
{
	char *one;
	u64 op;

	while ((one = strsep(&text, ","))) {
		if (!find_name(ops, one, &op) || !(op & allowed))
			return false;
		*out |= (u32)op;
	}
	return true;
}

static const char *limit(struct ur_fault_rule *r, const char *key, char *value)
{
	const struct action *a = &actions[r->action];
	static const char not_here[] = "does not limit this action";
	u64 n;

	if (!strcmp(key, "dir")) {
		r->in = !strcmp(value, "in");
		if (!(a->by & BY_DIR))
			return not_here;
		return r->in || !strcmp(value, "out") ? NULL : "is in or out";
	}
	if (!strcmp(key, "qp")) {
		if (!(a->by & BY_QP))
			return not_here;
		if (!number(value, 0, 0xffffff, &n))
			return "is no queue pair number";
		r->by_qp = true;
		r->qpn = (u32)n;
		return NULL;
	}
	if (!strcmp(key, "peer")) {
		if (!(a->by & BY_PEER))
			return not_here;
		r->by_peer = true;
		return address(value, r->peer) ? NULL : "is no address";
	}
	if (!strcmp(key, "op")) {
		if (!(a->by & BY_OP))
			return not_here;
		return some_ops(value, a->ops, &r->ops)
			       ? NULL
			       : "is none of the operations of this action";
	}
	if (!strcmp(key, "prob")) {
		if (!(a->by & BY_TURN))
			return not_here;
		return probability(value, &r->prob) ? NULL
						    : "is not from 0 to 1";
	}
	for (u32 i = 0; i < 4; i++) {
		static const char *const keys[] = {"after", "nth", "count",
						   "seed"};
		u64 *const fields[] = {&r->after, &r->nth, &r->count, &r->seed};

		if (strcmp(key, keys[i]))
			continue;
		if (!(a->by & BY_TURN))
			return not_here;
		return number(value, 0, UINT64_MAX, fields[i]) ? NULL
							       : "is no number";
	}
	return "is not known";
}

static const char *action(struct ur_fault_rule *r, const char *name,
			  const char *value)
{
	const struct action *a;

	for (u32 i = 0; i < UR_FAULT_ACTIONS; i++) {
		a = &actions[i];
		if (strcmp(a->name, name))
			continue;
		r->action = i;
		if (!value)
			return a->values || (a->max && !a->optional)
				       ? "needs a value"
				       : NULL;
		if (a->values)
			return find_name(a->values, value, &r->value)
				       ? NULL
				       : "has no such value";
		if (!a->max)
			return "has no value";
		return number(value, a->min, a->max, &r->value)
			       ? NULL
			       : "has no such value";
	}
	return "is no action";
}

/* Copies the next word of *text, split at '='. *start: where it begins. */
static bool next_word(const char **text, char *word, char **value,
		      const char **start)
{
	size_t n;

	*text += strspn(*text, " ");
	*start = *text;
	n = strcspn(*text, " ");
	*text += n;
	*value = NULL;
	if (!n || n >= WORD_MAX)
		return false;
	memcpy(word, *start, n);
	word[n] = '\0';
	*value = strchr(word, '=');
	if (*value)
		*(*value)++ = '\0';
	return true;
}

int ur_fault_parse(const char *text, struct ur_fault_rule *rule,
		   const char **why, const char **word)
{
	char buf[WORD_MAX], *value;

	*rule = (struct ur_fault_rule){.prob = 1ull << 32};
	*why = "an action comes first";
	if (!next_word(&text, buf, &value, word))
		return -EINVAL;
	*why = action(rule, buf, value);
	if (rule->action == UR_FAULT_CM_DROP)
		rule->ops = UR_FAULT_OP_CM;
	while (!*why && next_word(&text, buf, &value, word))
		*why = value ? limit(rule, buf, value) : "needs a value";
	if (!*why && **word)
		*why = "is too long";
	return *why ? -EINVAL : 0;
}

void ur_fault_begin(struct ur_fault_state *state,
		    const struct ur_fault_rule *rule)
{
	*state = (struct ur_fault_state){.rng = {rule->seed}};
}

/* An atomic store by the only writer, since other threads read the counter. */
static u64 add_one(u64 *counter)
{
	u64 n = *counter + 1;

	__atomic_store_n(counter, n, __ATOMIC_RELAXED);
	return n;
}

bool ur_fault_strikes(struct ur_fault_state *state,
		      const struct ur_fault_rule *rule)
{
	u64 n = add_one(&state->matched);

	if (n <= rule->after || (rule->count && state->done >= rule->count))
		return false;
	if (rule->nth && (n - rule->after) % rule->nth)
		return false;
	if (rule->prob < 1ull << 32 &&
	    ur_rng_u64(&state->rng) >> 32 >= rule->prob)
		return false;
	add_one(&state->done);
	return true;
}
