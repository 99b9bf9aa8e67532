/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The name of a process that uroced has forked. */
#ifndef UR_DEVICE_OWN_NAME_H
#define UR_DEVICE_OWN_NAME_H

/* Sets the name of this process in ps, both comm and command line. argv: of main(), or
 * NULL. Only in a single-threaded process. */
void ur_own_name(char **argv, const char *name);

#endif
