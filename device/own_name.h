/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The name of a process that uroced has forked. */
#ifndef UR_DEVICE_OWN_NAME_H
#define UR_DEVICE_OWN_NAME_H

/* Gives this process that name in ps, with and without its command line. argv: that of main(),
 * or NULL. In a process of one thread. */
void ur_own_name(char **argv, const char *name);

#endif
