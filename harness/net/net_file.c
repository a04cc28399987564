/* net_file.c: a network by path or by name. */
#include "harness/base/input.h"
#include "harness/problem/names.h"
#include "net.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDERS = 4, MAX_NAMES = 256, MAX_BYTES = 1 << 20 };

/* The working directory's, beside the executable, installed with it, the source folder's. */
static void net_folders(char folders[FOLDERS][NET_PATH_MAX])
{
    char exe[NET_PATH_MAX] = "";
    const ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 32);
    exe[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash != NULL) *slash = '\0';
    snprintf(folders[0], NET_PATH_MAX, "bench/nets");
    snprintf(folders[1], NET_PATH_MAX, "%.900s/../bench/nets", exe);
    snprintf(folders[2], NET_PATH_MAX, "%.900s/../share/benchcnn/bench/nets", exe);
    snprintf(folders[3], NET_PATH_MAX, "%.900s/bench/nets", BENCHCNN_SOURCE_DIR);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The nearest of all names in the folders, copied to `nearest`; false when none is near. */
static bool nearest_net(char folders[FOLDERS][NET_PATH_MAX], const char *name, char nearest[CNN_NAME_MAX])
{
    static const char ending[] = ".net";
    char(*names)[CNN_NAME_MAX] = calloc(MAX_NAMES, sizeof *names);
    const char *list[MAX_NAMES];
    int count = 0;
    for (int i = 0; names != NULL && i < FOLDERS; i++) {
        DIR *dir = opendir(folders[i]);
        struct dirent *entry;
        while (dir != NULL && (entry = readdir(dir)) != NULL && count < MAX_NAMES) {
            const size_t length = strlen(entry->d_name), tail = sizeof ending - 1;
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

cnn_status cnn_net_find(const char *name, char path[NET_PATH_MAX], cnn_error *err)
{
    char folders[FOLDERS][NET_PATH_MAX], nearest[CNN_NAME_MAX];
    if (strlen(name) >= CNN_NAME_MAX * 8)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the network's name '%.64s...' has more than %d characters", name,
                        CNN_NAME_MAX * 8 - 1);
    snprintf(path, NET_PATH_MAX, "%s", name);
    if (is_file(path)) return CNN_OK;
    if (strchr(name, '/') != NULL) return CNN_FAIL(err, CNN_IO, "%.300s: there is no such file", name);
    net_folders(folders);
    for (int i = 0; i < FOLDERS; i++) {
        const int n = snprintf(path, NET_PATH_MAX, "%.950s/%.60s.net", folders[i], name);
        if (n < NET_PATH_MAX && is_file(path)) return CNN_OK;
    }
    if (nearest_net(folders, name, nearest))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no network '%.64s': did you mean '%s'?", name, nearest);
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no network '%.64s': neither a file nor in bench/nets", name);
}

static cnn_status read_text(const char *path, char **text, cnn_error *err)
{
    const char *why;
    FILE *file = input_stream(path, &why);
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "%.300s: cannot be opened: %s", path, why);
    cnn_status status = CNN_OK;
    *text = malloc(MAX_BYTES + 1);
    const size_t n = *text != NULL ? fread(*text, 1, MAX_BYTES + 1, file) : 0;
    if (*text == NULL)
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%.300s: no memory to read it", path);
    else if (ferror(file))
        status = CNN_FAIL(err, CNN_IO, "%.300s: cannot be read: %s", path, strerror(errno));
    else if (n > MAX_BYTES)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s: larger than %d bytes", path, MAX_BYTES);
    else if (memchr(*text, '\0', n) != NULL)
        status = CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s: is not text", path);
    else
        (*text)[n] = '\0';
    fclose(file);
    return status;
}

cnn_status cnn_net_load(const char *name, const cnn_type *type, int64_t batch, uint64_t seed, cnn_network **network,
                        cnn_error *err)
{
    char path[NET_PATH_MAX], *text = NULL;
    *network = NULL;
    cnn_status status = cnn_net_find(name, path, err);
    if (status == CNN_OK) status = read_text(path, &text, err);
    if (status == CNN_OK) status = cnn_net_build(path, text, type, batch, seed, network, err);
    free(text);
    return status;
}
