// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Reads sections of records from a device or from files, checks their form, and sorts
 * events by time. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/record.h"
#include "cli/status.h"

#define FILE_MAX   (256u << 20)
#define MAX_EVENTS (1u << 24)
#define BTH_BYTES  12
/* Search limits: queue pairs of a bucket, and owners. */
#define SEARCH_QPS    64
#define SEARCH_OWNERS 4096

/* Copies the text with "?" for unprintable characters: it is shown on terminals and pages. */
static void printable(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && from[i]; i++)
		to[i] = from[i] < ' ' || from[i] > '~' ? '?' : from[i];
	to[i] = '\0';
}

static bool is_packet(uint8_t kind)
{
	return kind == UROCE_RECORD_PACKET_OUT ||
	       kind == UROCE_RECORD_PACKET_IN;
}

/* Appends an element to a growing array. Returns NULL without memory. */
static void *grow_array(void **array, uint32_t *n, size_t size)
{
	void *more;

	/* Doubles the array at each power of two. */
	if (!(*n & (*n - 1))) {
		more = realloc(*array, (*n ? (size_t)*n * 2 : 1) * size);
		if (!more)
			return NULL;
		*array = more;
	}
	memset((char *)*array + (size_t)*n * size, 0, size);
	return (char *)*array + (size_t)(*n)++ * size;
}

/* ---- queue pairs ---- */

static void name_owner(struct ur_record_qp *qp,
		       const struct uroce_record_owner *owners, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < SEARCH_OWNERS; i++)
		if (owners[i].pid == qp->pid && owners[i].uid == qp->uid) {
			printable(qp->comm, owners[i].comm, sizeof(qp->comm));
			return;
		}
}

static uint32_t *bucket_of(struct ur_record *record, uint32_t device,
			   uint32_t qpn, uint32_t pid)
{
	uint32_t h = qpn * 2654435761u ^ pid * 40503u ^ device * 97u;

	return &record->qp_bucket[(h ^ h >> 15) & (record->qp_buckets - 1)];
}

/* Keeps as many buckets as queue pairs. */
static bool grow_buckets(struct ur_record *record)
{
	uint32_t n = record->qp_buckets ? 2 * record->qp_buckets : 64;
	uint32_t *more = realloc(record->qp_bucket, n * sizeof(*more));

	if (!more)
		return false;
	memset(more, 0xff, n * sizeof(*more));
	record->qp_bucket = more;
	record->qp_buckets = n;
	for (uint32_t i = 0; i < record->n_qps; i++) {
		struct ur_record_qp *qp = &record->qps[i];
		uint32_t *first =
			bucket_of(record, qp->device, qp->qpn, qp->pid);

		qp->chain = *first;
		*first = i;
	}
	return true;
}

/* Finds or adds the queue pair of that number and process; a later one of another process
 * is another queue pair. One too deep in a bucket, as only in a forged file, is added
 * again. */
static uint32_t find_qp(struct ur_record *record, uint32_t device,
			const struct uroce_record *r,
			const struct uroce_record_owner *owners, uint32_t n)
{
	struct ur_record_qp *qp;
	uint32_t *first, at;

	if (record->n_qps == record->qp_buckets && !grow_buckets(record))
		return UR_RECORD_NONE;
	first = bucket_of(record, device, r->qpn, r->pid);
	at = *first;
	for (int i = 0; at != UR_RECORD_NONE && i < SEARCH_QPS; i++) {
		qp = &record->qps[at];
		if (qp->device == device && qp->qpn == r->qpn &&
		    qp->pid == r->pid)
			return at;
		at = qp->chain;
	}
	qp = grow_array((void **)&record->qps, &record->n_qps, sizeof(*qp));
	if (!qp)
		return UR_RECORD_NONE;
	qp->device = device;
	qp->qpn = r->qpn;
	qp->pid = r->pid;
	qp->uid = r->uid;
	qp->peer = qp->oldest_send = qp->last_send = UR_RECORD_NONE;
	qp->chain = *first;
	*first = record->n_qps - 1;
	name_owner(qp, owners, n);
	return record->n_qps - 1;
}

/* ---- sections ---- */

struct section {
	const struct uroce_record_head *head;
	const struct uroce_record_owner *owners;
	const uint8_t *slots;
};

static int add_event(struct ur_record *record, const struct section *s,
		     const uint8_t *slot)
{
	struct ur_record_event *e;
	struct uroce_record r;

	memcpy(&r, slot, sizeof(r));
	if (record->n_events >= MAX_EVENTS)
		return -EFBIG;
	e = grow_array((void **)&record->events, &record->n_events, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->r = r;
	e->ns = r.ns - s->head->monotonic_ns + s->head->realtime_ns;
	e->send = e->done = e->other = e->next_send = e->chain = UR_RECORD_NONE;
	if (is_packet(r.kind)) {
		/* A packet has other fields in place of these. */
		e->packet = (const void *)slot;
		e->r.wr_id = e->r.va = 0;
		e->r.rkey = e->r.psns = e->r.dest_qpn = e->r.imm = 0;
	}
	e->qp = find_qp(record, record->n_devices - 1, &r, s->owners,
			s->head->n_owners);
	return e->qp == UR_RECORD_NONE ? -ENOMEM : 0;
}

static int add_section(struct ur_record *record, const struct section *s)
{
	struct ur_record_device *d = grow_array((void **)&record->devices,
						&record->n_devices, sizeof(*d));
	uint32_t step;
	int err = 0;

	if (!d)
		return -ENOMEM;
	printable(d->name, s->head->device, sizeof(d->name));
	printable(d->netdev, s->head->netdev, sizeof(d->netdev));
	d->lost = s->head->lost;
	d->hidden = s->head->hidden;
	for (uint32_t i = 0; i < s->head->n_slots && !err; i += step) {
		const uint8_t *slot = s->slots + (size_t)i * UROCE_RECORD_SLOT;
		const struct uroce_record_packet *p = (const void *)slot;

		step = is_packet(slot[offsetof(struct uroce_record, kind)]) ? 2
									    : 1;
		if (step > s->head->n_slots - i)
			return -EBADMSG;
		if (step == 2 &&
		    (p->status > UROCE_RECORD_HEADERS ||
		     p->status < BTH_BYTES || p->length < p->status ||
		     p->length > UR_RECORD_PACKET))
			return -EBADMSG;
		err = add_event(record, s, slot);
	}
	return err;
}

/* Parses the section at text. Returns its length, or 0 if there is none. */
static size_t look(const char *text, size_t len, struct section *s)
{
	size_t owners, slots;

	s->head = (const void *)text;
	if (len < sizeof(*s->head) || s->head->magic != UROCE_RECORD_MAGIC)
		return 0;
	owners = (size_t)s->head->n_owners * sizeof(*s->owners);
	slots = (size_t)s->head->n_slots * UROCE_RECORD_SLOT;
	if (owners > len - sizeof(*s->head) ||
	    slots > len - sizeof(*s->head) - owners)
		return 0;
	s->owners = (const void *)(text + sizeof(*s->head));
	s->slots = (const void *)(text + sizeof(*s->head) + owners);
	return sizeof(*s->head) + owners + slots;
}

/* Takes text over. */
static int add_text(struct ur_record *record, char *text, size_t len)
{
	struct section s;
	size_t at = 0, n;
	int err = 0;

	record->texts = realloc(record->texts, (size_t)(record->n_texts + 1) *
						       sizeof(*record->texts));
	if (!record->texts)
		abort(); /* some bytes */
	record->texts[record->n_texts++] = (struct ur_record_text){text, len};
	while (at < len && !err) {
		n = look(text + at, len - at, &s);
		if (!n)
			return -EBADMSG;
		err = add_section(record, &s);
		at += n;
	}
	return err;
}

/* ---- where it comes from ---- */

static int read_device(struct ur_record *record,
		       const struct ur_options *options)
{
	int sock = ur_status_connect(options), err;
	char *text;
	size_t len;

	if (sock < 0)
		return sock;
	err = ur_client_status(sock, "record", &text, &len);
	if (err == -EIO)
		err = ur_status_unanswered(options, sock, "record");
	close(sock);
	if (err == -ENODATA)
		ur_complain(
			"nothing is recorded: 'uroce record start' begins; 'uroce why' has what failed");
	else if (err == -ENOENT)
		ur_complain("the device at the run directory does not record: "
			    "it is of an older release");
	else if (err && err != -ENOTCONN)
		ur_complain("record: %s", strerror(-err));
	if (err)
		return err;
	err = add_text(record, text, len);
	if (err)
		ur_complain("the device's record: %s", strerror(-err));
	return err;
}

static int read_file(struct ur_record *record, const char *name)
{
	FILE *f = fopen(name, "re");
	char *text = malloc(1), *more;
	size_t len = 0, n = 1;
	int err = f && text ? 0 : -errno;

	while (!err && n && len < FILE_MAX) {
		more = realloc(text, len + (1u << 20));
		if (!more) {
			err = -ENOMEM;
			break;
		}
		text = more;
		n = fread(text + len, 1, 1u << 20, f);
		len += n;
	}
	if (!err && (ferror(f) || len >= FILE_MAX))
		err = ferror(f) ? -EIO : -EFBIG;
	if (f)
		fclose(f);
	if (err)
		free(text);
	else
		err = add_text(record, text, len);
	if (err == -EBADMSG)
		ur_complain("%s: not what a flight recorder wrote", name);
	else if (err)
		ur_complain("%s: %s", name, strerror(-err));
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct ur_record_event *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	/* chain: the original order. */
	return x->chain < y->chain ? -1 : x->chain > y->chain;
}

static void sort(struct ur_record *record)
{
	for (uint32_t i = 0; i < record->n_events; i++)
		record->events[i].chain = i;
	if (record->n_events)
		qsort(record->events, record->n_events, sizeof(*record->events),
		      by_time);
	for (uint32_t i = 0; i < record->n_events; i++)
		record->events[i].chain = UR_RECORD_NONE;
}

int ur_record_read(struct ur_record *record, const struct ur_options *options,
		   char **files, int n_files)
{
	int err = 0;

	memset(record, 0, sizeof(*record));
	if (!n_files)
		err = read_device(record, options);
	for (int i = 0; i < n_files && !err; i++)
		err = read_file(record, files[i]);
	if (err)
		return err;
	sort(record);
	err = ur_record_link(record);
	if (err)
		ur_complain("record: %s", strerror(-err));
	return err;
}

void ur_record_free(struct ur_record *record)
{
	for (int i = 0; i < record->n_texts; i++)
		free(record->texts[i].bytes);
	free(record->texts);
	free(record->devices);
	free(record->qps);
	free(record->qp_bucket);
	free(record->events);
}
