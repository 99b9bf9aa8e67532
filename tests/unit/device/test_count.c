// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* As many objects as the device says, of all its files together, and no more;
 * and what is given up can be had again. */
#include <rdma/ib_user_ioctl_cmds.h>
#include "device/limits.h"
#include "device/uverbs/ufile.h"
#include "tests/check.h"

static int destroy(struct ur_object *obj)
{
	return 0;
}

static const struct ur_object_type type = {
	.id = UVERBS_OBJECT_PD,
	.size = sizeof(struct ur_object),
	.max = UR_MAX_PD,
	.destroy = destroy,
};

int main(void)
{
	static struct ur_device dev;
	static struct ur_ufile a = {.dev = &dev}, b = {.dev = &dev};
	struct ur_object *last = NULL, *obj;
	u32 n = 0, handle;

	while ((obj = ur_object_new(n < 1000 ? &a : &b, &type))) {
		last = obj;
		n++;
	}
	CHECK_EQ(n, UR_MAX_PD);
	CHECK(!ur_object_new(&a, &type));
	handle = last->handle;
	CHECK_EQ(handle, UR_MAX_PD - 1000);
	CHECK(ur_object_get(&b, type.id, handle) == last);
	CHECK(!ur_object_get(&b, type.id, handle + 1));
	CHECK(!ur_object_get(&a, type.id, handle));
	CHECK(!ur_object_destroy(last));
	CHECK(!ur_object_get(&b, type.id, handle));
	CHECK((last = ur_object_new(&b, &type)));
	CHECK_EQ(last->handle, handle);
	CHECK(!ur_object_new(&b, &type));
	/* A file that ends makes room for another. */
	ur_object_destroy_all(&a);
	for (u32 i = 0; i < 1000; i++)
		CHECK(ur_object_new(&b, &type));
	CHECK(!ur_object_new(&a, &type));
	ur_object_destroy_all(&b);
	CHECK_EQ(dev.n_objects[type.id], 0);
	return 0;
}
