/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* verbs_corners NAME, or --list. Needs a device; exits 77 to skip. */
#include "bench.h"

static const struct verbs_test *const groups[] = {object_tests, queue_tests,
						  memory_tests, process_tests,
						  limit_tests,	paging_tests};

int main(int argc, char **argv)
{
	CHECK_EQ(argc, 2);
	for (unsigned int g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (const struct verbs_test *t = groups[g]; t->name; t++) {
			if (!strcmp(argv[1], "--list")) {
				puts(t->name);
			} else if (!strcmp(argv[1], t->name)) {
				t->run();
				return 0;
			}
		}
	return strcmp(argv[1], "--list") ? 2 : 0;
}
