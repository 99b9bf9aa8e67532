// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The walk over the rdma_cm ids of all files meets each of them once, in order,
 * whichever files have none. */
#include "device/ucma/ucma.h"
#include "tests/check.h"

#define FILES 4
#define IDS   3

static struct ur_ucma ucma;
static struct ucma_file files[FILES];
static struct ucma_id ids[FILES][IDS];

/* Bit f of with: file f has ids. */
static void walk(u32 with)
{
	u32 met = 0, expected = 0;

	ur_list_init(&ucma.files);
	for (u32 f = 0; f < FILES; f++) {
		ur_list_init(&files[f].ids);
		ur_list_add_tail(&ucma.files, &files[f].node);
		for (u32 i = 0; with >> f & 1 && i < IDS; i++) {
			ids[f][i].file = &files[f];
			ids[f][i].number = expected++;
			ur_list_add_tail(&files[f].ids, &ids[f][i].node);
		}
	}
	ucma_for_each_id(id, &ucma)
		CHECK_EQ(id->number, met++);
	CHECK_EQ(met, expected);
}

static void test_no_file(void)
{
	ur_list_init(&ucma.files);
	CHECK(!ucma_id_next(&ucma, NULL));
}

static void test_walk(void)
{
	for (u32 with = 0; with < 1u << FILES; with++)
		walk(with);
}

int main(int argc, char **argv)
{
	cases(&argc, argv);
	CASE(test_no_file());
	CASE(test_walk());
	return cases_status();
}
