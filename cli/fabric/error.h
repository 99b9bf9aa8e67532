/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The text of an error: the keeper has no terminal, so the text is sent to the requester. */
#ifndef UR_CLI_FABRIC_ERROR_H
#define UR_CLI_FABRIC_ERROR_H

struct ur_fabric_error {
	char text[480]; /* "" while nothing has failed */
};

/**
 * ur_fabric_fail() - set the text, unless there is one, with ": " and strerror() behind it
 * @err: -errno; for 0 and -EOPNOTSUPP nothing is appended
 * Return: err, or -EINVAL for 0.
 */
__attribute__((format(printf, 3, 4))) int
ur_fabric_fail(struct ur_fabric_error *error, int err, const char *format, ...);

#endif
