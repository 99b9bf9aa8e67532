// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The end of an address vector, apart from what runs for each packet. */
#include <stdlib.h>

#include "transport/work.h"

void ur_av_free(struct ur_av *av)
{
	free(av);
}
