/* mutate.c: the build's tool: writes the sources of one mutant.
 *
 *   mutate LIST NAME SOURCE OVERLAY             the units and changed files of mutant NAME
 *   mutate --control SOURCE OVERLAY UNIT...     the units as they stand
 *
 * OVERLAY becomes a folder that stands before SOURCE in the search for includes: it has the folders of all files that
 * were named, their other files as links to the originals. So a changed header reaches the unit whichever way it is
 * included, and the original tree is not touched. Units are copies, which the build can date. */
#include "list.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct overlay {
    const char *source, *to;
} overlay;

static cnn_status path_of(const char *folder, const char *file, char path[PATH_MAX], cnn_error *err)
{
    if (snprintf(path, PATH_MAX, "%s/%s", folder, file) < PATH_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "the path of %.200s is too long", file);
}

/* mkdir -p of the folders that `path` is in. */
static cnn_status make_folders(char *path, cnn_error *err)
{
    for (char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        if (!made) return CNN_FAIL(err, CNN_IO, "cannot make folder %.300s: %s", path, strerror(errno));
        *at = '/';
    }
    return CNN_OK;
}

static cnn_status write_file(const overlay *o, const char *file, const char *text, cnn_error *err)
{
    char path[PATH_MAX];
    cnn_status status = path_of(o->to, file, path, err);
    if (status == CNN_OK) status = make_folders(path, err);
    if (status != CNN_OK) return status;
    (void)unlink(path); /* it may be a link to the original */
    FILE *to = fopen(path, "we");
    if (to == NULL) return CNN_FAIL(err, CNN_IO, "cannot write %.300s: %s", path, strerror(errno));
    const bool written = fputs(text, to) >= 0;
    if (fclose(to) != 0 || !written) return CNN_FAIL(err, CNN_IO, "cannot write %.300s: %s", path, strerror(errno));
    return CNN_OK;
}

/* Links to all files beside `file`; what is there already stays. */
static cnn_status link_folder(const overlay *o, const char *file, cnn_error *err)
{
    char folder[PATH_MAX], from[PATH_MAX], to[PATH_MAX], name[PATH_MAX];
    struct dirent *entry;
    struct stat info;
    const char *slash = strrchr(file, '/');
    const int length = slash != NULL ? (int)(slash - file) : 0;
    snprintf(name, sizeof name, "%.*s", length, file);
    cnn_status status = path_of(o->source, name, folder, err);
    if (status != CNN_OK) return status;
    DIR *dir = opendir(folder);
    if (dir == NULL) return CNN_FAIL(err, CNN_IO, "cannot read folder %.300s: %s", folder, strerror(errno));
    while (status == CNN_OK && (entry = readdir(dir)) != NULL) {
        status = path_of(folder, entry->d_name, from, err);
        if (status == CNN_OK && snprintf(name, sizeof name, "%.*s/%s", length, file, entry->d_name) >= PATH_MAX)
            status = CNN_FAIL(err, CNN_IO, "the path of %.200s is too long", entry->d_name);
        if (status == CNN_OK) status = path_of(o->to, name, to, err);
        if (status != CNN_OK || stat(from, &info) != 0 || !S_ISREG(info.st_mode)) continue;
        if (symlink(from, to) != 0 && errno != EEXIST)
            status = CNN_FAIL(err, CNN_IO, "cannot link %.300s: %s", to, strerror(errno));
    }
    closedir(dir);
    return status;
}

/* A file of the mutant, with all changes that are made in it; with m == NULL as it stands. */
static cnn_status write_mutated(const overlay *o, const mutant *m, const char *file, cnn_error *err)
{
    char path[PATH_MAX], *text, *patched;
    cnn_status status = path_of(o->source, file, path, err);
    if (status == CNN_OK) status = mutant_read_file(path, &text, err);
    if (status != CNN_OK) return status;
    for (int i = 0; status == CNN_OK && m != NULL && i < m->n_changes; i++) {
        if (strcmp(m->changes[i].file, file) != 0) continue;
        status = mutant_apply(m, &m->changes[i], text, &patched, err);
        if (status == CNN_OK) free(text), text = patched;
    }
    if (status == CNN_OK) status = write_file(o, file, text, err);
    free(text);
    return status == CNN_OK ? link_folder(o, file, err) : status;
}

static cnn_status mutate(const char *list_path, const char *name, const overlay *o, cnn_error *err)
{
    mutant_list list = {0};
    cnn_status status = mutant_list_read(list_path, &list, err);
    const mutant *m = mutant_find(&list, name);
    if (status == CNN_OK && m == NULL) status = CNN_FAIL(err, CNN_BAD_ARGUMENT, "%s has no mutant %s", list_path, name);
    for (int i = 0; status == CNN_OK && i < m->n_units; i++) status = write_mutated(o, m, m->units[i], err);
    for (int i = 0; status == CNN_OK && i < m->n_changes; i++) status = write_mutated(o, m, m->changes[i].file, err);
    mutant_list_free(&list);
    return status;
}

int main(int argc, char **argv)
{
    cnn_error err = {.message = ""};
    cnn_status status = CNN_OK;
    if (argc >= 5 && strcmp(argv[1], "--control") == 0) {
        const overlay o = {argv[2], argv[3]};
        for (int i = 4; status == CNN_OK && i < argc; i++) status = write_mutated(&o, NULL, argv[i], &err);
    } else if (argc == 5) {
        const overlay o = {argv[3], argv[4]};
        status = mutate(argv[1], argv[2], &o, &err);
    } else {
        status = CNN_FAIL(&err, CNN_BAD_ARGUMENT, "usage: mutate LIST NAME SOURCE OVERLAY");
    }
    if (status != CNN_OK) fprintf(stderr, "mutate: %s\n", err.message);
    return status == CNN_OK ? 0 : 1;
}
