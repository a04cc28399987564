/* rapl.c: Linux's folder of power zones. A zone intel-rapl:N whose name is "package..." is a processor with all of its
 * cores (AMD's as well); those below it (cores, memory modules) and the platform are not counted. */
#include "energy.h"

#include "harness/base/input.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

enum { PACKAGES_MAX = 64, PATH_ROOM = 512 };

typedef struct package {
    char path[PATH_ROOM]; /* of its counter, microjoules */
    uint64_t last, range; /* it counts to the range, and then from 0 */
} package;

struct rapl {
    int count;
    double microjoules;
    package packages[PACKAGES_MAX];
};

static bool read_number(const char *path, uint64_t *number)
{
    char text[64], *end;
    errno = 0;
    if (!input_value(path, NULL, text, sizeof text)) return false;
    *number = strtoull(text, &end, 10);
    return end != text && errno == 0;
}

static bool file_of(const char *zone, const char *file, char path[PATH_ROOM])
{
    return snprintf(path, PATH_ROOM, "%s/%s", zone, file) < PATH_ROOM;
}

static cnn_status add_zone(rapl *r, const char *zone, cnn_error *err)
{
    char path[PATH_ROOM], name[64];
    package *p = &r->packages[r->count];
    if (!file_of(zone, "name", path) || !input_value(path, NULL, name, sizeof name)) return CNN_OK;
    if (strncmp(name, "package", strlen("package")) != 0 || r->count == PACKAGES_MAX) return CNN_OK;
    if (!file_of(zone, "max_energy_range_uj", path) || !read_number(path, &p->range) ||
        !file_of(zone, "energy_uj", p->path))
        return CNN_OK;
    if (!read_number(p->path, &p->last))
        return CNN_FAIL(err, CNN_UNAVAILABLE, "%.300s cannot be read: root may, and may allow others to", p->path);
    r->count++;
    return CNN_OK;
}

cnn_status rapl_open(const char *folder, rapl **result, cnn_error *err)
{
    char pattern[PATH_ROOM];
    glob_t found = {.gl_pathc = 0};
    rapl *r = *result = NULL;
    const char *root = folder ? folder : "/sys/class/powercap";
    cnn_status status = CNN_OK;
    if (!file_of(root, "intel-rapl:*", pattern))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the path %.64s... is too long", root);
    r = calloc(1, sizeof *r);
    if (!r) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for RAPL");
    const int code = glob(pattern, 0, NULL, &found);
    if (code == GLOB_NOSPACE) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for RAPL");
    for (size_t i = 0; code == 0 && i < found.gl_pathc && status == CNN_OK; i++)
        status = add_zone(r, found.gl_pathv[i], err);
    if (code == 0) globfree(&found);
    if (status == CNN_OK && r->count == 0)
        status = CNN_FAIL(err, CNN_UNAVAILABLE, "no processor's counter of energy (RAPL) is in %.200s", root);
    if (status == CNN_OK)
        *result = r;
    else
        rapl_close(r);
    return status;
}

bool rapl_joules(rapl *r, double *joules)
{
    for (int i = 0; i < r->count; i++) {
        package *p = &r->packages[i];
        uint64_t now;
        if (!read_number(p->path, &now)) return false;
        r->microjoules += now >= p->last ? (double)(now - p->last) : (double)p->range - (double)p->last + (double)now;
        p->last = now;
    }
    *joules = r->microjoules * 1e-6;
    return true;
}

void rapl_close(rapl *r) { free(r); }
