// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The journal of rdma_cm: a record holds until the next one is whole, and so does an answer. */
#include <sys/mman.h>
#include <unistd.h>
#include "device/ucma/ucma_journal.h"
#include "tests/check.h"

static struct ur_ucma ucma;
static struct ur_daemon daemon_of = {.cm = &ucma};
static struct ur_kept_channel kept = {.number = 7};
static struct ucma_file file = {.daemon = &daemon_of, .kept = &kept};
static struct ucma_id id = {.file = &file, .number = 5, .uid = 1};

static const struct ucma_record *record(void)
{
	return ucma_journal_id(&ucma, id.number);
}

static void begin(void)
{
	memset(&ucma, 0, sizeof(ucma));
	ur_list_init(&ucma.files);
	ur_list_init(&ucma.touched);
	ur_list_init(&ucma.joins_touched);
	ur_list_init(&file.ids);
	ur_list_init(&id.port_node);
	ur_list_init(&id.touched);
	ucma_journal_open(&ucma);
	CHECK(ucma.journal);
	ur_list_add_tail(&ucma.files, &file.node);
	ucma_journal_add_file(&file);
	CHECK(file.record);
	id.uid = 1;
}

static void end(void)
{
	ucma_journal_del_file(&file);
	ucma_journal_close(&ucma);
}

static void write_now(void)
{
	ucma_journal_touch(&id);
	ucma_journal_flush(&ucma);
}

/* A process that is killed while it writes has written into the place that does not hold. */
static void test_torn(void)
{
	const struct ucma_record *first, *second;

	begin();
	CHECK(!record());
	write_now();
	first = record();
	CHECK(first && first->uid == 1 && first->file == 7);
	id.uid = 2;
	write_now();
	second = record();
	CHECK(second && second != first && second->uid == 2);
	/* The next one, half written. */
	memset((void *)(uintptr_t)first, 0xa5, sizeof(*first) / 2);
	CHECK(record() == second && second->uid == 2);
	id.uid = 3;
	write_now();
	CHECK(record() == first && first->uid == 3);
	/* Nothing has changed. */
	write_now();
	CHECK(record() == first);
	end();
}

static void test_forgotten(void)
{
	begin();
	write_now();
	ucma_journal_touch(&id);
	ucma_journal_forget(&id);
	ucma_journal_flush(&ucma);
	CHECK(!record());
	/* Its memory is another's, and zero. */
	write_now();
	CHECK(record() && record()->uid == 1);
	end();
}

static void come_and_go(u32 number)
{
	id.number = number;
	write_now();
	ucma_journal_forget(&id);
}

/* Returns whether the system frees pages of shared memory: qemu-user does not. */
static bool frees_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, page, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool frees;

	CHECK(at != MAP_FAILED);
	*at = 1;
	frees = !madvise(at, page, MADV_REMOVE) && !*at;
	munmap(at, page);
	return frees;
}

/* The memory of an id that comes and goes stays; that of many others is freed. */
static void test_memory_stays(void)
{
	const struct ucma_record *first;

	begin();
	write_now();
	first = record();
	ucma_journal_forget(&id);
	for (u32 i = 0; i < 1000; i++)
		come_and_go(5);
	CHECK_EQ(first->uid, 1);
	for (u32 i = 0; i < 1000; i++)
		come_and_go(100 + 2 * i);
	CHECK_EQ(first->uid, frees_pages() ? 0 : 1);
	id.number = 5;
	end();
}

static void test_joins(void)
{
	struct ucma_mcast mc = {
		.id = &id, .number = 9, .uid = 3, .pending = true};
	const struct ucma_join_record *first, *second;

	begin();
	ur_list_init(&mc.touched);
	CHECK(!ucma_journal_join(&ucma, 9));
	ucma_journal_touch_join(&mc);
	CHECK(!ucma_journal_join(&ucma, 9));
	ucma_journal_flush(&ucma);
	first = ucma_journal_join(&ucma, 9);
	CHECK(first && first->id == id.number && first->uid == 3 &&
	      first->pending && !first->reported);
	mc.pending = false;
	mc.events_reported = 1;
	ucma_journal_touch_join(&mc);
	ucma_journal_flush(&ucma);
	second = ucma_journal_join(&ucma, 9);
	CHECK(second != first && !second->pending && second->reported == 1);
	/* One that is half written does not hold. */
	memset((void *)(uintptr_t)first, 0xa5, sizeof(*first));
	CHECK(ucma_journal_join(&ucma, 9) == second);
	ucma_journal_touch_join(&mc);
	ucma_journal_forget_join(&mc);
	ucma_journal_flush(&ucma);
	CHECK(!ucma_journal_join(&ucma, 9));
	end();
}

/* A file that the keeper has not, has no ids in it either. */
static void test_without_file(void)
{
	begin();
	write_now();
	ucma_journal_del_file(&file);
	write_now();
	CHECK(!record());
	CHECK(!ucma_journal_find_file(&file));
	end();
}

static void test_answers(void)
{
	const struct ucma_answer *first, *second;
	u8 bytes[1024] = {1, 2, 3};

	begin();
	CHECK_EQ(ucma_journal_last(&file)->count, 0);
	memset(file.question, 1, sizeof(file.question));
	ucma_journal_answer(&file, 32, 4711, bytes, 3);
	first = ucma_journal_last(&file);
	CHECK(first->count == 1 && first->ret == 32 && first->len == 3 &&
	      first->addr == 4711 && !memcmp(first->bytes, bytes, 3) &&
	      !memcmp(first->question, file.question, 24));
	/* A long one is none that could be given once more. */
	ucma_journal_answer(&file, 32, 4711, bytes, sizeof(bytes));
	second = ucma_journal_last(&file);
	CHECK(second != first && second->count == 2 && !second->len &&
	      memcmp(second->question, file.question, 24));
	memset((void *)(uintptr_t)first, 0xa5, sizeof(*first));
	CHECK(ucma_journal_last(&file) == second);
	end();
}

/* As many files as there may be; one more ends with its uroced. */
static void test_full(void)
{
	static struct ucma_file files[UCMA_FILES_MAX];
	static struct ur_kept_channel channels[UCMA_FILES_MAX];

	begin();
	for (u32 i = 0; i < UCMA_FILES_MAX; i++) {
		files[i].daemon = &daemon_of;
		channels[i].number = 100 + i;
		files[i].kept = &channels[i];
		ucma_journal_add_file(&files[i]);
		CHECK_EQ(!files[i].record, i == UCMA_FILES_MAX - 1);
	}
	/* Nobody has found these. */
	ucma_journal_recovery_done(&ucma);
	ucma_journal_add_file(&files[UCMA_FILES_MAX - 1]);
	CHECK(files[UCMA_FILES_MAX - 1].record);
	CHECK(ucma_journal_find_file(&file));
	end();
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_torn());
	CASE(test_forgotten());
	CASE(test_memory_stays());
	CASE(test_joins());
	CASE(test_without_file());
	CASE(test_answers());
	CASE(test_full());
	return cases_status();
}
