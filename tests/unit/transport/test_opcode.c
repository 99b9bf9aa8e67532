// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The opcode table against an independent list of what exists. */
#include <string.h>

#include "tests/check.h"
#include "transport/opcode.h"

/* Low five bits that a service has. */
static bool exists(u8 opcode)
{
	u8 op = opcode & UR_OPC_MASK;

	switch (opcode & UR_SVC_MASK) {
	case 0x00:
	case 0xa0:
		return op <= 0x14 || op == 0x16 || op == 0x17 || op == 0x1c ||
		       op == 0x1d;
	case 0x20:
		return op <= 0x0b;
	case 0x60:
		return op == 0x04 || op == 0x05;
	case 0x80:
		return op == 0x01;
	}
	return false;
}

/* Header bytes behind the BTH by low five bits, as IBTA lists them. */
static u32 extra_bytes(u8 opcode)
{
	static const u8 bytes[32] = {
		[0x03] = 4,  [0x05] = 4,  [0x06] = 16, [0x09] = 4,  [0x0a] = 16,
		[0x0b] = 20, [0x0c] = 16, [0x0d] = 4,  [0x0f] = 4,  [0x10] = 4,
		[0x11] = 4,  [0x12] = 12, [0x13] = 28, [0x14] = 28, [0x16] = 4,
		[0x17] = 4,  [0x1c] = 20, [0x1d] = 16,
	};
	u8 op = opcode & UR_OPC_MASK;
	u32 n = bytes[op];

	if ((opcode & UR_SVC_MASK) == 0x60)
		n += 8;
	if ((opcode & UR_SVC_MASK) == 0xa0 && (op < 0x0d || op > 0x12))
		n += 4;
	return opcode == 0x81 ? 16 : n;
}

static void check_entry(const struct ur_opcode *op)
{
	u32 f = op->flags;
	u32 place =
		f & (UR_OPF_FIRST | UR_OPF_MIDDLE | UR_OPF_LAST | UR_OPF_ONLY);

	CHECK(__builtin_popcount(f & (UR_OPF_REQUEST | UR_OPF_RESPONSE)) ==
	      !(f & UR_OPF_CNP));
	CHECK(__builtin_popcount(place) == !(f & UR_OPF_CNP));
	CHECK(!!(f & UR_OPF_START) == !!(place & (UR_OPF_FIRST | UR_OPF_ONLY)));
	CHECK(!!(f & UR_OPF_END) == !!(place & (UR_OPF_LAST | UR_OPF_ONLY)));
	CHECK(__builtin_popcount(f & 0x3ff) == 1);
	if (f & UR_OPF_RECV_WQE)
		CHECK(f & UR_OPF_SEND ? f & UR_OPF_START
				      : (f & UR_OPF_WRITE) && (f & UR_OPF_IMM));
}

int main(void)
{
	for (int i = 0; i < 256; i++) {
		const struct ur_opcode *op = ur_opcode_lookup((u8)i);

		CHECK_EQ(op->flags != 0, exists((u8)i));
		CHECK_EQ(op->name != NULL, exists((u8)i));
		if (!op->flags)
			continue;
		CHECK_EQ(op->header_bytes, 12 + extra_bytes((u8)i));
		CHECK(op->header_bytes <= UR_HEADERS_MAX_BYTES);
		check_entry(op);
	}
	CHECK(!strcmp(ur_opcode_name(UR_OP_RC_SEND_FIRST), "RC SEND_FIRST"));
	CHECK(!strcmp(ur_opcode_name(0xa0 | UR_OPC_ACK), "XRC ACK"));
	CHECK(!strcmp(ur_opcode_name(UR_OP_CNP), "CNP"));
	CHECK(!strcmp(ur_opcode_name(0xff), "?"));
	return 0;
}
