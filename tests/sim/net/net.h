/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A modelled network in virtual time: hosts, each with the real transport, and
 * a switch between them, which has one buffer for all its ports and drops what
 * finds no room. One thread; the same numbers in each run.
 */
#ifndef UR_TESTS_SIM_NET_NET_H
#define UR_TESTS_SIM_NET_NET_H

#include "tests/sim/transport/event.h"
#include "transport/qp.h"

#define NET_MAX_PORTS 72
#define NET_MAX_HOSTS 72
#define NET_MTU	      1024
/* Ethernet, IPv4, UDP, ICRC around what the transport hands out; a shaper or
 * switch counts these. */
#define NET_HEAD_BYTES (14 + 20 + 8 + 4)

struct net;
struct net_node;
struct net_host;

struct net_frame {
	struct net_frame *next;
	u32 src, dst; /* hosts */
	u32 bytes;    /* on the line */
	u16 sport;
	u8 tos;
	u32 len;
	u8 bth[];
};

/* One end of a line, with the queue of what leaves by it. */
struct net_port {
	struct net_node *node;
	struct net_port *peer;
	u64 bps; /* 0: at once */
	ur_time delay;
	struct net_frame *head, *tail;
	u64 queued;
	bool busy;
	u64 dropped, passed;
};

struct net_switch {
	u64 buffer;	/* bytes for all ports */
	u64 port_limit; /* bytes for one; 0: what is free */
	u64 used;
};

struct net_node {
	struct net *net;
	struct net_host *host; /* NULL: a switch */
	struct net_switch sw;
	u32 n_ports;
	struct net_port port[NET_MAX_PORTS];
	u8 to[NET_MAX_HOSTS]; /* the port to each host */
};

/* Endless messages from one host to another. */
struct net_flow {
	struct net_host *from, *to;
	struct ur_qp *qp, *back;
	u8 opcode; /* UR_WR_WRITE or UR_WR_READ */
	u32 bytes, depth;
	ur_time start, end;
	u32 taken, done;
	bool starved; /* the ring was found empty */
	bool broken;
	u32 una;     /* when last looked at */
	u64 packets; /* answered */
};

struct net_host {
	struct net_node node; /* one port, the NIC */
	u32 index;
	struct ur_port *port;
	struct ur_mr *mr;
	u8 *mem;
	ur_time free_at; /* its processor is */
	ur_time wake_at;
	struct net_frame *rx_head, *rx_tail;
	struct ur_av av[NET_MAX_HOSTS];
};

enum net_control { CONTROL_NONE, CONTROL_AIMD, CONTROL_PATH };

struct net_config {
	enum net_control control;
	ur_time cost;  /* of a packet, in a host */
	ur_time turn;  /* until a host that sleeps runs */
	u64 nic_bytes; /* that may wait in a host's NIC */
};

struct net {
	struct net_config cfg;
	struct sim_events events;
	ur_time now;
	struct net_host host[NET_MAX_HOSTS];
	u32 n_hosts;
	struct net_node sw;
	struct net_flow *flow;
	u32 n_flows;
};

/* line.c */

/* Joins port a of one node to port b of another. */
void net_join(struct net_node *a, u32 pa, struct net_node *b, u32 pb, u64 bps,
	      ur_time delay);
/* Puts a frame, which is the port's from now on, into its queue. */
void net_send(struct net_port *port, struct net_frame *f);
/* A frame has come in by port. */
void net_switch_rx(struct net_port *port, struct net_frame *f);
/* Frees the frame that an event of a line has, if it is one. */
void net_line_drop(const struct sim_event *e);
/* A frame leaves a switch. */
void net_switch_left(struct net_node *node, struct net_frame *f);

/* host.c */

void net_host_start(struct net *n, u32 index);
void net_host_stop(struct net_host *h);
void net_host_rx(struct net_host *h, struct net_frame *f);
/* Lets the host run, at that time or before. */
void net_host_wake(struct net_host *h, ur_time at);
/* Connects the flow, which names its hosts, and starts it. */
void net_flow_start(struct net_flow *f);

/* net.c */

struct net *net_new(const struct net_config *cfg, u32 hosts, u32 flows);
void net_free(struct net *n);
/* Until that time. Reads how far the flows are now and then. */
void net_run(struct net *n, ur_time end);
/* Jain's index of what the flows have got. */
double net_jain(const struct net *n);
u64 net_packets(const struct net *n);

#endif
