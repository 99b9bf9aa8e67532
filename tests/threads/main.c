// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* threads_NAME TEST, or --list. See run.sh for what it needs around it. */
#include "traffic.h"
#include "world.h"

int main(int argc, char **argv)
{
	static const struct verbs_test *const groups[] = {shared_tests,
							  beside_tests, NULL};

	return verbs_test_main(argc, argv, groups, world_start, world_stop);
}
