/* names.c: numbers of texts: ten thousand records are looked up without a walk over all of them. */
#include "names.h"

#include "harness/base/grow.h"
#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash;
}

/* Where the text is, or is to be: the table is never full. */
static int slot_of(const figure_names *names, const char *text)
{
    const uint64_t mask = (uint64_t)names->n_slots - 1;
    uint64_t at = hash_of(text) & mask;
    while (names->slots[at] != 0 && strcmp(names->texts[names->slots[at] - 1], text) != 0) at = (at + 1) & mask;
    return (int)at;
}

/* At most half full. */
static bool make_room(figure_names *names)
{
    if (2 * (names->count + 1) <= names->n_slots) return true;
    figure_names wider = *names;
    wider.n_slots = names->n_slots > 0 ? 2 * names->n_slots : 64;
    wider.slots = calloc((size_t)wider.n_slots, sizeof *wider.slots);
    if (wider.slots == NULL) return false;
    for (int i = 0; i < names->count; i++) wider.slots[slot_of(&wider, names->texts[i])] = i + 1;
    free(names->slots);
    *names = wider;
    return true;
}

int figure_name(figure_names *names, const char *text, bool *fresh, cnn_error *err)
{
    *fresh = false;
    if (!make_room(names)) {
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for more than %d names", names->count);
        return -1;
    }
    const int slot = slot_of(names, text);
    if (names->slots[slot] != 0) return names->slots[slot] - 1;
    char *copy = strdup(text), **item = NULL;
    if (copy != NULL) item = cnn_add_item(&names->texts, &names->count, &names->room, sizeof *item, "names", err);
    if (item == NULL) {
        free(copy);
        CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for more than %d names", names->count);
        return -1;
    }
    *item = copy;
    *fresh = true;
    return (names->slots[slot] = names->count) - 1;
}

void figure_names_free(figure_names *names)
{
    for (int i = 0; i < names->count; i++) free(names->texts[i]);
    free(names->texts);
    free(names->slots);
    *names = (figure_names){.count = 0};
}

static bool is_in_list(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

void figure_list_add(char *list, size_t size, const char *name)
{
    if (name[0] != '\0' && !is_in_list(list, name)) cnn_append(list, size, "%s%s", list[0] != '\0' ? ", " : "", name);
}
