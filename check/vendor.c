// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Vendors' functions. The relocations of a program's files show which it may
 * call: symbols that begin with the provider's name and "dv_" or "_dv_".
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "check/report.h"
#include "check/vendor.h"

#define PROVIDERS 8

static char opened[PROVIDERS][32];
static int providers;
static bool any;

void ur_vendor_opened(const char *provider)
{
	__atomic_store_n(&any, true, __ATOMIC_RELAXED);
	for (int i = 0; i < providers; i++)
		if (!strcmp(opened[i], provider))
			return;
	if (*provider && providers < PROVIDERS)
		snprintf(opened[providers++], sizeof(*opened), "%s", provider);
}

bool ur_vendor_any(void)
{
	return __atomic_load_n(&any, __ATOMIC_RELAXED);
}

/* The linked functions of one provider. */
struct found {
	const char *provider;
	char names[200]; /* the first ones */
	char file[96];	 /* file of the first one */
	int count, shown;
};

/* Returns whether it is a function of the provider. */
static bool is_vendors(const char *name, const char *provider)
{
	size_t n = strlen(provider);

	return !strncmp(name, provider, n) &&
	       (!strncmp(name + n, "dv_", 3) || !strncmp(name + n, "_dv_", 4));
}

static bool is_listed(const struct found *found, const char *name)
{
	const char *at = strstr(found->names, name);
	size_t n = strlen(name);

	return at && (at[n] == ',' || !at[n]) &&
	       (at == found->names || at[-1] == ' ');
}

static void add_name(struct found *found, const char *name, const char *file)
{
	size_t at = strlen(found->names);

	if (is_listed(found, name))
		return;
	if (!found->count++)
		snprintf(found->file, sizeof(found->file), "%s",
			 *file ? basename(file) : "the program");
	if (found->shown == 3 || at + strlen(name) + 3 > sizeof(found->names))
		return;
	found->shown++;
	snprintf(found->names + at, sizeof(found->names) - at, "%s%s",
		 at ? ", " : "", name);
}

/* The parts of a file's dynamic section. */
struct dynamic_part {
	const ElfW(Sym) * symbols;
	const char *strings;
	size_t strings_size;
	const ElfW(Rela) * relocations[2];
	size_t sizes[2]; /* in bytes */
	bool rela;
};

/* On some machines glibc has not added the file's base to the addresses. */
static const void *at(ElfW(Addr) base, ElfW(Addr) address)
{
	return (const void *)(address < base ? base + address : address);
}

static struct dynamic_part read_dynamic(ElfW(Addr) base, const ElfW(Dyn) * dyn)
{
	struct dynamic_part s = {.rela = true};

	for (; dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_SYMTAB:
			s.symbols = at(base, dyn->d_un.d_ptr);
			break;
		case DT_STRTAB:
			s.strings = at(base, dyn->d_un.d_ptr);
			break;
		case DT_STRSZ:
			s.strings_size = dyn->d_un.d_val;
			break;
		case DT_RELA:
			s.relocations[0] = at(base, dyn->d_un.d_ptr);
			break;
		case DT_RELASZ:
			s.sizes[0] = dyn->d_un.d_val;
			break;
		case DT_JMPREL:
			s.relocations[1] = at(base, dyn->d_un.d_ptr);
			break;
		case DT_PLTRELSZ:
			s.sizes[1] = dyn->d_un.d_val;
			break;
		case DT_PLTREL:
			s.rela = dyn->d_un.d_val == DT_RELA;
			break;
		default:
			break;
		}
	}
	return s;
}

static void search(struct found *found, const struct dynamic_part *s,
		   const char *file)
{
	for (int i = 0; i < 2; i++) {
		size_t n = s->relocations[i] ? s->sizes[i] / sizeof(ElfW(Rela))
					     : 0;

		for (size_t k = 0; k < n; k++) {
			size_t number =
				ELF64_R_SYM(s->relocations[i][k].r_info);
			const ElfW(Sym) *symbol = &s->symbols[number];
			const char *name = s->strings + symbol->st_name;

			if (number && symbol->st_shndx == SHN_UNDEF &&
			    symbol->st_name < s->strings_size &&
			    is_vendors(name, found->provider))
				add_name(found, name, file);
		}
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct found *found = data;
	const char *file = basename(info->dlpi_name);
	size_t n = strlen(found->provider);

	/* The provider's library may call itself by its public names. */
	if (!strncmp(file, "lib", 3) &&
	    !strncmp(file + 3, found->provider, n) &&
	    (file[3 + n] == '-' || file[3 + n] == '.'))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		struct dynamic_part s;

		if (p->p_type != PT_DYNAMIC)
			continue;
		s = read_dynamic(
			info->dlpi_addr,
			(const ElfW(Dyn) *)(info->dlpi_addr + p->p_vaddr));
		if (s.symbols && s.strings && s.rela)
			search(found, &s, info->dlpi_name);
	}
	return 0;
}

bool ur_vendor_linked(void)
{
	for (int i = 0; i < providers; i++) {
		struct found found = {.provider = opened[i]};

		dl_iterate_phdr(look_at, &found);
		if (found.count)
			return true;
	}
	return false;
}

void ur_vendor_note(void)
{
	char names[PROVIDERS][32];
	int n;

	/* Another thread still posts: the end does not wait for it. */
	if (!ur_table_trylock())
		return;
	n = providers;
	memcpy(names, opened, sizeof(names));
	ur_table_unlock();
	for (int i = 0; i < n; i++) {
		struct found found = {.provider = names[i]};

		/* Takes the linker's lock, so not with the table's. */
		dl_iterate_phdr(look_at, &found);
		if (!found.count)
			continue;
		if (found.count > found.shown)
			ur_report_note("%s and %d more of %s's own functions, "
				       "linked into %s: what they make and do "
				       "was not looked at",
				       found.names, found.count - found.shown,
				       names[i], found.file);
		else
			ur_report_note("%s of %s's own functions, linked into "
				       "%s: what they make and do was not "
				       "looked at",
				       found.names, names[i], found.file);
	}
}
