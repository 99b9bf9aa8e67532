/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Imported contexts of a file: each is a context in the file's shared engine (shared_engine.h), so that
 * it reaches the regions of the file's opener, and nothing else of him. Control lock held.
 *
 * The opener does not run when another process imports. So the first import begins a context in his
 * place, with the regions that he has registered. The doorbell page says so from then on. With his next
 * region he asks for that context (ENGINE_SHARE), and tells it himself, also when no uroced runs.
 */
#ifndef UR_DEVICE_UVERBS_IMPORTS_H
#define UR_DEVICE_UVERBS_IMPORTS_H

#include "device/engine_process.h"
#include "device/uverbs/ufile.h"

/* Begins an imported context for the session whose command runs. ended: as of ur_engine_process_get(). *sock
 * gets the program's end of a socket to the engine's process, the caller's. The file is the
 * session's user's. Returns 0, -EINVAL (its opener has ended, and it had no import so far), -EOPNOTSUPP (no such
 * engine can serve it) or -errno. */
int ur_import_begin(struct ur_ufile *file, ur_engine_process_ended *ended,
		    int *sock);
/* Ends all. */
void ur_imports_end(struct ur_ufile *file);

#endif
