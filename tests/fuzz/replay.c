// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Run a fuzz target over files, and over all files of folders: what every
 * build can do without a fuzzer. usage: replay_NAME PATH...
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* A target may have one. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

static unsigned long files;

static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long size;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 ||
	    fseek(f, 0, SEEK_SET)) {
		perror(path);
		exit(1);
	}
	/* Exactly as large as the file, so that an overread is seen. */
	data = malloc(size ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) {
		perror(path);
		exit(1);
	}
	fclose(f);
	if (getenv("REPLAY_VERBOSE"))
		fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	files++;
}

static void replay_path(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char name[4096];

	if (!dir) {
		replay_file(path);
		return;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		replay_file(name);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 1; i < argc; i++)
		replay_path(argv[i]);
	printf("%lu inputs\n", files);
	return !files;
}
