// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Finds the setting for a path, and updates the files of settings. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "device/administrator.h"
#include "device/settings/setting.h"
#include "device/tree/tree.h"
#include "util/assert.h"

static const struct ur_settings *const subjects[] = {
	&ur_settings_class, &ur_settings_cm,	 &ur_settings_cc,
	&ur_settings_roce,  &ur_settings_record,
};

static const char *const roots[] = {
	[UR_SETTING_IB] = "sys/class/infiniband",
	[UR_SETTING_NET] = "sys/class/net",
	[UR_SETTING_CM] = "sys/kernel/config/rdma_cm",
};

static const char *owner(const struct ur_device *dev, enum ur_setting_root root)
{
	return root == UR_SETTING_NET ? dev->netdev : dev->name;
}

/* A device whose netdev is gone keeps the name, which another netdev may have now. */
static bool others_has_it(const struct ur_device *dev)
{
	ur_list_each(struct ur_device, other, &dev->daemon->devices, node) {
		if (other != dev && !strcmp(other->netdev, dev->netdev))
			return true;
	}
	return false;
}

static int put_file(struct ur_device *dev, const struct ur_setting *set)
{
	char text[UR_SETTING_TEXT];

	if (set->root == UR_SETTING_CM && !dev->cm_files)
		return 0;
	ur_assert(set->root < UR_ARRAY_SIZE(roots));
	set->show(dev, set->arg, text, sizeof(text));
	ur_tree_put_setting(dev->daemon, text, "%s/%s/%s", roots[set->root],
			    owner(dev, set->root), set->path);
	return ur_tree_error();
}

static int make_dir(struct ur_device *dev, const struct ur_setting *set)
{
	int len = (int)(strrchr(set->path, '/') - set->path);

	ur_tree_mkdir(dev->daemon, "%s/%s/%.*s", roots[set->root],
		      owner(dev, set->root), len, set->path);
	return ur_tree_error();
}

static int add_files(struct ur_device *dev, enum ur_setting_root root)
{
	int err = 0;

	for (u32 i = 0; i < UR_ARRAY_SIZE(subjects); i++)
		for (u32 j = 0; j < subjects[i]->n && !err; j++) {
			const struct ur_setting *set = &subjects[i]->list[j];

			if (set->root != root)
				continue;
			err = make_dir(dev, set);
			if (!err)
				err = put_file(dev, set);
		}
	return err;
}

static int add_netdev(struct ur_device *dev)
{
	return add_files(dev, UR_SETTING_NET);
}

static int add(struct ur_device *dev)
{
	int err = add_files(dev, UR_SETTING_IB);

	return err ? err : add_netdev(dev);
}

static void del_netdev(struct ur_device *dev)
{
	if (!others_has_it(dev))
		ur_tree_drop_all(dev->daemon, "%s/%s", roots[UR_SETTING_NET],
				 dev->netdev);
}

static void del(struct ur_device *dev)
{
	del_netdev(dev);
	dev->cm_files = false;
	ur_tree_drop_all(dev->daemon, "%s/%s", roots[UR_SETTING_CM], dev->name);
}

void ur_setting_refresh(struct ur_device *dev, const struct ur_settings *of)
{
	for (u32 i = 0; i < of->n; i++)
		put_file(dev, &of->list[i]);
}

/* Returns the rest of path after "root/", or NULL. */
static const char *below(const char *path, const char *root)
{
	size_t len = strlen(root);

	return !strncmp(path, root, len) && path[len] == '/' ? path + len + 1
							     : NULL;
}

/* Returns whether path is "set/DEV/NAME" of this device and setting. */
static bool is_named(const struct ur_device *dev, const struct ur_setting *set,
		     const char *path)
{
	const char *rest = set->name ? below(path, "set") : NULL;

	if (rest)
		rest = below(rest, dev->name);
	return rest && !strcmp(rest, set->name);
}

static const struct ur_setting *find_setting(struct ur_device *dev,
					     const char *path)
{
	for (u32 i = 0; i < UR_ARRAY_SIZE(subjects); i++)
		for (u32 j = 0; j < subjects[i]->n; j++) {
			const struct ur_setting *set = &subjects[i]->list[j];
			const char *rest = below(path, roots[set->root]);

			if (is_named(dev, set, path))
				return set;
			if (rest && (set->root != UR_SETTING_NET ||
				     dev->present || !others_has_it(dev)))
				rest = below(rest, owner(dev, set->root));
			else
				rest = NULL;
			if (rest && !strcmp(rest, set->path))
				return set;
		}
	return NULL;
}

static const struct ur_setting *find_any(struct ur_daemon *d, const char *path,
					 struct ur_device **dev)
{
	ur_list_each(struct ur_device, at, &d->devices, node) {
		const struct ur_setting *set = find_setting(at, path);

		*dev = at;
		if (set)
			return set;
	}
	return NULL;
}

int ur_setting_store(struct ur_daemon *d, const char *path, const char *text)
{
	struct ur_device *dev;
	const struct ur_setting *set = find_any(d, path, &dev);
	char line[UR_SETTING_TEXT];
	size_t len = strlen(text);
	int err;

	ur_assert(ur_loop_mine(d->loop));
	if (!set)
		return -ENOENT;
	while (len && text[len - 1] == '\n')
		len--;
	if (len >= sizeof(line))
		return -EINVAL;
	memcpy(line, text, len);
	line[len] = '\0';
	err = set->store(dev, set->arg, line);
	if (!err && put_file(dev, set))
		ur_log("%s: what %s says is old", dev->name, set->path);
	return err;
}

/* Applies "DEVICE NAME VALUE"; DEVICE may be the netdev. */
static void configure(struct ur_device *dev, const char *line)
{
	char words[UR_SET_MAX], path[UR_SET_MAX + 8], *name, *value;
	int err;

	snprintf(words, sizeof(words), "%s", line);
	value = words;
	name = strsep(&value, " \t");
	if (strcmp(name, dev->name) && strcmp(name, dev->netdev))
		return;
	value += strspn(value, " \t");
	name = strsep(&value, " \t");
	value += value ? strspn(value, " \t") : 0;
	snprintf(path, sizeof(path), "set/%s/%s", dev->name, name);
	err = ur_setting_store(dev->daemon, path, value ? value : "");
	if (err)
		ur_log("%s: set %s %s: %s", dev->name, name, value ? value : "",
		       err == -ENOENT ? "no such setting" : strerror(-err));
}

static void configure_device(struct ur_device *dev)
{
	const struct ur_daemon_options *o = dev->daemon->options;
	char line[UR_SET_MAX];

	if (o && o->record) {
		snprintf(line, sizeof(line), "%s record %s", dev->name,
			 o->record);
		configure(dev, line);
	}
	for (int i = 0; o && i < o->n_sets; i++)
		configure(dev, o->set[i]);
}

const struct ur_setting_ops ur_setting_ops = {
	.add = add,
	.add_netdev = add_netdev,
	.configure = configure_device,
	.del_netdev = del_netdev,
	.del = del,
};

void ur_settings_for_each(struct ur_device *dev,
			  void (*each)(void *ctx, const char *name,
				       const char *text),
			  void *ctx)
{
	char text[UR_SETTING_TEXT], *end;

	for (u32 i = 0; i < UR_ARRAY_SIZE(subjects); i++)
		for (u32 j = 0; j < subjects[i]->n; j++) {
			const struct ur_setting *set = &subjects[i]->list[j];

			if (!set->name)
				continue;
			set->show(dev, set->arg, text, sizeof(text));
			end = text + strlen(text);
			if (end > text && end[-1] == '\n')
				end[-1] = '\0';
			each(ctx, set->name, text);
		}
}

int ur_setting_open(struct ur_session *s)
{
	struct ur_device *dev;

	ur_assert(ur_loop_mine(s->daemon->loop));
	if (!ur_is_administrator(s))
		return -EACCES;
	if (!s->window_len || memchr(s->window, 0, s->window_len) !=
				      s->window + s->window_len - 1)
		return -EINVAL;
	return find_any(s->daemon, (const char *)s->window, &dev) ? 0 : -ENOENT;
}
