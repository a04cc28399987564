/* build_id.c: checksums of the program, and of what an implementation tells of its libraries. */
#include "identity.h"

#include "build_info.h"
#include "harness/cpu/limits.h"
#include "harness/device/call.h"

#include <string.h>
#include <zlib.h>

static bool add_file(const char *path, uLong *crc)
{
    unsigned char bytes[1 << 16];
    size_t count;
    FILE *file = fopen(path, "re");
    if (!file) return false;
    while ((count = fread(bytes, 1, sizeof bytes, file)) > 0) *crc = crc32(*crc, bytes, (uInt)count);
    const bool whole = !ferror(file);
    fclose(file);
    return whole;
}

void cnn_build_id(const char *const *plugins, int n_plugins, char id[BUILD_ID_MAX])
{
    uLong crc = crc32(0, NULL, 0);
    bool known = add_file("/proc/self/exe", &crc);
    for (int i = 0; known && i < n_plugins; i++) known = add_file(plugins[i], &crc);
    id[0] = '\0';
    if (known) snprintf(id, BUILD_ID_MAX, "%08lx", crc);
}

typedef struct fact_list {
    record_pair *facts;
    int count, capacity;
} fact_list;

static void add_fact(void *user, const char *key, const char *value)
{
    fact_list *list = user;
    if (strcmp(key, "pci_bus_id") == 0 || strcmp(key, "threads") == 0 || list->count == list->capacity) return;
    record_pair *pair = &list->facts[list->count++];
    snprintf(pair->key, sizeof pair->key, "%s", key);
    snprintf(pair->value, sizeof pair->value, "%s", value);
}

int cnn_session_facts(const cnn_session *session, record_pair *facts, int capacity)
{
    char text[256];
    fact_list list = {facts, 0, capacity};
    add_fact(&list, "benchcnn", BUILD_VERSION);
    if (session->impl->device_kind == CNN_DEVICE_CPU) add_fact(&list, "cpu", cpu_model(text, (int)sizeof text));
    cnn_describe(session, add_fact, &list);
    return list.count;
}

static void add_text(uLong *crc, const char *text) { *crc = crc32(*crc, (const Bytef *)text, (uInt)strlen(text) + 1); }

void cnn_libraries_id(const cnn_session *session, char id[BUILD_ID_MAX])
{
    enum { FACTS = 64 };
    record_pair facts[FACTS];
    uLong crc = crc32(0, NULL, 0);
    const int count = cnn_session_facts(session, facts, FACTS);
    for (int i = 0; i < count; i++) {
        add_text(&crc, facts[i].key);
        add_text(&crc, facts[i].value);
    }
    snprintf(id, BUILD_ID_MAX, "%08lx", crc);
}
