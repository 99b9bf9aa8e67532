/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* threads_NAME TEST, or --list. See run.sh for what it needs around it. */
#include "traffic.h"
#include "world.h"

static const struct verbs_test *const groups[] = {shared_tests, beside_tests};

int main(int argc, char **argv)
{
	CHECK_EQ(argc, 2);
	if (strcmp(argv[1], "--list"))
		world_start();
	for (unsigned int g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (const struct verbs_test *t = groups[g]; t->name; t++) {
			if (!strcmp(argv[1], "--list")) {
				puts(t->name);
			} else if (!strcmp(argv[1], t->name)) {
				t->run();
				world_stop();
				return 0;
			}
		}
	return strcmp(argv[1], "--list") ? 2 : 0;
}
