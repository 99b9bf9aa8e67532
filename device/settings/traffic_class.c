// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Rules for traffic classes: parses and formats them, and finds the one for a path. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/settings/traffic_class.h"
#include "util/text.h"

static const u8 v4_mapped[12] = {[10] = 0xff, [11] = 0xff};

void ur_tclass_init(struct ur_tclass *t)
{
	memset(t, 0, sizeof(*t));
	t->global = -1;
}

/* ---- text ---- */

/* A parsed rule; tclass -1 removes it. */
struct draft {
	struct ur_tclass_rule rule;
	bool v4, has_tclass;
	long tclass;
};

static int take_number(const char *text, long min, long max, long *value)
{
	char *end;

	errno = 0;
	*value = strtol(text, &end, 0);
	return end == text || *end || errno || *value < min || *value > max
		       ? -EINVAL
		       : 0;
}

static int take_v4(struct draft *d, char *text, bool dst)
{
	char *slash = dst ? strchr(text, '/') : NULL;
	long prefix = 32;

	if (slash) {
		*slash++ = '\0';
		if (take_number(slash, 1, 32, &prefix))
			return -EINVAL;
	}
	d->v4 = true;
	if (dst)
		d->rule.prefix = (u8)prefix;
	return inet_pton(AF_INET, text, dst ? d->rule.dst : d->rule.src) == 1
		       ? 0
		       : -EINVAL;
}

static int take_v6(struct draft *d, const char *text, bool dst)
{
	d->rule.v6 = true;
	if (dst)
		d->rule.prefix = 128;
	return inet_pton(AF_INET6, text, dst ? d->rule.dst : d->rule.src) == 1
		       ? 0
		       : -EINVAL;
}

static int take_word(struct draft *d, char *word)
{
	char *value = strchr(word, '=');

	if (!value) {
		d->has_tclass = true;
		return take_number(word, -1, 255, &d->tclass);
	}
	*value++ = '\0';
	if (!strcmp(word, "tclass")) {
		d->has_tclass = true;
		return take_number(value, -1, 255, &d->tclass);
	}
	if (!strncmp(word, "src_ip", 6)) {
		d->rule.by_src = true;
	} else if (!strncmp(word, "dst_ip", 6)) {
		d->rule.by_dst = true;
	} else {
		return -EINVAL;
	}
	if (!word[6])
		return take_v4(d, value, *word == 'd');
	return strcmp(word + 6, "6") ? -EINVAL
				     : take_v6(d, value, *word == 'd');
}

static int parse(struct draft *d, const char *text)
{
	char buf[256], *rest = buf, *word;
	int err = 0;

	if (strlen(text) >= sizeof(buf))
		return -EINVAL;
	strcpy(buf, text);
	while (!err && (word = strsep(&rest, ","))) {
		word = ur_text_trim(word);
		if (*word)
			err = take_word(d, word);
	}
	if (!err && (!d->has_tclass || (d->v4 && d->rule.v6)))
		err = -EINVAL;
	d->rule.used = true;
	d->rule.tclass = (u8)d->tclass;
	return err;
}

static bool same_addresses(const struct ur_tclass_rule *a,
			   const struct ur_tclass_rule *b)
{
	return a->used && a->v6 == b->v6 && a->by_src == b->by_src &&
	       a->by_dst == b->by_dst && a->prefix == b->prefix &&
	       !memcmp(a->src, b->src, 16) && !memcmp(a->dst, b->dst, 16);
}

/* Order: longer prefixes first, unused entries last. */
static int before(const void *a, const void *b)
{
	const struct ur_tclass_rule *x = a, *y = b;

	if (x->used != y->used)
		return x->used ? -1 : 1;
	return y->prefix - x->prefix;
}

int ur_tclass_store(struct ur_tclass *t, const char *text)
{
	struct draft d = {.has_tclass = false};
	struct ur_tclass_rule *to = NULL;
	int err = parse(&d, text);

	if (err)
		return err;
	if (!d.rule.by_src && !d.rule.by_dst) {
		t->global = (int)d.tclass;
		return 0;
	}
	for (u32 i = 0; i < UR_TCLASS_RULES && !to; i++)
		if (same_addresses(&t->rule[i], &d.rule))
			to = &t->rule[i];
	if (!to && d.tclass < 0)
		return 0;
	for (u32 i = 0; i < UR_TCLASS_RULES && !to; i++)
		if (!t->rule[i].used)
			to = &t->rule[i];
	if (!to)
		return -ENOMEM;
	if (d.tclass < 0)
		memset(to, 0, sizeof(*to));
	else
		*to = d.rule;
	qsort(t->rule, UR_TCLASS_RULES, sizeof(t->rule[0]), before);
	return 0;
}

/* Prints as the kernel's %pI6. */
static int print_v6(char *buf, size_t size, const u8 *a)
{
	return snprintf(buf, size,
			"%02x%02x:%02x%02x:%02x%02x:%02x%02x:"
			"%02x%02x:%02x%02x:%02x%02x:%02x%02x",
			a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
			a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
}

static void print_rule(const struct ur_tclass_rule *r, char *buf, size_t size)
{
	char src[48] = "", dst[48] = "", prefix[8] = "";
	const char *six = r->v6 ? "6" : "";
	int n = 0;

	if (r->v6) {
		print_v6(src, sizeof(src), r->src);
		print_v6(dst, sizeof(dst), r->dst);
	} else {
		inet_ntop(AF_INET, r->src, src, sizeof(src));
		inet_ntop(AF_INET, r->dst, dst, sizeof(dst));
		snprintf(prefix, sizeof(prefix), "/%u", r->prefix);
	}
	if (r->by_src)
		n = snprintf(buf, size, "src_ip%s=%s,", six, src);
	if (r->by_dst)
		n += snprintf(buf + n, size - (size_t)n, "dst_ip%s=%s%s,", six,
			      dst, prefix);
	snprintf(buf + n, size - (size_t)n, "tclass=%u\n", r->tclass);
}

void ur_tclass_show(const struct ur_tclass *t, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	if (t->global >= 0)
		snprintf(buf, size, "Global tclass=%d\n", t->global);
	for (u32 i = 0; i < UR_TCLASS_RULES && t->rule[i].used; i++) {
		n = strlen(buf);
		print_rule(&t->rule[i], buf + n, size - n);
	}
}

/* ---- a path ---- */

static bool same_bits(const u8 *a, const u8 *b, u32 bits)
{
	u32 whole = bits / 8, left = bits % 8;

	if (memcmp(a, b, whole))
		return false;
	return !left || !((a[whole] ^ b[whole]) & (0xff00 >> left) & 0xff);
}

static const struct ur_tclass_rule *find_rule(const struct ur_tclass *t,
					      const u8 *sgid, const u8 *dgid,
					      bool by_src, bool by_dst)
{
	bool v6 = memcmp(sgid, v4_mapped, sizeof(v4_mapped)) != 0;
	u32 skip = v6 ? 0 : 12;

	for (u32 i = 0; i < UR_TCLASS_RULES && t->rule[i].used; i++) {
		const struct ur_tclass_rule *r = &t->rule[i];

		if (r->v6 != v6 || r->by_src != by_src || r->by_dst != by_dst)
			continue;
		if (by_src && memcmp(r->src, sgid + skip, 16 - skip))
			continue;
		if (by_dst && !same_bits(r->dst, dgid + skip, r->prefix))
			continue;
		return r;
	}
	return NULL;
}

void ur_tclass_apply(const struct ur_tclass *t, const u8 sgid[16],
		     const u8 dgid[16], u8 *tclass, u8 *hop_limit)
{
	const struct ur_tclass_rule *r;

	if (t->ttl)
		*hop_limit = t->ttl;
	if (t->global >= 0) {
		*tclass = (u8)t->global;
		return;
	}
	r = find_rule(t, sgid, dgid, true, true);
	if (!r)
		r = find_rule(t, sgid, dgid, false, true);
	if (!r)
		r = find_rule(t, sgid, dgid, true, false);
	if (r)
		*tclass = r->tclass;
}
