/* find_file.c: see find_file.h. */
#include "find_file.h"

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

/* The nearest of all names in the folders, copied to `nearest`; false when none is near. */
static bool find_nearest(char folders[FOLDERS][FOUND_PATH_MAX], const char *ending, const char *name,
                         char nearest[CNN_NAME_MAX])
{
    char(*names)[CNN_NAME_MAX] = calloc(NAMES_MAX, sizeof *names);
    const char *list[NAMES_MAX];
    int count = 0;
    for (int i = 0; names != NULL && i < FOLDERS; i++) {
        DIR *dir = opendir(folders[i]);
        struct dirent *entry;
        while (dir != NULL && (entry = readdir(dir)) != NULL && count < NAMES_MAX) {
            const size_t length = strlen(entry->d_name), tail = strlen(ending);
            if (length <= tail || length - tail >= CNN_NAME_MAX || strcmp(entry->d_name + length - tail, ending) != 0)
                continue;
            memcpy(names[count], entry->d_name, length - tail);
            list[count] = names[count];
            count++;
        }
        if (dir != NULL) closedir(dir);
    }
    const char *found = cnn_nearest_name(name, list, count);
    if (found != NULL) snprintf(nearest, CNN_NAME_MAX, "%s", found);
    free(names);
    return found != NULL;
}

cnn_status cnn_find_file(const file_kind *kind, const char *name, char path[FOUND_PATH_MAX], cnn_error *err)
{
    enum { LONGEST = CNN_NAME_MAX * 8 };
    char folders[FOLDERS][FOUND_PATH_MAX], nearest[CNN_NAME_MAX];
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
    if (find_nearest(folders, kind->ending, name, nearest))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no %s '%.64s': did you mean '%s'?", kind->what, name, nearest);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no %s '%.64s': neither a file nor in %s", kind->what, name,
                    kind->folder);
}
