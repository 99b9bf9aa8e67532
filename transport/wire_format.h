/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * RoCE wire formats as constants, and nothing else. Values are those of the
 * InfiniBand Architecture Specification, volume 1: chapter 9 (transport
 * headers), annex A14 (XRC), A16 (RoCE), A17 (RoCEv2), A19 (FLUSH and ATOMIC
 * WRITE). All fields are big-endian, the ICRC alone is little-endian.
 */
#ifndef UR_TRANSPORT_WIRE_FORMAT_H
#define UR_TRANSPORT_WIRE_FORMAT_H

/* Encapsulation */
#define UR_ROCE_V2_UDP_PORT  4791
#define UR_ROCE_V1_ETHERTYPE 0x8915
#define UR_GRH_NEXT_HDR_IBA  0x1b /* next header of a RoCEv1 GRH */
#define UR_IPV4_BYTES	     20	  /* RoCE allows no options */
#define UR_IPV6_BYTES	     40
#define UR_GRH_BYTES	     40
#define UR_UDP_BYTES	     8
#define UR_ICRC_BYTES	     4
#define UR_IPV4_DF	     0x4000 /* flags and fragment offset word */
#define UR_UDP_SPORT_MIN     0xc000
#define UR_ECN_MASK	     0x03 /* low two bits of ToS / traffic class */
#define UR_ECN_ECT1	     0x01
#define UR_ECN_ECT0	     0x02
#define UR_ECN_CE	     0x03

/* Header sizes in bytes, in the order in which they follow each other */
#define UR_BTH_BYTES	      12
#define UR_DETH_BYTES	      8
#define UR_XRCETH_BYTES	      4
#define UR_FETH_BYTES	      4
#define UR_RETH_BYTES	      16
#define UR_ATOMICETH_BYTES    28
#define UR_AETH_BYTES	      4
#define UR_ATOMICACKETH_BYTES 8
#define UR_IMMDT_BYTES	      4
#define UR_IETH_BYTES	      4
#define UR_CNP_RSVD_BYTES     16 /* zeros behind the BTH of a CNP */
/* The longest: XRC CMP_SWAP, 12 + 4 + 28. */
#define UR_HEADERS_MAX_BYTES 44
/* The headers of IPv6 and UDP, all IB headers, 4096 bytes of payload, ICRC. */
#define UR_MTU_MAX_BYTES 4096
#define UR_FRAME_MAX_BYTES                                     \
	(UR_IPV6_BYTES + UR_UDP_BYTES + UR_HEADERS_MAX_BYTES + \
	 UR_MTU_MAX_BYTES + UR_ICRC_BYTES)

/* BTH bits: byte 1, byte 4, byte 8 */
#define UR_BTH_SE	 0x80
#define UR_BTH_MIGREQ	 0x40
#define UR_BTH_PAD_SHIFT 4
#define UR_BTH_PAD_MASK	 0x30
#define UR_BTH_TVER_MASK 0x0f
#define UR_BTH_FECN	 0x80
#define UR_BTH_BECN	 0x40
#define UR_BTH_ACKREQ	 0x80

#define UR_24BIT_MASK	 0xffffffu
#define UR_PSN_MASK	 UR_24BIT_MASK
#define UR_MSN_MASK	 UR_24BIT_MASK
#define UR_QPN_MASK	 UR_24BIT_MASK
#define UR_QPN_SMI	 0
#define UR_QPN_GSI	 1
#define UR_QPN_MULTICAST 0xffffffu
#define UR_MAD_BYTES	 256 /* payload of a datagram of QP0 and QP1 */

#define UR_PKEY_DEFAULT	   0xffff
#define UR_QKEY_GSI	   0x80010000u /* QP1 */
#define UR_QKEY_PRIVILEGED 0x80000000u /* high bit: controlled Q_Key */

/* AETH syndrome: three class bits, five bits of value */
#define UR_AETH_CLASS_MASK  0x60
#define UR_AETH_VALUE_MASK  0x1f
#define UR_AETH_ACK	    0x00 /* value: credit code */
#define UR_AETH_RNR_NAK	    0x20 /* value: RNR timer code */
#define UR_AETH_NAK	    0x60 /* value: NAK code */
#define UR_AETH_CREDIT_NONE 0x1f /* no end-to-end credits in use */
#define UR_NAK_PSN_SEQ	    0
#define UR_NAK_INV_REQ	    1
#define UR_NAK_REM_ACCESS   2
#define UR_NAK_REM_OP	    3
#define UR_NAK_INV_RD_REQ   4

/* FETH: placement type bits 3..0, selectivity level bits 5..4 */
#define UR_FETH_GLOBAL	   0x1
#define UR_FETH_PERSISTENT 0x2
#define UR_FETH_SEL_MR	   1

/* Transport service: high three bits of the opcode */
#define UR_SVC_MASK 0xe0
#define UR_SVC_RC   0x00
#define UR_SVC_UC   0x20
#define UR_SVC_UD   0x60
#define UR_SVC_CNP  0x80
#define UR_SVC_XRC  0xa0
/* The service of raw packet queue pairs, for which no packet with a BTH is
 * meant. */
#define UR_SVC_RAW 0xff

/* Operation: low five bits of the opcode */
#define UR_OPC_MASK		0x1f
#define UR_OPC_SEND_FIRST	0x00
#define UR_OPC_SEND_MIDDLE	0x01
#define UR_OPC_SEND_LAST	0x02
#define UR_OPC_SEND_LAST_IMM	0x03
#define UR_OPC_SEND_ONLY	0x04
#define UR_OPC_SEND_ONLY_IMM	0x05
#define UR_OPC_WRITE_FIRST	0x06
#define UR_OPC_WRITE_MIDDLE	0x07
#define UR_OPC_WRITE_LAST	0x08
#define UR_OPC_WRITE_LAST_IMM	0x09
#define UR_OPC_WRITE_ONLY	0x0a
#define UR_OPC_WRITE_ONLY_IMM	0x0b
#define UR_OPC_READ_REQ		0x0c
#define UR_OPC_READ_RESP_FIRST	0x0d
#define UR_OPC_READ_RESP_MIDDLE 0x0e
#define UR_OPC_READ_RESP_LAST	0x0f
#define UR_OPC_READ_RESP_ONLY	0x10
#define UR_OPC_ACK		0x11
#define UR_OPC_ATOMIC_ACK	0x12
#define UR_OPC_CMP_SWAP		0x13
#define UR_OPC_FETCH_ADD	0x14
#define UR_OPC_SEND_LAST_INV	0x16
#define UR_OPC_SEND_ONLY_INV	0x17
#define UR_OPC_FLUSH		0x1c
#define UR_OPC_ATOMIC_WRITE	0x1d

/* clang-format off */
#define UR_OP_RC_SEND_FIRST	  (UR_SVC_RC | UR_OPC_SEND_FIRST)
#define UR_OP_RC_SEND_MIDDLE	  (UR_SVC_RC | UR_OPC_SEND_MIDDLE)
#define UR_OP_RC_SEND_LAST	  (UR_SVC_RC | UR_OPC_SEND_LAST)
#define UR_OP_RC_SEND_LAST_IMM	  (UR_SVC_RC | UR_OPC_SEND_LAST_IMM)
#define UR_OP_RC_SEND_ONLY	  (UR_SVC_RC | UR_OPC_SEND_ONLY)
#define UR_OP_RC_SEND_ONLY_IMM	  (UR_SVC_RC | UR_OPC_SEND_ONLY_IMM)
#define UR_OP_RC_WRITE_FIRST	  (UR_SVC_RC | UR_OPC_WRITE_FIRST)
#define UR_OP_RC_WRITE_MIDDLE	  (UR_SVC_RC | UR_OPC_WRITE_MIDDLE)
#define UR_OP_RC_WRITE_LAST	  (UR_SVC_RC | UR_OPC_WRITE_LAST)
#define UR_OP_RC_WRITE_LAST_IMM	  (UR_SVC_RC | UR_OPC_WRITE_LAST_IMM)
#define UR_OP_RC_WRITE_ONLY	  (UR_SVC_RC | UR_OPC_WRITE_ONLY)
#define UR_OP_RC_WRITE_ONLY_IMM	  (UR_SVC_RC | UR_OPC_WRITE_ONLY_IMM)
#define UR_OP_RC_READ_REQ	  (UR_SVC_RC | UR_OPC_READ_REQ)
#define UR_OP_RC_READ_RESP_FIRST  (UR_SVC_RC | UR_OPC_READ_RESP_FIRST)
#define UR_OP_RC_READ_RESP_MIDDLE (UR_SVC_RC | UR_OPC_READ_RESP_MIDDLE)
#define UR_OP_RC_READ_RESP_LAST	  (UR_SVC_RC | UR_OPC_READ_RESP_LAST)
#define UR_OP_RC_READ_RESP_ONLY	  (UR_SVC_RC | UR_OPC_READ_RESP_ONLY)
#define UR_OP_RC_ACK		  (UR_SVC_RC | UR_OPC_ACK)
#define UR_OP_RC_ATOMIC_ACK	  (UR_SVC_RC | UR_OPC_ATOMIC_ACK)
#define UR_OP_RC_CMP_SWAP	  (UR_SVC_RC | UR_OPC_CMP_SWAP)
#define UR_OP_RC_FETCH_ADD	  (UR_SVC_RC | UR_OPC_FETCH_ADD)
#define UR_OP_RC_SEND_LAST_INV	  (UR_SVC_RC | UR_OPC_SEND_LAST_INV)
#define UR_OP_RC_SEND_ONLY_INV	  (UR_SVC_RC | UR_OPC_SEND_ONLY_INV)
#define UR_OP_RC_FLUSH		  (UR_SVC_RC | UR_OPC_FLUSH)
#define UR_OP_RC_ATOMIC_WRITE	  (UR_SVC_RC | UR_OPC_ATOMIC_WRITE)

#define UR_OP_UC_SEND_FIRST	  (UR_SVC_UC | UR_OPC_SEND_FIRST)
#define UR_OP_UC_SEND_MIDDLE	  (UR_SVC_UC | UR_OPC_SEND_MIDDLE)
#define UR_OP_UC_SEND_LAST	  (UR_SVC_UC | UR_OPC_SEND_LAST)
#define UR_OP_UC_SEND_LAST_IMM	  (UR_SVC_UC | UR_OPC_SEND_LAST_IMM)
#define UR_OP_UC_SEND_ONLY	  (UR_SVC_UC | UR_OPC_SEND_ONLY)
#define UR_OP_UC_SEND_ONLY_IMM	  (UR_SVC_UC | UR_OPC_SEND_ONLY_IMM)
#define UR_OP_UC_WRITE_FIRST	  (UR_SVC_UC | UR_OPC_WRITE_FIRST)
#define UR_OP_UC_WRITE_MIDDLE	  (UR_SVC_UC | UR_OPC_WRITE_MIDDLE)
#define UR_OP_UC_WRITE_LAST	  (UR_SVC_UC | UR_OPC_WRITE_LAST)
#define UR_OP_UC_WRITE_LAST_IMM	  (UR_SVC_UC | UR_OPC_WRITE_LAST_IMM)
#define UR_OP_UC_WRITE_ONLY	  (UR_SVC_UC | UR_OPC_WRITE_ONLY)
#define UR_OP_UC_WRITE_ONLY_IMM	  (UR_SVC_UC | UR_OPC_WRITE_ONLY_IMM)

#define UR_OP_UD_SEND_ONLY	  (UR_SVC_UD | UR_OPC_SEND_ONLY)
#define UR_OP_UD_SEND_ONLY_IMM	  (UR_SVC_UD | UR_OPC_SEND_ONLY_IMM)

#define UR_OP_CNP		  (UR_SVC_CNP | 0x01)

/* XRC has every operation of RC: UR_SVC_XRC | UR_OPC_... */
/* clang-format on */

#endif
