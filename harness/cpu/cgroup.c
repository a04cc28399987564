/* cgroup.c: limits of both versions of control groups. A limit binds all groups below its own, so the search goes from
 * this process's group up to the root. In a container the mount often shows only the container's own group, as the
 * root, while /proc/self/cgroup tells the host's path: folders that are not there are passed over. */
#include "limits.h"

#include "harness/base/input.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

typedef struct cgroup {
    bool v2;
    size_t mount; /* the length of the mount's own path: the last folder to look at */
    char folder[1024];
} cgroup;

static bool holds_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

/* A line is ID:CONTROLLERS:PATH. A controller is in a hierarchy of version 1, which is named, or in that of version 2,
 * which names none. */
static bool find_group(const char *root, const char *controller, cgroup *g)
{
    char path[256], line[1024];
    bool found = false;
    snprintf(path, sizeof path, "%.200s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *group = list != NULL ? strchr(list + 1, ':') : NULL;
        if (group == NULL) continue;
        *group++ = '\0';
        const bool v2 = list[1] == '\0';
        if (!holds_word(list + 1, controller) && (!v2 || found)) continue;
        g->v2 = v2;
        g->mount = (size_t)snprintf(g->folder, sizeof g->folder, "%.200s/sys/fs/cgroup%s%s", root, v2 ? "" : "/",
                                    v2 ? "" : controller);
        snprintf(g->folder + g->mount, sizeof g->folder - g->mount, "%s", group);
        found = true;
        if (!v2) break;
    }
    if (file != NULL) fclose(file);
    return found;
}

/* To the group above; false at the root. */
static bool go_up(cgroup *g)
{
    if (strlen(g->folder) <= g->mount) return false;
    *strrchr(g->folder, '/') = '\0';
    return true;
}

static bool read_line(const cgroup *g, const char *name, char text[64])
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", g->folder, name);
    return input_value(path, NULL, text, 64);
}

/* The file's first number; false where it is "max", negative (version 1 for "none"), or not there. */
static bool read_number(const cgroup *g, const char *name, uint64_t *value)
{
    char text[64];
    return read_line(g, name, text) && sscanf(text, "%" SCNu64, value) == 1 && text[0] != '-';
}

/* Files in memory that nobody has mapped for good: the kernel drops them before it runs out. */
static uint64_t page_cache(const cgroup *g)
{
    static const char *const names[2][2] = {{"total_active_file", "total_inactive_file"},
                                            {"active_file", "inactive_file"}};
    char path[1200], line[128], name[64];
    uint64_t sum = 0, value;
    snprintf(path, sizeof path, "%s/memory.stat", g->folder);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%63s %" SCNu64, name, &value) == 2 &&
            (strcmp(name, names[g->v2][0]) == 0 || strcmp(name, names[g->v2][1]) == 0))
            sum += value;
    if (file != NULL) fclose(file);
    return sum;
}

size_t cgroup_memory_left(const char *root)
{
    cgroup g;
    uint64_t left = SIZE_MAX;
    if (!find_group(root, "memory", &g)) return SIZE_MAX;
    do {
        uint64_t most, used;
        if (!read_number(&g, g.v2 ? "memory.max" : "memory.limit_in_bytes", &most)) continue;
        if (!read_number(&g, g.v2 ? "memory.current" : "memory.usage_in_bytes", &used)) continue;
        const uint64_t cache = page_cache(&g), held = used > cache ? used - cache : 0;
        const uint64_t here = most > held ? most - held : 0;
        if (here < left) left = here;
    } while (go_up(&g));
    return (size_t)left;
}

int cgroup_cpus(const char *root)
{
    cgroup g;
    uint64_t least = INT_MAX;
    if (!find_group(root, "cpu", &g)) return INT_MAX;
    do { /* microseconds of work in each period */
        char text[64];
        uint64_t quota = 0, period = 0;
        const bool limited =
            g.v2 ? read_line(&g, "cpu.max", text) && sscanf(text, "%" SCNu64 " %" SCNu64, &quota, &period) == 2
                 : read_number(&g, "cpu.cfs_quota_us", &quota) && read_number(&g, "cpu.cfs_period_us", &period);
        if (!limited || period == 0) continue;
        const uint64_t whole = quota / period > 0 ? quota / period : 1;
        if (whole < least) least = whole;
    } while (go_up(&g));
    return (int)least;
}
