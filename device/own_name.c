// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "device/own_name.h"

/* ps reads the command line from the memory of the arguments. If that does not end in a
 * zero byte, ps reads on in the environment behind it (proc_pid_cmdline(5)), which is not
 * needed here. */
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
