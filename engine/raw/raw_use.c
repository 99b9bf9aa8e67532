// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Raw packets of an engine in a program, by sockets that uroced has granted. See raw.h. */
#include <errno.h>
#include "engine/core/engine_impl.h"
#include "engine/raw/wire_raw.h"

static int use_raw(struct ur_engine *engine, const int *fd)
{
	return engine->raw ? -EALREADY
			   : ur_wire_raw_take(engine, fd, &engine->raw);
}
UR_ENGINE_CALL(1, use_raw, const int *);

int ur_engine_use_raw(struct ur_engine *engine, const int fd[UR_RAW_SOCKETS])
{
	return call_use_raw(engine, fd);
}

static int has_raw(struct ur_engine *engine)
{
	return engine->raw != NULL;
}
UR_ENGINE_CALL(0, has_raw);

bool ur_engine_has_raw(struct ur_engine *engine)
{
	return call_has_raw(engine);
}
