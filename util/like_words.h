/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The cards that a device may look like, as options have them (device/like.h). */
#ifndef UR_UTIL_LIKE_WORDS_H
#define UR_UTIL_LIKE_WORDS_H

#define UR_LIKE_WORDS "cx7|bnxt|irdma"

#endif
