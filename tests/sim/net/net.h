/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A modelled network in virtual time: hosts, each with the real transport,
 * lines, and switches (switch.c). One thread; the same numbers in each run.
 */
#ifndef UR_TESTS_SIM_NET_NET_H
#define UR_TESTS_SIM_NET_NET_H

#include "tests/sim/transport/event.h"
#include "transport/qp.h"

#define NET_MAX_PORTS	 72
#define NET_MAX_HOSTS	 72
#define NET_MAX_SWITCHES 8
#define NET_PRIOS	 8
#define NET_MTU		 1024
/* Ethernet, IPv4, UDP, ICRC around what the transport hands out; a shaper or
 * switch counts these. */
#define NET_HEAD_BYTES (14 + 20 + 8 + 4)
/* A packet of full size. */
#define NET_FRAME_BYTES (NET_MTU + 12 + NET_HEAD_BYTES)

/* Packets of a host that leave it within so long are a burst; and longer ones are
 * counted as that long. */
#define NET_BURST_NS 20000u
#define NET_BURST    256

/* The address of every host's memory. */
#define NET_IOVA 0x100000u

struct net;
struct net_node;
struct net_host;
struct net_alien;
struct net_fair;

/* The packets of one priority that came in by one port of a switch and that it
 * holds. */
struct net_ingress {
	u64 shared, headroom; /* bytes */
	bool off;	      /* the sender has been asked to pause */
};

struct net_frame {
	struct net_frame *next;
	struct net_port *in; /* where it came into the switch that holds it */
	u32 src, dst;	     /* hosts */
	u32 bytes;	     /* on the line */
	u16 sport;
	u8 tos, prio;
	u64 tag; /* with fair queues; and when it was put there */
	ur_time put_at;
	/* The sender that is not ours (alien.h); NULL: it is. */
	struct net_alien *alien;
	u64 alien_seq;
	bool alien_answer, alien_marked;
	u32 len;
	u8 bth[];
};

struct net_queue {
	struct net_frame *head, *tail;
	u64 bytes;
	bool paused; /* by the peer */
};

/* One end of a line, with the queues of what leaves by it. */
struct net_port {
	struct net_node *node;
	struct net_port *peer;
	u64 bps; /* 0: at once */
	ur_time delay;
	struct net_queue queue[NET_PRIOS];
	struct net_ingress in[NET_PRIOS];
	u64 queued, queued_most;
	bool busy;
	u64 dropped, passed;   /* frames, bytes */
	u64 lost;	       /* frames, by chance */
	u64 marked;	       /* frames */
	u64 pauses;	       /* that the peer asked for */
	struct net_fair *fair; /* NULL: nothing came yet, or it has none */
};

/* Zero in a field: none of that. */
struct net_switch {
	u64 buffer;	/* bytes for all ports */
	u64 port_limit; /* bytes for one; 0: what is free */
	/* A queue may have so many eighths of what is free: one that leaves by
   * a port, or with PFC one that came in by it. 0: all of it. */
	u32 share_8;
	/* RED marks: none below least bytes, all above most, and in between
   * with a probability that grows from 0 to mark_max / 65536. */
	u64 mark_least, mark_most;
	u32 mark_max;
	bool red; /* what is not ECT is dropped where ECT is marked */
	/* Marks all ECT that comes faster, but for so many frames at once; no queue shows it. */
	u64 meter_bps, meter_frames;
	ur_time meter_at; /* full at that time, if nothing comes */
	/* The priorities with PFC, and what may still come from each port after
	 * it was asked to pause one; that is taken from the buffer. */
	u8 lossless;
	u64 headroom;
	bool fair;	     /* a queue for each flow, which marks as CoDel */
	u32 lose;	     /* of 65536 frames, whatever the queues are */
	u64 used, used_most; /* without headroom */
};

struct net_node {
	struct net *net;
	struct net_host *host; /* NULL: a switch */
	struct net_switch sw;
	u32 n_ports;
	struct net_port port[NET_MAX_PORTS];
	/* To each host: the port, or the first of so many (ECMP). */
	u8 to[NET_MAX_HOSTS], paths[NET_MAX_HOSTS];
	u32 salt; /* of the hash among them */
};

/* Endless messages from one host to another. */
struct net_flow {
	struct net_host *from, *to;
	struct ur_qp *qp, *back;
	struct ur_av av, back_av; /* with own_ports */
	u8 opcode;		  /* UR_WR_WRITE or UR_WR_READ */
	u8 sl;			  /* with own_ports: its priority, */
	u32 label;		  /* flow label */
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
	ur_time sent_at;
	u32 burst;		  /* packets of the present one */
	u64 in_bursts[NET_BURST]; /* packets, by the length of their burst */
};

/* CONTROL_LOSS: as CONTROL_PATH, with packets that are not ECT. */
enum net_control {
	CONTROL_NONE,
	CONTROL_AIMD,
	CONTROL_LOSS,
	CONTROL_PATH,
	CONTROL_DCQCN
};

struct net_config {
	enum net_control control;
	struct ur_cc_config cc; /* of CONTROL_DCQCN */
	u32 window_pkts;	/* in flight for each queue pair; 0: 128 */
	ur_time cost;		/* of a packet, in a host */
	ur_time turn;		/* until a host that sleeps runs */
	u64 nic_bytes;		/* that may wait in a host's NIC */
	/* Each queue pair has its own UDP source port, as the device chooses it
   * where there is more than one path; else one for each peer. */
	bool own_ports;
	u64 seed; /* of the marks */
};

struct net {
	struct net_config cfg;
	struct sim_events events;
	ur_time now;
	u64 random;
	struct net_host host[NET_MAX_HOSTS];
	u32 n_hosts;
	struct net_node sw[NET_MAX_SWITCHES];
	u32 n_switches;
	struct net_flow *flow;
	u32 n_flows;
};

/* line.c */

/* Joins port a of one node to port b of another. */
void net_join(struct net_node *a, u32 pa, struct net_node *b, u32 pb, u64 bps,
	      ur_time delay);
/* Puts a frame, which is the port's from now on, into its queue. */
void net_send(struct net_port *port, struct net_frame *f);
/* Tells the peer of the port to pause a priority, or to go on. */
void net_pause(struct net_port *port, u32 prio, bool on);
/* Frees the frame that an event of a line has, if it is one. */
void net_line_drop(const struct sim_event *e);

/* switch.c */

/* A frame has come in by port. */
void net_switch_rx(struct net_port *port, struct net_frame *f);
/* A frame leaves a switch. */
void net_switch_left(struct net_node *node, struct net_frame *f);
/* Returns the headroom for lines of that speed and length. */
u64 net_headroom(u64 bps, ur_time delay);

/* fair.c */

/* Puts a frame into the queue where the turn of its flow is. */
void net_fair_put(struct net_port *port, struct net_queue *q,
		  struct net_frame *f);
/* It leaves. */
void net_fair_left(struct net_port *port, struct net_frame *f);

/* host.c */

void net_host_start(struct net *n, u32 index);
void net_host_stop(struct net_host *h);
void net_host_rx(struct net_host *h, struct net_frame *f);
/* Lets the host run, at that time or before. */
void net_host_wake(struct net_host *h, ur_time at);
/* Returns the most packets that the bursts of a tenth of what it has sent have at the
 * least. */
u32 net_host_burst(const struct net_host *h);

/* flow.c */

extern const struct ur_host_ops net_flow_ops;
/* Connects the flow, which names its hosts, and starts it. */
void net_flow_start(struct net_flow *f);
/* Wakes those of the host that have found no work. */
void net_flow_kick(struct net_host *h);

/* net.c */

struct net *net_new(const struct net_config *cfg, u32 hosts, u32 switches,
		    u32 flows);
void net_free(struct net *n);
/* Until that time. Reads how far the flows are now and then. */
void net_run(struct net *n, ur_time end);
/* Jain's index of what the flows have got. */
double net_jain(const struct net *n);
/* The same of count values. */
double net_jain_of(const u64 *got, u32 count);
u64 net_packets(const struct net *n);
u32 net_broken(const struct net *n);
/* Frames that switches had no room for. */
u64 net_dropped(const struct net *n);
/* Bytes that all switches hold, and have sent. */
u64 net_held(const struct net *n);
u64 net_passed(const struct net *n);

/* topology.c */

/* Joins each host to its port of the first switch, which becomes as sw. */
void net_star(struct net *n, const struct net_switch *sw, u64 bps,
	      ur_time delay);
/* Two tiers: each leaf has its part of the hosts, in their order, and a line of
 * up_bps to each spine; leaves come before spines. From below, a flow's hash
 * chooses the spine. All switches are as sw. */
struct net_tiers {
	u32 leaves, spines;
	u64 bps, up_bps;
	ur_time delay;
};
void net_clos(struct net *n, const struct net_switch *sw,
	      const struct net_tiers *t);
/* A ring, which no network should be: each switch has its part of the hosts and
 * hands what is for others to the next one. */
void net_ring(struct net *n, const struct net_switch *sw, u32 switches, u64 bps,
	      ur_time delay);

#endif
