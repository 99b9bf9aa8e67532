/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The experiments of sim_net: each function prints rows, and returns whether
 * one is beyond its bound.
 */
#ifndef UR_TESTS_SIM_NET_ROWS_H
#define UR_TESTS_SIM_NET_ROWS_H

#include "tests/sim/net/net.h"

#define US 1000ull
#define MS 1000000ull
#define G  1000000000ull

int rows_incast(void);
int rows_dcqcn(void);
int rows_pfc(void);
int rows_ecmp(void);
int rows_lossy(void);
int rows_reads(void);
int rows_marks(void);
int rows_deaf(void);
int rows_beside(void);
int rows_tail(void);
int rows_cake(void);
int rows_meter(void);

/* rows.c */

/* A host of this device: a packet costs it 0.5 us, and it wakes in 5. */
struct net_config rows_software(enum net_control control, u64 bps);
/* One like an adapter, with own source ports. */
struct net_config rows_adapter(enum net_control control, u64 bps);
/* Makes flow i of WRITEs from one host to another; its sl and label stay. */
struct net_flow *rows_flow(struct net *n, u32 i, u32 from, u32 to,
			   ur_time start, ur_time end);
/* Fills the rates of flows between two looks, in Gbit/s on the line. */
void rows_rates(const struct net *n, u64 *before, ur_time ns, double *gbps);
/* The part of a line that these packets took in that time. */
double rows_part(u64 packets, u64 bps, ur_time ns);

#endif
