/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads recordings of flight recorders (kernel-abi/uroce-record.h) and correlates their
 * records: a work request with its packets and completion, a packet sent with the same
 * packet received. Recordings may contain anything; invalid records are skipped.
 */
#ifndef UR_CLI_RECORD_H
#define UR_CLI_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/command.h"
#include "kernel-abi/uroce-record.h"

#define UR_RECORD_NONE UINT32_MAX
/* Upper bound of a packet's bytes, from BTH to pad. */
#define UR_RECORD_PACKET 8192

struct ur_record_device {
	char name[UROCE_RECORD_NAME];
	char netdev[UROCE_RECORD_NAME];
	uint64_t lost, hidden; /* overwritten slots; records of other users */
	uint64_t first_ns, last_ns;
};

struct ur_record_qp {
	uint32_t device; /* index */
	uint32_t qpn;
	uint32_t dest_qpn; /* 0: unknown, or several */
	uint32_t peer;	   /* index of dest_qpn, if recorded */
	uint32_t pid, uid;
	char comm[24]; /* printable */
	uint32_t sends, completions, packets_out, packets_in, resent;
	/* Used while linking. chain: the next one in the bucket. */
	uint32_t chain, oldest_send, last_send;
	bool sent;
	uint32_t next_psn;
};

struct ur_record_event {
	uint64_t ns;	       /* since 1970 */
	struct uroce_record r; /* for a packet: the common fields */
	const struct uroce_record_packet *packet; /* or NULL */
	uint32_t qp;				  /* index */
	uint32_t send;	/* of a packet or completion: its work request */
	uint32_t done;	/* of a work request: its completion */
	uint32_t other; /* of a packet: the same one at the other end */
	bool resent;	/* was sent before */
	bool vanished;	/* sent, but not received by its recorded peer */
	/* Used while linking: next with the same key; next of the queue. */
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
	} * texts; /* input */
	int n_texts;
	/* Used while reading and linking: newest queue pair of each bucket. */
	uint32_t *qp_bucket, qp_buckets;
};

/* Reads the files, or, without files, the recording of the running device. Returns 0, or
 * -errno after a message on stderr. The caller frees *record in either case. */
int ur_record_read(struct ur_record *record, const struct ur_options *options,
		   char **files, int n_files);
void ur_record_free(struct ur_record *record);
/* record_link.c: correlates the events. Returns 0 or -ENOMEM. */
int ur_record_link(struct ur_record *record);

/* ---- record_names.c: words; static storage ---- */

const char *ur_record_kind(uint8_t kind);
const char *ur_record_retry(uint8_t op);
const char *ur_record_verdict(uint8_t op);
/* Returns the name of the syndrome of an AETH (IBTA 9.7.5.2). */
const char *ur_record_syndrome(uint8_t syndrome);
/* Returns the packet's AETH syndrome, or -1 if it has none. */
int ur_record_syndrome_of(const struct ur_record_event *e);

/* Describes the event in one line, without a newline. Returns its length. */
#define UR_RECORD_LINE 400
size_t ur_record_line(const struct ur_record *record,
		      const struct ur_record_event *e, char *buf, size_t size);

/* ---- writers of a linked record; each returns 0 or -errno ---- */

/* Writes a pcapng file with a comment for each packet, without payload. */
int ur_record_pcapng(const struct ur_record *record, FILE *f);
/* Writes JSON for Chrome's and Perfetto's trace viewers. */
int ur_record_trace(const struct ur_record *record, FILE *f);
/* Writes an HTML page. */
int ur_record_page(const struct ur_record *record, FILE *f);

struct json_object;

/* Returns the data of the page, the caller's, or NULL without memory. */
struct json_object *ur_record_data(const struct ur_record *record);
/* record_story.c: returns the explanations of failures, an array. */
struct json_object *ur_record_stories(const struct ur_record *record);

#endif
