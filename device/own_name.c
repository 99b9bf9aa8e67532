// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "device/own_name.h"

/* For ps the command line is the memory of the arguments. When that has no zero at
 * its end, it goes on with the environment's, which is behind it (proc_pid_cmdline(5)) and is of no use
 * here. */
void ur_own_name(char **argv, const char *name)
{
	char *begin, *end;

	prctl(PR_SET_NAME, name);
	if (!argv || !argv[0])
		return;
	begin = end = argv[0];
	for (char **word = argv; *word; word++)
		if (*word == end)
			end += strlen(*word) + 1;
	for (char **word = environ; word && *word; word++)
		if (*word == end)
			end += strlen(*word) + 1;
	if ((size_t)(end - begin) <= strlen(name))
		return;
	memset(begin, 0, (size_t)(end - begin));
	memcpy(begin, name, strlen(name) + 1);
}
