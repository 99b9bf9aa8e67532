/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets in the file format that Wireshark writes (IETF draft pcapng). */
#ifndef UR_CLI_PCAPNG_H
#define UR_CLI_PCAPNG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The file's head: one section, one Ethernet interface, nanoseconds. */
void ur_pcapng_begin(FILE *f);

/* One packet that was seen at @ns since 1970. */
void ur_pcapng_packet(FILE *f, uint64_t ns, const uint8_t *packet, size_t len);

/* The parts of a file with several interfaces: the beginning, one interface
 * each (name: short, or ""), which are numbered from 0. */
void ur_pcapng_section(FILE *f);
void ur_pcapng_interface(FILE *f, const char *name);

/* A packet on an interface, with a comment of less than 64 KiB, or "". */
void ur_pcapng_part(FILE *f, uint32_t interface, uint64_t ns,
		    const uint8_t *packet, size_t len, const char *comment);

#endif
