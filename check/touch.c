// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Breakpoint registers by perf_event_open(2). For each place one event counts
 * reads and writes, and another only writes, since x86 cannot trap reads alone.
 * Both put the program counter into one ring; what the second also has was a
 * write. A thread has four registers.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check/front.h"
#include "check/output.h"
#include "check/report.h"
#include "check/touch.h"

enum touch_kind { NONE, TARGET, REST };

/* Breakpoints of all threads; each thread has one of each kind. */
#define TOUCHES 32

/* Starting and stopping one takes about 30 us: after this many in a thread,
 * only one request in SELDOM is watched. */
#define OFTEN  512
#define SELDOM 64

static struct touch {
	enum touch_kind kind;
	pid_t thread;
	const struct ur_watched_qp *qp;
	uint64_t wr_id;
	struct ur_code_place place; /* where the request was posted */
	uint32_t posted, taken;
	int all, writes; /* the events */
	uint64_t id_of_writes;
	struct perf_event_mmap_page *ring;
	size_t page;
} touches[TOUCHES];

static bool refused;
static __thread unsigned int begun;
static __thread bool rest_of_mine;

static int event(uint32_t type, uint64_t addr, uint64_t length)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = type,
		.bp_addr = addr,
		.bp_len = length,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	/* ENOSPC: a debugger has the registers, maybe not for long. */
	if (fd < 0 && errno != ENOSPC && errno != EMFILE)
		refused = true;
	return fd < 0 ? fd : ur_fd_high(fd);
}

static void stop(struct touch *t)
{
	if (t->ring && t->ring != MAP_FAILED)
		munmap(t->ring, 2 * t->page);
	if (t->all >= 0)
		close(t->all);
	if (t->writes >= 0)
		close(t->writes);
	t->kind = NONE;
}

static bool start(struct touch *t, uint64_t addr, uint64_t length)
{
	t->page = (size_t)sysconf(_SC_PAGESIZE);
	t->ring = NULL;
	t->writes = -1;
	t->all = event(HW_BREAKPOINT_RW, addr, length);
	if (t->all >= 0)
		t->writes = event(HW_BREAKPOINT_W, addr, length);
	if (t->writes >= 0)
		t->ring = mmap(NULL, 2 * t->page, PROT_READ | PROT_WRITE,
			       MAP_SHARED, t->all, 0);
	return t->ring && t->ring != MAP_FAILED &&
	       !ioctl(t->writes, PERF_EVENT_IOC_SET_OUTPUT, t->all) &&
	       !ioctl(t->writes, PERF_EVENT_IOC_ID, &t->id_of_writes);
}

static struct touch *find_touch(enum touch_kind kind, pid_t thread)
{
	for (int i = 0; i < TOUCHES; i++)
		if (touches[i].kind == kind &&
		    (!thread || touches[i].thread == thread))
			return &touches[i];
	return NULL;
}

/* Watches 1, 2, 4 or 8 aligned bytes of [from, to), at its end or begin. */
static struct touch *begin(enum touch_kind kind, const struct ur_watched_qp *qp,
			   const struct ur_request *request, uint64_t from,
			   uint64_t to)
{
	uint64_t n = 8, at = kind == TARGET ? to : from;
	pid_t thread = (pid_t)syscall(SYS_gettid);
	struct touch *t;

	if (refused || (begun++ > OFTEN && begun % SELDOM) ||
	    find_touch(kind, thread))
		return NULL;
	t = find_touch(NONE, 0);
	if (!t)
		return NULL;
	while (n > to - from || at % n)
		n /= 2;
	if (!start(t, kind == TARGET ? to - n : from, n)) {
		stop(t);
		return NULL;
	}
	t->kind = kind;
	t->thread = thread;
	t->qp = qp;
	t->wr_id = request->wr_id;
	t->place = request->place;
	t->posted = request->length;
	return t;
}

struct sample {
	struct perf_event_header header;
	uint64_t ip, id;
};

/* Returns where the program read before it wrote there, or NULL. */
static void *reader(const struct touch *t)
{
	const char *data = (const char *)t->ring + t->page;
	uint64_t head = __atomic_load_n(&t->ring->data_head, __ATOMIC_ACQUIRE);
	const struct sample *s, *next;

	for (uint64_t at = 0; at + sizeof(*s) <= head && head <= t->page;
	     at += s->header.size) {
		s = (const struct sample *)(data + at);
		next = at + s->header.size + sizeof(*s) <= head
			       ? (const struct sample *)(data + at +
							 s->header.size)
			       : NULL;
		if (s->header.type != PERF_RECORD_SAMPLE ||
		    s->header.size != sizeof(*s))
			return NULL;
		/* An engine in the program has executed the request on this
		 * thread. */
		if (ur_of_device((void *)(uintptr_t)s->ip))
			continue;
		if (s->id == t->id_of_writes ||
		    (next && next->ip == s->ip && next->id == t->id_of_writes))
			return NULL;
		if (ur_of_program((void *)(uintptr_t)s->ip))
			return (void *)(uintptr_t)s->ip;
	}
	return NULL;
}

static void judge_target(const struct touch *t, void *at)
{
	struct ur_stack here = {.address = {at}, .depth = 1};
	struct ur_stack_frame posted;

	ur_place_frame(&t->place, &posted);
	ur_report_at(UR_CHECK_TARGET_EARLY, &t->qp->o, &here,
		     "the end of the %u bytes that request wr_id 0x%llx, "
		     "posted at %s (%s:%d), is to fetch was read here before "
		     "its completion was polled",
		     t->posted, (unsigned long long)t->wr_id, posted.function,
		     posted.file[0] ? posted.file : posted.module, posted.line);
}

static void judge_rest(const struct touch *t, void *at)
{
	struct ur_stack here = {.address = {at}, .depth = 1};

	ur_report_at(UR_CHECK_RECV_REST, &t->qp->o, &here,
		     "receive wr_id 0x%llx has room for %u bytes and took a "
		     "message of %u; what is behind that was read here",
		     (unsigned long long)t->wr_id, t->posted, t->taken);
}

static void judge(struct touch *t)
{
	void *at = reader(t);

	if (at && t->kind == TARGET)
		judge_target(t, at);
	else if (at)
		judge_rest(t, at);
	stop(t);
}

void ur_touch_target(const struct ur_watched_qp *qp,
		     const struct ur_request *request)
{
	const struct ibv_sge *sge;
	const struct ur_watched_mr *mr;

	if (request->sges < 1 || request->sges > UR_REQUEST_SGES)
		return;
	sge = &request->sge[request->sges - 1];
	mr = ur_watched_number(UR_KIND_MR, qp->o.context, sge->lkey);
	if (sge->length && mr && mr->readable)
		begin(TARGET, qp, request, sge->addr, sge->addr + sge->length);
}

void ur_touch_target_done(const struct ur_watched_qp *qp,
			  const struct ur_request *request)
{
	for (int i = 0; i < TOUCHES; i++)
		if (touches[i].kind == TARGET && touches[i].qp == qp &&
		    touches[i].wr_id == request->wr_id)
			judge(&touches[i]);
}

void ur_touch_rest(const struct ur_watched_qp *qp,
		   const struct ur_request *request, uint32_t length)
{
	const struct ibv_sge *sge = request->sge;
	uint32_t at = length;
	const struct ur_watched_mr *mr;
	struct touch *t;

	if (length >= request->length || request->sges > UR_REQUEST_SGES)
		return;
	for (; at >= sge->length; sge++)
		at -= sge->length;
	mr = ur_watched_number(UR_KIND_MR, qp->o.context, sge->lkey);
	if (!mr || !mr->readable || ur_mr_others_write(mr))
		return;
	t = begin(REST, qp, request, sge->addr + at, sge->addr + sge->length);
	if (!t)
		return;
	t->taken = length;
	rest_of_mine = true;
}

void ur_touch_polls(void)
{
	struct touch *t;

	if (!rest_of_mine)
		return;
	rest_of_mine = false;
	ur_table_lock();
	t = find_touch(REST, (pid_t)syscall(SYS_gettid));
	if (t)
		judge(t);
	ur_table_unlock();
}

void ur_touch_forget(const struct ur_watched_qp *qp)
{
	for (int i = 0; i < TOUCHES; i++) {
		struct touch *t = &touches[i];

		if (t->kind == NONE || (qp && t->qp != qp))
			continue;
		if (t->kind == REST)
			judge(t);
		else
			stop(t);
	}
}

void ur_touch_inherited(void)
{
	for (int i = 0; i < TOUCHES; i++) {
		/* Mappings of events are not inherited. */
		touches[i].ring = NULL;
		if (touches[i].kind != NONE)
			stop(&touches[i]);
	}
	rest_of_mine = false;
}
