/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Recordings of flight recorders (kernel-abi/uroce-record.h), read and put
 * together: which completion ended which work request, which packets it became,
 * which of them the other end saw. They come from a device or a file and may
 * hold anything; records that make no sense are left out.
 */
#ifndef UR_CLI_RECORD_H
#define UR_CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command.h"
#include "kernel-abi/uroce-record.h"

#define UR_RECORD_NONE UINT32_MAX
/* Bytes of a packet, from BTH to pad: more than any has. */
#define UR_RECORD_PACKET 8192

struct ur_record_device {
	char name[UROCE_RECORD_NAME];
	char netdev[UROCE_RECORD_NAME];
	uint64_t lost, hidden; /* slots before; records of others */
	uint64_t first_ns, last_ns;
};

struct ur_record_qp {
	uint32_t device; /* index */
	uint32_t qpn;
	uint32_t dest_qpn; /* 0: not known, or many */
	uint32_t peer;	   /* index of that, where it is recorded too */
	uint32_t pid, uid;
	char comm[24]; /* printable */
	uint32_t sends, completions, packets_out, packets_in, resent;
	/* While the model is made. chain: the next in its bucket. */
	uint32_t chain, oldest_send, last_send;
	bool sent;
	uint32_t next_psn;
};

struct ur_record_event {
	uint64_t ns;	       /* since 1970 */
	struct uroce_record r; /* of a packet: what both structs share */
	const struct uroce_record_packet *packet; /* or NULL */
	uint32_t qp;				  /* index */
	uint32_t send;	/* of packets and completions: the work request */
	uint32_t done;	/* of a work request: its completion */
	uint32_t other; /* of a packet: where it came in, or left */
	bool resent;	/* left before */
	bool vanished;	/* left, and did not come in where it should have */
	/* While the model is made: same key; same queue. */
	uint32_t chain, next_send;
};

struct ur_record {
	struct ur_record_device *devices;
	struct ur_record_qp *qps;
	struct ur_record_event *events; /* by time */
	uint32_t n_devices, n_qps, n_events;
	struct ur_record_text {
		char *bytes;
		size_t len;
	} * texts; /* what was read */
	int n_texts;
	/* The newest queue pair of each bucket, while it is read and linked. */
	uint32_t *qp_bucket, qp_buckets;
};

/* Reads the files, or with none what the device at the run directory has.
 * Returns 0, or -errno after saying what is wrong. The caller frees *record in
 * either case. */
int ur_record_read(struct ur_record *record, const struct ur_options *options,
		   char **files, int n_files);
void ur_record_free(struct ur_record *record);
/* record_link.c: puts events together. Returns 0 or -ENOMEM. */
int ur_record_link(struct ur_record *record);

/* ---- record_names.c: words; static storage ---- */

const char *ur_record_kind(uint8_t kind);
const char *ur_record_retry(uint8_t op);
const char *ur_record_verdict(uint8_t op);
/* Returns the name of the syndrome of an AETH (IBTA 9.7.5.2). */
const char *ur_record_syndrome(uint8_t syndrome);
/* Returns the AETH's syndrome, or -1 where the packet has none. */
int ur_record_syndrome_of(const struct ur_record_event *e);

/* Writes one line without the newline: what happened. Returns its length. */
#define UR_RECORD_LINE 400
size_t ur_record_line(const struct ur_record *record,
		      const struct ur_record_event *e, char *buf, size_t size);

/* ---- what is made of it; each returns 0 or -errno ---- */

/* A pcapng file with a comment for each packet. Payload is not there. */
int ur_record_pcapng(const struct ur_record *record, FILE *f);
/* The JSON that Chrome's and Perfetto's trace viewers read. */
int ur_record_trace(const struct ur_record *record, FILE *f);
/* A page for people. */
int ur_record_page(const struct ur_record *record, FILE *f);

struct json_object;

/* Returns the data of the page, the caller's, or NULL: no memory. */
struct json_object *ur_record_data(const struct ur_record *record);
/* record_story.c: the stories of what failed, an array. */
struct json_object *ur_record_stories(const struct ur_record *record);

#endif
