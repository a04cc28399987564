/* baselines.c: see baselines.h. */
#include "baselines.h"

#include "harness/base/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".jsonl";

static bool is_name(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > CLI_BASELINE_NAME_MAX || !isalnum((unsigned char)name[0])) return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && strchr("._+-", name[i]) == NULL) return false;
    return true;
}

cnn_status cli_baseline_check(const char *option, const char *name, cnn_error *err)
{
    char shown[128];
    if (is_name(name)) return CNN_OK;
    return CNN_FAIL(
        err, CNN_BAD_ARGUMENT,
        "--%s '%s' is no name of a baseline: it has up to %d letters, digits and . _ + -, and begins with a "
        "letter or digit",
        option, cnn_visible(name, shown, sizeof shown), CLI_BASELINE_NAME_MAX);
}

/* Makes each folder of the path that is missing. */
static bool make_folders(char *path)
{
    for (char *at = path + 1; *at != '\0'; at++) {
        if (*at != '/') continue;
        *at = '\0';
        const bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
        *at = '/';
        if (!there) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static cnn_status folder(bool make, char path[CLI_BASELINE_PATH_MAX], cnn_error *err)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    const bool own = data != NULL && data[0] == '/';
    if (!own && (home == NULL || home[0] != '/'))
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "there is no place for baselines: HOME is no path; set it, or XDG_DATA_HOME");
    const int n = own ? snprintf(path, CLI_BASELINE_PATH_MAX, "%s/benchcnn/baselines", data)
                      : snprintf(path, CLI_BASELINE_PATH_MAX, "%s/.local/share/benchcnn/baselines", home);
    if (n < 0 || n + CLI_BASELINE_NAME_MAX + 16 >= CLI_BASELINE_PATH_MAX)
        return CNN_FAIL(err, CNN_UNAVAILABLE, "the path of the folder for baselines is too long: set XDG_DATA_HOME");
    if (!make || make_folders(path)) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "%.900s cannot be made: %s", path, strerror(errno));
}

cnn_status cli_baseline_path(const char *name, bool make, char path[CLI_BASELINE_PATH_MAX], cnn_error *err)
{
    const cnn_status status = folder(make, path, err);
    if (status == CNN_OK) cnn_append(path, CLI_BASELINE_PATH_MAX, "/%s%s", name, suffix);
    return status;
}

static bool is_file(const char *text)
{
    const size_t length = strlen(text), end = strlen(suffix);
    return strchr(text, '/') != NULL || (length > end && strcmp(text + length - end, suffix) == 0);
}

static cnn_status add_name(void *names, const char *name, const char *path, cnn_error *err)
{
    (void)path, (void)err;
    cnn_append(names, CNN_MESSAGE_MAX / 2, " %s", name);
    return CNN_OK;
}

cnn_status cli_baseline_find(const char *given, char path[CLI_BASELINE_PATH_MAX], cnn_error *err)
{
    char names[CNN_MESSAGE_MAX / 2] = "";
    cnn_status status = CNN_OK;
    if (is_file(given)) {
        if (snprintf(path, CLI_BASELINE_PATH_MAX, "%s", given) >= CLI_BASELINE_PATH_MAX)
            return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--against %.64s... is too long a path", given);
        if (access(path, R_OK) == 0) return CNN_OK;
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--against %.300s cannot be read: %s", given, strerror(errno));
    }
    status = cli_baseline_check("against", given, err);
    if (status == CNN_OK) status = cli_baseline_path(given, false, path, err);
    if (status != CNN_OK || access(path, R_OK) == 0) return status;
    status = cli_each_baseline(add_name, names, err);
    if (status != CNN_OK) return status;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "there is no baseline %s: `bench --save %s` makes it; there %s%s", given,
                    given, names[0] != '\0' ? "are" : "is none", names);
}

static int only_baselines(const struct dirent *entry)
{
    char name[CLI_BASELINE_NAME_MAX + 1];
    const size_t length = strlen(entry->d_name), end = strlen(suffix);
    if (length <= end || length - end >= sizeof name || strcmp(entry->d_name + length - end, suffix) != 0) return 0;
    snprintf(name, sizeof name, "%.*s", (int)(length - end), entry->d_name);
    return is_name(name);
}

cnn_status cli_each_baseline(cli_baseline_each *each, void *user, cnn_error *err)
{
    char path[CLI_BASELINE_PATH_MAX], name[CLI_BASELINE_NAME_MAX + 1];
    struct dirent **list = NULL;
    cnn_status status = folder(false, path, err);
    const int count = status == CNN_OK ? scandir(path, &list, only_baselines, alphasort) : 0;
    if (count < 0 && errno != ENOENT) return CNN_FAIL(err, CNN_IO, "%.900s cannot be read: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%.*s", (int)(strlen(list[i]->d_name) - strlen(suffix)), list[i]->d_name);
        if (status == CNN_OK) status = cli_baseline_path(name, false, path, err);
        if (status == CNN_OK) status = each(user, name, path, err);
        free(list[i]);
    }
    free(list);
    return status;
}
