/* gnuplot.c: the child process, its complaints, and the files it reads. No shell is involved, so no path can be
 * mistaken for a command. */
#include "gnuplot.h"

#include "harness/base/text.h"
#include "harness/problem/find_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_SIZE = 4096 };

cnn_status plot_file(const char *name, char *path, int size, cnn_error *err)
{
    static const file_kind kind = {"file of plots", "plots", ""};
    char found[FOUND_PATH_MAX];
    if (!cnn_find_own(&kind, name, found))
        return CNN_FAIL(err, CNN_IO, "cannot find plots/%s: neither here nor where benchcnn was built or installed",
                        name);
    snprintf(path, (size_t)size, "%s", found);
    return CNN_OK;
}

cnn_status plot_folder(char *folder, int size, cnn_error *err)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] == '\0') parent = "/tmp";
    snprintf(folder, (size_t)size, "%s/benchcnn-plot-XXXXXX", parent);
    if (mkdtemp(folder)) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "cannot make a temporary folder in %s: %s", parent, strerror(errno));
}

void plot_folder_remove(const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory) return;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(folder);
}

/* The last line that is not blank: gnuplot echoes the script's line and a caret before it says what is wrong. */
static void last_line(const char *path, char *text, size_t size)
{
    char line[CNN_MESSAGE_MAX];
    FILE *file = fopen(path, "re");
    snprintf(text, size, "it gave no reason");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        const char *start = line + strspn(line, " \t");
        if (*start != '\0') snprintf(text, size, "%s", start);
    }
    fclose(file);
}

/* 0, or the errno of the start; *code is the exit status as waitpid() gives it. */
static int run_child(char *const *arguments, const char *log, int *code)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int error = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) return error;
    while (waitpid(child, code, 0) < 0)
        if (errno != EINTR) return errno;
    return 0;
}

cnn_status gnuplot_run(const char *settings, const char *script, const char *folder, cnn_error *err)
{
    char log[PATH_SIZE], reason[CNN_MESSAGE_MAX / 2], name[] = "gnuplot", option[] = "-e";
    char *settings_copy = strdup(settings), *script_copy = strdup(script); /* argv is not const */
    cnn_status status = CNN_OK;
    int code = 0;
    if (!settings_copy || !script_copy) {
        status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory to start gnuplot");
        goto cleanup;
    }
    snprintf(log, sizeof log, "%s/gnuplot.log", folder);
    int error = run_child((char *[]){name, option, settings_copy, script_copy, NULL}, log, &code);
    last_line(log, reason, sizeof reason);
    /* 127 is how a C library that cannot report a failed exec says so. */
    if (error == ENOENT || (error == 0 && WIFEXITED(code) && WEXITSTATUS(code) == 127))
        status = CNN_FAIL(err, CNN_UNAVAILABLE,
                          "gnuplot is not installed, and plots are drawn with it (Debian, Ubuntu: apt-get install "
                          "gnuplot-nox)");
    else if (error != 0)
        status = CNN_FAIL(err, CNN_INTERNAL, "cannot start gnuplot: %s", strerror(error));
    else if (!WIFEXITED(code) || WEXITSTATUS(code) != 0)
        status = CNN_FAIL(err, CNN_INTERNAL, "gnuplot failed on %s: %s", script, reason);
cleanup:
    free(settings_copy);
    free(script_copy);
    return status;
}

void gnuplot_set_text(char *settings, int size, const char *name, const char *value)
{
    size_t used = strlen(settings), room = (size_t)size;
    used += (size_t)snprintf(settings + used, room - used, "%s='", name);
    if (used >= room) return;
    while (*value && used + 2 * CNN_SHOWN_MAX < room) { /* a line end would end the command, too */
        char shown[CNN_SHOWN_MAX];
        value += cnn_show_character(value, shown);
        for (const char *at = shown; *at != '\0'; at++) {
            if (*at == '\'') settings[used++] = '\'';
            settings[used++] = *at;
        }
    }
    if (used < room) snprintf(settings + used, room - used, "';");
}

void gnuplot_set_real(char *settings, int size, const char *name, double value)
{
    size_t used = strlen(settings);
    snprintf(settings + used, (size_t)size - used, "%s=%.9g;", name, value);
}
