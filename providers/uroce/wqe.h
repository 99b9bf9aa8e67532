/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The segments of a send WQE, written at block sq->next. ds counts 16-byte
 * units from the start of the WQE. Each writer, ur_wqe_put_*(), writes its
 * segment at unit ds and returns the unit after it. A segment of 16 bytes never
 * wraps around the ring's end; longer ones are written in 16-byte pieces. All
 * need the queue's lock and enough room.
 */
#ifndef UR_PROVIDERS_UROCE_WQE_H
#define UR_PROVIDERS_UROCE_WQE_H

#include "uroce.h"

/* The segment between the control (and address) segment and the data. */
enum ur_wqe_remote {
	UR_WQE_PLAIN,
	UR_WQE_RADDR,
	UR_WQE_ATOMIC,
	UR_WQE_LOCAL, /* bind or invalidate: no data */
};

_Static_assert(IBV_SEND_SIGNALED == 2 && IBV_SEND_SOLICITED == 4 &&
		       IBV_SEND_FENCE == 1 && IBV_SEND_INLINE == 8,
	       "flags are translated below");

/* The flags that work requests may have. IBV_SEND_IP_CSUM is missing: no
 * capability offers checksums. */
#define UR_SEND_FLAGS                                        \
	((unsigned int)(IBV_SEND_FENCE | IBV_SEND_SIGNALED | \
			IBV_SEND_SOLICITED | IBV_SEND_INLINE))

/* Returns the UROCE_WQE_F_* of IBV_SEND_* flags. */
static inline u8 ur_wqe_flags(unsigned int send_flags)
{
	u8 f = 0;

	f |= send_flags & IBV_SEND_SIGNALED ? UROCE_WQE_F_SIGNALED : 0;
	f |= send_flags & IBV_SEND_SOLICITED ? UROCE_WQE_F_SOLICITED : 0;
	f |= send_flags & IBV_SEND_FENCE ? UROCE_WQE_F_FENCE : 0;
	f |= send_flags & IBV_SEND_INLINE ? UROCE_WQE_F_INLINE : 0;
	return f;
}

/* Returns how many building blocks ds units take. */
static inline u32 ur_wqe_bbs(u32 ds)
{
	return (ds + 3) / 4;
}

/* Return the number of units of a segment: inline data of so many bytes; the
 * address vector of a kind of queue pair (UR_SENDS_*); the segment between
 * these, of an opcode. */
static inline u32 ur_wqe_inline_ds(u32 bytes)
{
	return (bytes + (u32)sizeof(struct uroce_wqe_inline) + 15) / 16;
}

static inline u32 ur_wqe_av_ds(u16 qpt_bit)
{
	return qpt_bit & (UR_SENDS_UD | UR_SENDS_XRC) ? 1 : 0;
}

static inline u32 ur_wqe_middle_ds(u8 remote, u8 opcode)
{
	if (opcode == UROCE_WQE_BIND_MW)
		return sizeof(struct uroce_wqe_bind) / 16;
	return remote == UR_WQE_ATOMIC ? 2 : remote == UR_WQE_RADDR ? 1 : 0;
}

static inline void ur_wqe_put_ctrl(const struct ur_sq *sq, u8 opcode, u8 flags,
				   u32 ds, u32 imm_inv, u64 wr_id)
{
	struct uroce_wqe_ctrl *c = ur_sq_seg(sq, sq->next, 0);

	*c = (struct uroce_wqe_ctrl){
		.opcode = opcode,
		.flags = flags,
		.ds = (u8)ds,
		.imm_inv = imm_inv,
		.wr_id = wr_id,
	};
}

static inline u32 ur_wqe_put_av(const struct ur_sq *sq, u32 ah, u32 dqpn,
				u32 qkey, u32 srqn)
{
	struct uroce_wqe_av *av = ur_sq_seg(sq, sq->next, 1);

	*av = (struct uroce_wqe_av){
		.ah = ah,
		.dqpn = dqpn,
		.qkey = qkey,
		.srqn = srqn,
	};
	return 2;
}

static inline u32 ur_wqe_put_raddr(const struct ur_sq *sq, u32 ds, u64 addr,
				   u32 rkey)
{
	struct uroce_wqe_raddr *r = ur_sq_seg(sq, sq->next, ds);

	*r = (struct uroce_wqe_raddr){.addr = addr, .rkey = rkey};
	return ds + 1;
}

static inline u32 ur_wqe_put_atomic(const struct ur_sq *sq, u32 ds,
				    u64 swap_add, u64 compare)
{
	struct uroce_wqe_atomic *a = ur_sq_seg(sq, sq->next, ds);

	*a = (struct uroce_wqe_atomic){.swap_add = swap_add,
				       .compare = compare};
	return ds + 1;
}

static inline u32 ur_wqe_put_bind(const struct ur_sq *sq, u32 ds,
				  struct ibv_mw *mw, u32 key,
				  const struct ibv_mw_bind_info *info)
{
	u32 new_rkey = (mw->rkey & ~0xffu) | (key & 0xff);
	struct uroce_wqe_bind b = {
		.addr = info->addr,
		.length = info->length,
		.mw_rkey = mw->rkey,
		.new_rkey = new_rkey,
		.mr_lkey = info->mr ? info->mr->lkey : 0,
		/* Local access does not go through a window; programs set
		 * the flag by habit. */
		.access = info->mw_access_flags &
			  ~(unsigned int)IBV_ACCESS_LOCAL_WRITE,
	};

	_Static_assert(sizeof(b) == 32, "two segments");
	memcpy(ur_sq_seg(sq, sq->next, ds), &b, 16);
	memcpy(ur_sq_seg(sq, sq->next, ds + 1), (u8 *)&b + 16, 16);
	mw->rkey = new_rkey;
	return ds + 2;
}

static inline void ur_wqe_put_sge(const struct ur_sq *sq, u32 ds, u32 lkey,
				  u64 addr, u32 length)
{
	struct uroce_wqe_data *d = ur_sq_seg(sq, sq->next, ds);

	*d = (struct uroce_wqe_data){
		.length = length,
		.lkey = lkey,
		.addr = addr,
	};
}

static inline void ur_wqe_put_inline_head(const struct ur_sq *sq, u32 ds,
					  u32 bytes)
{
	struct uroce_wqe_inline *in = ur_sq_seg(sq, sq->next, ds);

	in->byte_count = bytes;
}

#endif
