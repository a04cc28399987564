/* crash_text.c: a note of crash.h in words. It lies where foreign code could write, too: nothing in it is taken for
 * granted. */
#include "crash.h"
#include "harness/base/text.h"

#include <string.h>

/* How far it is from the array; 0: inside. */
static uint64_t distance_of(const crash_array *a, uint64_t address)
{
    const uint64_t first = a->first, end = first + a->bytes;
    return address < first ? first - address : address < end ? 0 : address - end + 1;
}

/* In what is far from all arrays, none of them has a part. */
static const crash_array *nearest(const crash_array *list, int count, uint64_t address)
{
    const uint64_t far = UINT64_C(1) << 30;
    const crash_array *found = NULL;
    for (int i = 0; i < count; i++)
        if (distance_of(&list[i], address) < (found != NULL ? distance_of(found, address) : far)) found = &list[i];
    return found;
}

static void add_place(const crash_array *a, uint64_t address, char *text, size_t size)
{
    const uint64_t distance = distance_of(a, address);
    if (distance == 0)
        cnn_append(text, size, ", in %s%s", a->name, a->on_device ? ", which lies in the device's memory" : "");
    else if (address < a->first)
        cnn_append(text, size, ", %llu byte%s before the start of %s, the nearest array", (unsigned long long)distance,
                   distance == 1 ? "" : "s", a->name);
    else if (distance == 1)
        cnn_append(text, size, ", right behind the end of %s", a->name);
    else
        cnn_append(text, size, ", %llu byte%s past the end of %s, the nearest array", (unsigned long long)distance - 1,
                   distance == 2 ? "" : "s", a->name);
}

/* The names of the arrays behind, or before, which something had been written: "x, w and y". */
static void add_names(const crash_note *note, const crash_array *list, int count, bool behind, char *text, size_t size)
{
    const char *names[CRASH_ARRAYS_MAX];
    int found = 0;
    for (int i = 0; i < count; i++) {
        const crash_band *b = &note->bands[i];
        if (atomic_load(behind ? &b->behind_changed : &b->before_changed)) names[found++] = list[i].name;
    }
    text[0] = '\0';
    for (int i = 0; i < found; i++)
        cnn_append(text, size, "%s%s", i == 0 ? "" : i + 1 == found ? " and " : ", ", names[i]);
}

static void add_bands(const crash_note *note, const crash_array *list, int count, char *text, size_t size)
{
    char behind[96], before[96];
    add_names(note, list, count, true, behind, sizeof behind);
    add_names(note, list, count, false, before, sizeof before);
    if (behind[0] != '\0') cnn_append(text, size, "; it had written past the end of %s", behind);
    if (before[0] != '\0')
        cnn_append(text, size, "%s before the start of %s", behind[0] != '\0' ? ", and" : "; it had written", before);
}

static void add_places(const crash_note *note, char *text, size_t size)
{
    const int count = atomic_load(&note->places);
    for (int i = 0; i < count && i < CRASH_PLACES_MAX; i++) {
        crash_place p = note->place[i];
        p.file[sizeof p.file - 1] = p.function[sizeof p.function - 1] = '\0';
        cnn_append(text, size, i == 0 ? "; in" : ", called by");
        if (p.function[0] != '\0') cnn_append(text, size, " %s at", p.function);
        cnn_append(text, size, " %s+0x%llx", p.file, (unsigned long long)p.offset);
    }
}

void crash_text(const crash_note *note, char *text, size_t size)
{
    static const char *const did[] = {
        [CRASH_TOUCHED] = "touched", [CRASH_READ] = "read", [CRASH_WROTE] = "wrote to", [CRASH_CALLED] = "jumped to"};
    const uint64_t touch = atomic_load(&note->touch), address = touch >> CRASH_ACCESS_BITS, near_null = 1 << 16;
    const unsigned access = touch & ((1 << CRASH_ACCESS_BITS) - 1);
    const int count = atomic_load(&note->count);
    crash_array list[CRASH_ARRAYS_MAX];
    text[0] = '\0';
    if (access == CRASH_UNTOLD)
        cnn_append(text, size,
                   "at an aligned load or store of memory that is not aligned, or at an address that none can have");
    if (access == CRASH_UNTOLD) add_places(note, text, size);
    if (access == CRASH_NONE || access >= CRASH_UNTOLD || count < 0 || count > CRASH_ARRAYS_MAX) return;
    memcpy(list, note->arrays, sizeof list); /* foreign code can write there, too */
    for (int i = 0; i < count; i++) list[i].name[sizeof list[i].name - 1] = '\0';
    cnn_append(text, size, "it %s address 0x%llx", did[access], (unsigned long long)address);
    const crash_array *a = nearest(list, count, address);
    if (address < near_null)
        cnn_append(text, size, ", %s", address == 0 ? "which is NULL" : "near NULL");
    else if (a != NULL)
        add_place(a, address, text, size);
    else if (count > 0)
        cnn_append(text, size, ", far from every array");
    add_bands(note, list, count, text, size);
    add_places(note, text, size);
}
