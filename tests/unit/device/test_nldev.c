// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RDMA netlink's messages: what is refused, what is written. */
#include <errno.h>
#include <string.h>
#include "device/nldev/attr.h"
#include "tests/check.h"
#include "util/os/netlink_message.h"

static struct ur_nl_msg m;
static struct ur_nl_attrs attrs;

static void begin(void)
{
	ur_nl_cut(&m, 0);
	ur_nl_begin(&m, 0x1401, NLM_F_REQUEST, 7, 42);
}

/* Exactly as long as it is, so that a sanitizer sees a read beyond. */
static int parse(bool strict)
{
	struct nlmsghdr *copy;
	int err;

	ur_nl_end(&m);
	copy = malloc(m.len);
	CHECK(copy);
	memcpy(copy, m.buf, m.len);
	err = ur_nl_parse(&attrs, copy, strict);
	if (!err && ur_nl_has(&attrs, RDMA_NLDEV_ATTR_DEV_INDEX))
		CHECK_EQ(ur_nl_u32(&attrs, RDMA_NLDEV_ATTR_DEV_INDEX), 3);
	if (!err && ur_nl_has(&attrs, RDMA_NLDEV_ATTR_DEV_NAME))
		CHECK(!strcmp(ur_nl_text(&attrs, RDMA_NLDEV_ATTR_DEV_NAME),
			      "uroce0"));
	free(copy);
	return err;
}

static void test_parse(void)
{
	begin();
	CHECK_EQ(parse(true), 0);
	CHECK(!ur_nl_has(&attrs, RDMA_NLDEV_ATTR_DEV_INDEX));
	begin();
	ur_nl_put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	ur_nl_put_text(&m, RDMA_NLDEV_ATTR_DEV_NAME, "uroce0");
	CHECK_EQ(parse(true), 0);
	CHECK(ur_nl_has(&attrs, RDMA_NLDEV_ATTR_DEV_INDEX));
	CHECK(ur_nl_has(&attrs, RDMA_NLDEV_ATTR_DEV_NAME));
	/* The last of two. */
	begin();
	ur_nl_put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, 9);
	ur_nl_put_u32(&m, RDMA_NLDEV_ATTR_DEV_INDEX, 3);
	CHECK_EQ(parse(true), 0);
}

/* An integer is as long as it is; a longer one passes where nothing is
 * changed. */
static void test_integers(void)
{
	begin();
	ur_nl_put(&m, RDMA_NLDEV_ATTR_DEV_INDEX, "\3\0", 3);
	CHECK_EQ(parse(false), -EINVAL);
	CHECK(!strcmp(attrs.why, "Attribute failed policy validation"));
	CHECK_EQ(attrs.where, NLMSG_HDRLEN);
	begin();
	ur_nl_put(&m, RDMA_NLDEV_ATTR_DEV_INDEX, "\3\0\0\0\0\0\0", 8);
	CHECK_EQ(parse(false), 0);
	CHECK_EQ(parse(true), -EINVAL);
	begin();
	ur_nl_put(&m, RDMA_NLDEV_ATTR_DEV_INDEX, NULL, 0);
	CHECK_EQ(parse(false), -EINVAL);
}

static void test_texts(void)
{
	char longest[80];

	begin();
	ur_nl_put(&m, RDMA_NLDEV_ATTR_DEV_NAME, "uroce0", 6); /* no NUL */
	CHECK_EQ(parse(false), -EINVAL);
	begin();
	ur_nl_put(&m, RDMA_NLDEV_ATTR_DEV_NAME, NULL, 0);
	CHECK_EQ(parse(false), -EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[65] = 0;
	begin();
	ur_nl_put_text(&m, RDMA_NLDEV_ATTR_DEV_NAME, longest);
	CHECK_EQ(parse(false), -EINVAL);
}

static void test_unknown(void)
{
	begin();
	ur_nl_put_u32(&m, UR_NLDEV_ATTR_MAX + 5, 1);
	CHECK_EQ(parse(false), 0);
	CHECK_EQ(parse(true), -EINVAL);
	CHECK(!strcmp(attrs.why, "Unknown attribute type"));
	begin();
	ur_nl_put_u32(&m, RDMA_NLDEV_ATTR_RES_RKEY, 1); /* of no request */
	CHECK_EQ(parse(false), 0);
	CHECK(!ur_nl_has(&attrs, RDMA_NLDEV_ATTR_RES_RKEY));
	CHECK_EQ(parse(true), -EINVAL);
}

/* Lengths that say more, or less, than there is. */
static void test_lengths(void)
{
	static const u16 lens[] = {0, 1, 3, 9, 12, 0xffff};
	struct nlattr a = {.nla_type = RDMA_NLDEV_ATTR_DEV_INDEX};

	for (u32 i = 0; i < UR_ARRAY_SIZE(lens); i++) {
		begin();
		a.nla_len = lens[i];
		ur_nl_put_raw(&m, &a, sizeof(a));
		ur_nl_put_raw(&m, "\3\0\0", 4);
		CHECK_EQ(parse(false), 0);
		CHECK(!ur_nl_has(&attrs, RDMA_NLDEV_ATTR_DEV_INDEX));
		CHECK_EQ(parse(true), -EINVAL);
	}
	/* The padding of the last one is not there. */
	begin();
	ur_nl_put_text(&m, RDMA_NLDEV_ATTR_DEV_NAME, "uroce0");
	m.len--;
	CHECK_EQ(parse(true), 0);
	CHECK(ur_nl_has(&attrs, RDMA_NLDEV_ATTR_DEV_NAME));
}

static void test_full(void)
{
	u32 n = 0, nest, before = 0;

	begin();
	nest = ur_nl_nest(&m, RDMA_NLDEV_ATTR_RES_QP);
	for (; !m.full; n++) {
		before = m.len;
		ur_nl_put_u64(&m, RDMA_NLDEV_ATTR_RES_IOVA, n);
	}
	CHECK_EQ(before, m.len);
	CHECK_EQ(n - 1, (UR_NL_BYTES - NLMSG_HDRLEN - NLA_HDRLEN) / 12);
	/* Void, smaller ones too, until it is cut. */
	ur_nl_put_u8(&m, RDMA_NLDEV_ATTR_RES_STATE, 1);
	CHECK_EQ(before, m.len);
	ur_nl_cut(&m, before - 12);
	ur_nl_put_u8(&m, RDMA_NLDEV_ATTR_RES_STATE, 1);
	CHECK(!m.full && m.len == before - 12 + 8);
	ur_nl_nest_end(&m, nest);
	ur_nl_end(&m);
	CHECK_EQ(((struct nlmsghdr *)m.buf)->nlmsg_len, m.len);
	CHECK_EQ(((struct nlattr *)(m.buf + nest))->nla_len, m.len - nest);
}

int main(void)
{
	test_parse();
	test_integers();
	test_texts();
	test_unknown();
	test_lengths();
	test_full();
	return 0;
}
