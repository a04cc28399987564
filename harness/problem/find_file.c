/* find_file.c: see find_file.h. */
#include "find_file.h"

#include "harness/base/text.h"
#include "names.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const file_kind cnn_network_files = {"network", "bench/nets", ".net"};
const file_kind cnn_problem_files = {"problem file", "bench/problems", ".txt"};
const file_kind cnn_recipe_files = {"recipe", "bench/recipes", ".recipe"};

enum { FOLDERS = 6, NAMES_MAX = 256 };

static void list_folders(const char *folder, char folders[FOLDERS][FOUND_PATH_MAX])
{
    static const char *const from_program[] = {"", "../", "../../", "../share/benchcnn/"};
    char exe[FOUND_PATH_MAX] = "";
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 32);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash != NULL) *slash = '\0';
    snprintf(folders[0], FOUND_PATH_MAX, "%s", folder);
    for (int i = 0; i < 4; i++) snprintf(folders[1 + i], FOUND_PATH_MAX, "%.900s/%s%s", exe, from_program[i], folder);
    snprintf(folders[5], FOUND_PATH_MAX, "%.900s/%s", BENCHCNN_SOURCE_DIR, folder);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

void cnn_each_file(const file_kind *kind, void (*each)(void *user, const char *name), void *user)
{
    char folders[FOLDERS][FOUND_PATH_MAX], name[CNN_NAME_MAX];
    const size_t tail = strlen(kind->ending);
    list_folders(kind->folder, folders);
    for (int i = 0; i < FOLDERS; i++) {
        DIR *dir = opendir(folders[i]);
        struct dirent *entry;
        while (dir != NULL && (entry = readdir(dir)) != NULL) {
            const size_t length = strlen(entry->d_name);
            if (length <= tail || length - tail >= CNN_NAME_MAX ||
                strcmp(entry->d_name + length - tail, kind->ending) != 0)
                continue;
            snprintf(name, sizeof name, "%.*s", (int)(length - tail), entry->d_name);
            each(user, name);
        }
        if (dir != NULL) closedir(dir);
    }
}

typedef struct name_list {
    char names[NAMES_MAX][CNN_NAME_MAX];
    const char *list[NAMES_MAX]; /* those names, sorted */
    int count;
} name_list;

static void add_name(void *user, const char *name)
{
    name_list *all = user;
    int at = 0;
    while (at < all->count && strcmp(all->list[at], name) < 0) at++;
    if (all->count == NAMES_MAX || (at < all->count && strcmp(all->list[at], name) == 0)) return;
    memmove(&all->list[at + 1], &all->list[at], (size_t)(all->count - at) * sizeof *all->list);
    all->list[at] = strcpy(all->names[all->count++], name);
}

/* Says which names there are, and which of them is nearest. */
static cnn_status fail_unknown(const file_kind *kind, const char *name, cnn_error *err)
{
    name_list *all = calloc(1, sizeof *all);
    char text[320] = "";
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to look for the %s '%.64s'", kind->what, name);
    cnn_each_file(kind, add_name, all);
    for (int i = 0; i < all->count; i++) cnn_append(text, sizeof text, "%s%s", i > 0 ? ", " : "", all->list[i]);
    const char *nearest = cnn_nearest_name(name, all->list, all->count);
    CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no %s '%.64s'%s%.64s%s; in %s: %s", kind->what, name,
             nearest != NULL ? ": did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "",
             kind->folder, text[0] != '\0' ? text : "none");
    free(all);
    return err->status;
}

bool cnn_find_own(const file_kind *kind, const char *name, char path[FOUND_PATH_MAX])
{
    char folders[FOLDERS][FOUND_PATH_MAX];
    list_folders(kind->folder, folders);
    for (int i = 0; i < FOLDERS; i++) {
        const int n = snprintf(path, FOUND_PATH_MAX, "%.950s/%.60s%s", folders[i], name, kind->ending);
        if (n < FOUND_PATH_MAX && is_file(path)) return true;
    }
    return false;
}

cnn_status cnn_find_file(const file_kind *kind, const char *name, char path[FOUND_PATH_MAX], cnn_error *err)
{
    enum { LONGEST = CNN_NAME_MAX * 8 };
    if (strlen(name) >= LONGEST)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the %s's name '%.64s...' has more than %d characters", kind->what, name,
                        LONGEST - 1);
    snprintf(path, FOUND_PATH_MAX, "%s", name);
    const bool by_path = strchr(name, '/') != NULL;
    if (is_file(path) || (by_path && access(path, F_OK) == 0)) return CNN_OK; /* a folder is told when it is opened */
    if (by_path) return CNN_FAIL(err, CNN_IO, "%.300s: there is no such file", name);
    if (cnn_find_own(kind, name, path)) return CNN_OK;
    return fail_unknown(kind, name, err);
}
