/* find_file.c: see find_file.h. */
#include "find_file.h"

#include "harness/base/text.h"
#include "names.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS = 4, NAMES_MAX = 256 };

static void list_folders(const char *folder, char folders[FOLDERS][FOUND_PATH_MAX])
{
    char exe[FOUND_PATH_MAX] = "";
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 32);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash != NULL) *slash = '\0';
    snprintf(folders[0], FOUND_PATH_MAX, "%s", folder);
    snprintf(folders[1], FOUND_PATH_MAX, "%.900s/../%s", exe, folder);
    snprintf(folders[2], FOUND_PATH_MAX, "%.900s/../share/benchcnn/%s", exe, folder);
    snprintf(folders[3], FOUND_PATH_MAX, "%.900s/%s", BENCHCNN_SOURCE_DIR, folder);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

typedef struct name_list {
    char names[NAMES_MAX][CNN_NAME_MAX];
    const char *list[NAMES_MAX]; /* those names, sorted */
    int count;
} name_list;

static void add_name(name_list *all, const char *file, const char *ending)
{
    const size_t length = strlen(file), tail = strlen(ending);
    char name[CNN_NAME_MAX];
    int at = 0;
    if (length <= tail || length - tail >= sizeof name || strcmp(file + length - tail, ending) != 0) return;
    snprintf(name, sizeof name, "%.*s", (int)(length - tail), file);
    while (at < all->count && strcmp(all->list[at], name) < 0) at++;
    if (all->count == NAMES_MAX || (at < all->count && strcmp(all->list[at], name) == 0)) return;
    memmove(&all->list[at + 1], &all->list[at], (size_t)(all->count - at) * sizeof *all->list);
    all->list[at] = strcpy(all->names[all->count++], name);
}

/* Says which names there are, and which of them is nearest. */
static cnn_status fail_unknown(char folders[FOLDERS][FOUND_PATH_MAX], const file_kind *kind, const char *name,
                               cnn_error *err)
{
    char text[320] = "";
    name_list *all = calloc(1, sizeof *all);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to look for the %s '%.64s'", kind->what, name);
    for (int i = 0; i < FOLDERS; i++) {
        DIR *dir = opendir(folders[i]);
        const struct dirent *entry;
        while (dir != NULL && (entry = readdir(dir)) != NULL) add_name(all, entry->d_name, kind->ending);
        if (dir != NULL) closedir(dir);
    }
    for (int i = 0; i < all->count; i++) cnn_append(text, sizeof text, "%s%s", i > 0 ? ", " : "", all->list[i]);
    const char *nearest = cnn_nearest_name(name, all->list, all->count);
    CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no %s '%.64s'%s%.64s%s; in %s: %s", kind->what, name,
             nearest != NULL ? ": did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "",
             kind->folder, text[0] != '\0' ? text : "none");
    free(all);
    return err->status;
}

cnn_status cnn_find_file(const file_kind *kind, const char *name, char path[FOUND_PATH_MAX], cnn_error *err)
{
    enum { LONGEST = CNN_NAME_MAX * 8 };
    char folders[FOLDERS][FOUND_PATH_MAX];
    if (strlen(name) >= LONGEST)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the %s's name '%.64s...' has more than %d characters", kind->what, name,
                        LONGEST - 1);
    snprintf(path, FOUND_PATH_MAX, "%s", name);
    const bool by_path = strchr(name, '/') != NULL;
    if (is_file(path) || (by_path && access(path, F_OK) == 0)) return CNN_OK; /* a folder is told when it is opened */
    if (by_path) return CNN_FAIL(err, CNN_IO, "%.300s: there is no such file", name);
    list_folders(kind->folder, folders);
    for (int i = 0; i < FOLDERS; i++) {
        const int n = snprintf(path, FOUND_PATH_MAX, "%.950s/%.60s%s", folders[i], name, kind->ending);
        if (n < FOUND_PATH_MAX && is_file(path)) return CNN_OK;
    }
    return fail_unknown(folders, kind, name, err);
}
