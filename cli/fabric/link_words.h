/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The traits of a link as people write them: 1gbit, 50us, 0.1%, 64k. */
#ifndef UR_CLI_FABRIC_LINK_WORDS_H
#define UR_CLI_FABRIC_LINK_WORDS_H

#include "cli/fabric/plan.h"

/**
 * ur_fabric_link_spec() - parse --link: a rate, a delay, or both with a comma
 * @traits: gets the bits of the given traits
 * Return: 0, or -EINVAL after a line on stderr.
 */
int ur_fabric_link_spec(const char *spec, struct ur_fabric_link *link,
			uint32_t *traits);

/**
 * ur_fabric_link_words() - parse the words after 'link HOST': up, down, and pairs of a name
 * and a value
 * @words: NULL terminated; an empty list is an error
 * Return: as ur_fabric_link_spec().
 */
int ur_fabric_link_words(char **words, struct ur_fabric_link *link,
			 uint32_t *traits);

/* Writes all traits that differ from the default, as words. */
void ur_fabric_link_print(const struct ur_fabric_link *link, char *text,
			  size_t size);

#endif
