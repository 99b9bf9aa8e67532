/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The two kinds of engine. A program's engine has a transport port, which gets work from rings
 * (core/program.c). uroced's engine is a switch with wires, QP1 and grants, without queue pairs
 * (core/switch.c). Code for both kinds calls the functions of its kind by this table, so that uroced
 * links no transport.
 *
 * All functions run as the engine, unless a comment says otherwise.
 */
#ifndef UR_ENGINE_CORE_KIND_H
#define UR_ENGINE_CORE_KIND_H

#include "transport/transport.h"

struct ur_engine;
struct ur_eqp;

struct ur_engine_kind {
	/* Make and free the kind's part of the engine, while its thread does not run. create returns 0
	 * or -errno. */
	int (*create)(struct ur_engine *engine);
	void (*destroy)(struct ur_engine *engine);
	/* Starts the engine's thread. Returns 0 or -errno. */
	int (*start)(struct ur_engine *engine);
	/* Takes a turn. Returns whether there was work. */
	bool (*turn)(struct ur_engine *engine);
	/* Returns the time of the next turn that no event causes, or UR_NEVER. */
	ur_time (*deadline)(const struct ur_engine *engine);
	/* Called before and after a function of control that runs on control's thread. after_call returns
	 * whether the engine's thread must wake for more work. */
	void (*before_call)(struct ur_engine *engine);
	bool (*after_call)(struct ur_engine *engine);
	/* Receives a packet with a valid ICRC, from BTH to pad, as ur_port_rx(). */
	void (*rx)(struct ur_engine *engine, const struct ur_rx_meta *meta,
		   const u8 *bth, u32 len);
	/* Does the same while there are fault rules or a hostile card. */
	void (*rx_ruled)(struct ur_engine *engine,
			 const struct ur_rx_meta *meta, const u8 *bth, u32 len);
	/* As ur_port_rx_run(), ur_port_rx_split() and ur_port_hold(). */
	u32 (*rx_run)(struct ur_engine *engine, const struct ur_rx_meta *meta,
		      const u8 *bth, u32 len, u32 stride, u32 n);
	u32 (*rx_split)(struct ur_engine *engine, const struct ur_rx_meta *meta,
			const u8 *bth, u32 stride, const u8 *payload, u32 len,
			u32 n, bool frail);
	void (*hold)(struct ur_engine *engine, bool some);
	/* Apply changed settings: engine->cc, the active MTU, the fault rules, the recording. */
	void (*set_cc)(struct ur_engine *engine);
	void (*set_mtu)(struct ur_engine *engine, u32 mtu_bytes);
	void (*ruled)(struct ur_engine *engine);
	void (*recorded)(struct ur_engine *engine);
	/* Returns the queue pair with that number, or NULL. */
	const struct ur_eqp *(*qp)(struct ur_engine *engine, u32 qpn);
};

extern const struct ur_engine_kind ur_switch_kind;
/* ur_program_kind is in engine.h. */

#endif
