// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* verbs_corners NAME, or --list. Needs a device; exits 77 to skip. */
#include "bench.h"

int main(int argc, char **argv)
{
	static const struct verbs_test *const groups[] = {
		object_tests,	      queue_tests,     completion_tests,
		memory_tests,	      process_tests,   limit_tests,
		paging_tests,	      region_tests,    parting_tests,
		target_tests,	      attribute_tests, later_tests,
		manual_tests,	      right_tests,     flag_tests,
		event_tests,	      filter_tests,    beside_tests,
		beside_program_tests, together_tests,  status_tests,
		domain_tests,	      state_tests,     NULL};

	return verbs_test_main(argc, argv, groups, NULL, NULL);
}
