// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The memory with the records, an entry for each id number. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/memfd.h"
#include "device/ucma/ucma_journal.h"
#include "engine/ground/keep.h"
#include "engine/ground/log.h"
#include "util/assert.h"

/* Two entries share a page, which is freed some time after neither is used. */
#define PLACE_BYTES 2048u
#define PAGE_BYTES  4096u
union id_place {
	struct ucma_record copy[2];
	u8 bytes[PLACE_BYTES];
};
_Static_assert(sizeof(union id_place) == PLACE_BYTES, "two records fit");

/* The bytes that mark used entries are separate, so that a search touches no other memory. */
struct ucma_journal {
	u32 version, bytes;
	/* 0: none; else index of the valid copy, plus 1 */
	u8 live[UCMA_ID_MAX];
	u8 joined[UCMA_ID_MAX];		 /* likewise for memberships */
	u32 file_number[UCMA_FILES_MAX]; /* kept_events.h; 0: none */
	struct ucma_file_record file[UCMA_FILES_MAX];
	struct ucma_join_record join[UCMA_ID_MAX][2];
	union id_place id[UCMA_ID_MAX] __attribute__((aligned(PAGE_BYTES)));
};

#define VERSION 4u

static const struct ur_kept journal_name = {.kind = UR_KEPT_CM};

/* ---- the memory ---- */

static struct ucma_journal *map_journal(int fd)
{
	void *map = mmap(NULL, sizeof(struct ucma_journal),
			 PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return map == MAP_FAILED ? NULL : map;
}

static struct ucma_journal *take_over(void)
{
	struct ur_kept what = journal_name;
	struct ucma_journal *j = NULL;
	int fd = ur_keep_take(&what);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size == sizeof(*j))
		j = map_journal(fd);
	close(fd);
	if (!j || (j->version == VERSION && j->bytes == sizeof(*j)))
		return j;
	munmap(j, sizeof(*j));
	return NULL;
}

static struct ucma_journal *make_journal(void)
{
	struct ucma_journal *j = NULL;
	int fd = ur_memfd("rdma_cm-ids");

	if (fd < 0)
		return NULL;
	if (!ftruncate(fd, sizeof(*j)))
		j = map_journal(fd);
	if (j) {
		j->version = VERSION;
		j->bytes = sizeof(*j);
	}
	if (j && ur_keep_put(&journal_name, fd)) {
		munmap(j, sizeof(*j));
		j = NULL;
	}
	close(fd);
	return j;
}

void ucma_journal_open(struct ur_ucma *ucma)
{
	ucma->journal = take_over();
	if (!ucma->journal)
		ucma->journal = make_journal();
	if (!ucma->journal)
		ur_log("no memory for a journal: rdma_cm ids end with this "
		       "process");
}

void ucma_journal_close(struct ur_ucma *ucma)
{
	if (ucma->journal)
		munmap(ucma->journal, sizeof(*ucma->journal));
	ucma->journal = NULL;
}

/* ---- ids ---- */

static void fill_cm(struct ucma_record *r, const struct ucma_id *id)
{
	if (!id->cm)
		return;
	r->has_cm = true;
	ur_cm_id_save(id->cm, &r->cm);
}

static void fill(struct ucma_record *r, const struct ucma_id *id)
{
	/* Clears padding, too: records are compared. */
	memset(r, 0, sizeof(*r));
	r->file = ucma_kept_number(id->file);
	r->state = id->state;
	r->uid = id->uid;
	r->events_reported = id->events_reported;
	r->pending = id->pending;
	r->status = id->pending_status;
	r->sgid_index = id->sgid_index;
	r->flow_label = id->flow_label;
	r->seq = id->seq;
	r->qp_num = id->qp_num;
	r->qkey = id->qkey;
	r->remote_qpn = id->remote_qpn;
	r->remote_psn = id->remote_psn;
	r->ece_vendor = id->ece.vendor_id;
	r->ece_mod = id->ece.attr_mod;
	r->backlog = id->backlog;
	r->ps = id->ps;
	/* An id without a port is in no list. */
	r->port = ur_list_empty(&id->port_node) ? 0 : id->port;
	r->ifindex = id->dev ? id->dev->ifindex : 0;
	memcpy(r->sgid, id->sgid, 16);
	memcpy(r->dgid, id->dgid, 16);
	r->src = id->src.ib;
	r->dst = id->dst.ib;
	r->qp_type = id->qp_type;
	r->tos = id->tos;
	r->timeout = id->timeout;
	r->hop_limit = id->hop_limit;
	r->path_mtu = id->path_mtu;
	r->responder_resources = id->responder_resources;
	r->initiator_depth = id->initiator_depth;
	r->retry_count = id->retry_count;
	r->rnr_retry_count = id->rnr_retry_count;
	r->ack_timeout = id->ack_timeout;
	r->reuse_addr = id->reuse_addr;
	r->af_only = id->af_only;
	r->af_only_set = id->af_only_set;
	r->tos_set = id->tos_set;
	r->timeout_set = id->timeout_set;
	r->resolve_until = id->resolve_until;
	r->had_source = id->had_source;
	r->had_device = id->had_device;
	r->lost = id->lost;
	r->has_path = id->has_path;
	r->srq = id->srq;
	r->connected_once = id->connected_once;
	r->unreported = id->unreported;
	fill_cm(r, id);
}

/* Each record has two copies. live: index of the valid one, plus 1; 0: none. */
static u32 spare_copy(u8 live)
{
	return live == 1;
}

/* Release: the record is complete before it is valid. */
static void use_spare_copy(u8 *live)
{
	__atomic_store_n(live, spare_copy(*live) + 1, __ATOMIC_RELEASE);
}

/* The value comes from an earlier process and may be invalid. */
static bool has_copy(u8 live)
{
	return live == 1 || live == 2;
}

static void write_record(struct ucma_journal *j, const struct ucma_id *id)
{
	u8 *live = &j->live[id->number];
	struct ucma_record *copy = j->id[id->number].copy;
	struct ucma_record *next = &copy[spare_copy(*live)];

	fill(next, id);
	if (*live && !memcmp(&copy[*live - 1], next, sizeof(*next)))
		return;
	use_spare_copy(live);
}

void ucma_journal_touch(struct ucma_id *id)
{
	struct ur_ucma *ucma = ucma_of(id->file);

	if (ucma->journal && ur_list_empty(&id->touched))
		ur_list_add_tail(&ucma->touched, &id->touched);
}

/* ---- memberships ---- */

static void write_join(struct ucma_journal *j, const struct ucma_mcast *mc)
{
	u8 *live = &j->joined[mc->number];
	struct ucma_join_record *next = &j->join[mc->number][spare_copy(*live)];

	*next = (struct ucma_join_record){
		.id = mc->id->number,
		.reported = (u16)mc->events_reported,
		.pending = mc->pending,
		.full = mc->full,
		.uid = mc->uid,
		.group = mc->group.in6,
	};
	use_spare_copy(live);
}

void ucma_journal_touch_join(struct ucma_mcast *mc)
{
	struct ur_ucma *ucma = ucma_of(mc->id->file);

	if (ucma->journal && ur_list_empty(&mc->touched))
		ur_list_add_tail(&ucma->joins_touched, &mc->touched);
}

static void flush_joins(struct ur_ucma *ucma)
{
	while (!ur_list_empty(&ucma->joins_touched)) {
		struct ucma_mcast *mc = ur_list_first(
			&ucma->joins_touched, struct ucma_mcast, touched);

		ur_list_del(&mc->touched);
		if (mc->id->file->record)
			write_join(ucma->journal, mc);
	}
}

void ucma_journal_drop_join(struct ur_ucma *ucma, u32 number)
{
	if (ucma->journal)
		__atomic_store_n(&ucma->journal->joined[number], 0,
				 __ATOMIC_RELEASE);
}

void ucma_journal_forget_join(struct ucma_mcast *mc)
{
	ur_list_del(&mc->touched);
	ucma_journal_drop_join(ucma_of(mc->id->file), mc->number);
}

const struct ucma_join_record *ucma_journal_join(const struct ur_ucma *ucma,
						 u32 number)
{
	const struct ucma_journal *j = ucma->journal;
	u8 live = j ? j->joined[number] : 0;

	return has_copy(live) ? &j->join[number][live - 1] : NULL;
}

/* ---- changed records ---- */

void ucma_journal_flush(struct ur_ucma *ucma)
{
	while (!ur_list_empty(&ucma->touched)) {
		struct ucma_id *id =
			ur_list_first(&ucma->touched, struct ucma_id, touched);

		ur_list_del(&id->touched);
		if (id->file->record)
			write_record(ucma->journal, id);
		else
			ucma_journal_drop(ucma, id->number);
	}
	flush_joins(ucma);
}

/* Adds the unused page of the entry to those that stay, unless it is one of them, in place of the
 * one that was added first, which is freed if it is unused still. */
static void page_unused(struct ur_ucma *ucma, u32 number)
{
	struct ucma_journal *j = ucma->journal;
	u32 *place = &ucma->unused[ucma->n_unused % UCMA_UNUSED_PAGES];
	u32 was = *place;

	if (ucma->stays[number / 2])
		return;
	ucma->stays[was / 2] = false;
	ucma->stays[number / 2] = true;
	ucma->n_unused++;
	*place = number & ~1u;
	if (was && !j->live[was] && !j->live[was + 1])
		madvise(&j->id[was], PAGE_BYTES, MADV_REMOVE);
}

void ucma_journal_drop(struct ur_ucma *ucma, u32 number)
{
	struct ucma_journal *j = ucma->journal;

	if (!j || !j->live[number])
		return;
	__atomic_store_n(&j->live[number], 0, __ATOMIC_RELEASE);
	if (!j->live[number ^ 1])
		page_unused(ucma, number);
}

void ucma_journal_forget(struct ucma_id *id)
{
	ur_list_del(&id->touched);
	ucma_journal_drop(ucma_of(id->file), id->number);
}

const struct ucma_record *ucma_journal_id(const struct ur_ucma *ucma,
					  u32 number)
{
	const struct ucma_journal *j = ucma->journal;
	u8 live = j ? j->live[number] : 0;

	return has_copy(live) ? &j->id[number].copy[live - 1] : NULL;
}

/* ---- files ---- */

void ucma_journal_add_file(struct ucma_file *file)
{
	struct ucma_journal *j = ucma_of(file)->journal;
	static bool said;
	u32 i = 0;

	if (!j || !file->kept)
		return;
	while (i < UCMA_FILES_MAX && j->file_number[i])
		i++;
	if (i == UCMA_FILES_MAX) {
		if (!said)
			ur_log("the journal of rdma_cm is full: files opened "
			       "now end with this process");
		said = true;
		return;
	}
	file->record = &j->file[i];
	memset(file->record, 0, sizeof(*file->record));
	file->record->shown = file->shown;
	__atomic_store_n(&j->file_number[i], ucma_kept_number(file),
			 __ATOMIC_RELEASE);
}

static u32 index_of(const struct ucma_file *file)
{
	return (u32)(file->record - ucma_of(file)->journal->file);
}

void ucma_journal_del_file(struct ucma_file *file)
{
	if (!file->record)
		return;
	ucma_of(file)->journal->file_number[index_of(file)] = 0;
	file->record = NULL;
}

void ucma_journal_answer(struct ucma_file *file, s64 ret, u64 addr,
			 const void *bytes, u32 len)
{
	struct ucma_answer *next;
	u32 live;

	file->in_command = false;
	file->answers++;
	if (!file->record)
		return;
	live = file->record->live & 1;
	next = &file->record->answer[!live];
	next->count = file->answers;
	next->ret = ret;
	next->addr = addr;
	/* Only a query has a longer reply, and it can be repeated. */
	next->len = bytes && len <= sizeof(next->bytes) ? len : 0;
	memcpy(next->question, file->question, sizeof(next->question));
	if (next->len)
		memcpy(next->bytes, bytes, next->len);
	if (bytes && len > sizeof(next->bytes))
		memset(next->question, 0xff, sizeof(next->question));
	__atomic_store_n(&file->record->live, !live, __ATOMIC_RELEASE);
}

const struct ucma_answer *ucma_journal_last(const struct ucma_file *file)
{
	ur_assert(file->record);
	return &file->record->answer[file->record->live & 1];
}

void ucma_journal_ahead(struct ucma_file *file,
			const struct rdma_ucm_event_resp *event)
{
	struct ucma_file_record *r = file->record;

	if (!r)
		return;
	/* Of the last event this is not true any more. */
	ur_assert(r->ahead_at != file->answers);
	r->ahead = *event;
	__atomic_store_n(&r->ahead_at, file->answers, __ATOMIC_RELEASE);
}

const struct rdma_ucm_event_resp *
ucma_journal_ahead_of(const struct ucma_file *file)
{
	return file->record->ahead_at == file->answers ? &file->record->ahead
						       : NULL;
}

bool ucma_journal_find_file(struct ucma_file *file)
{
	struct ucma_journal *j = ucma_of(file)->journal;

	for (u32 i = 0; j && i < UCMA_FILES_MAX; i++) {
		if (j->file_number[i] != ucma_kept_number(file))
			continue;
		file->record = &j->file[i];
		file->shown = file->record->shown;
		file->answers = ucma_journal_last(file)->count;
		file->ahead_at = file->record->ahead_at;
		return true;
	}
	return false;
}

static bool is_found(const struct ur_ucma *ucma, u32 number)
{
	ur_list_each(const struct ucma_file, file, &ucma->files, node) {
		if (file->record && ucma_kept_number(file) == number)
			return true;
	}
	return false;
}

void ucma_journal_recovery_done(struct ur_ucma *ucma)
{
	struct ucma_journal *j = ucma->journal;

	for (u32 i = 0; j && i < UCMA_FILES_MAX; i++)
		if (j->file_number[i] && !is_found(ucma, j->file_number[i]))
			j->file_number[i] = 0;
}
