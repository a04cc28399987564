/* fetch.c: MNIST from the network, by bench/fetch_mnist.sh: a shell is what drives curl, gzip and sha256sum. */
#include "data_parts.h"
#include "harness/problem/find_file.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The script's exit status, what it printed in `out`. */
static int run_script(char *path, const char *folder, FILE *out)
{
    pid_t pid;
    int status = 0;
    char shell[] = "sh", into[DATASET_PATH_MAX];
    posix_spawn_file_actions_t actions;
    snprintf(into, sizeof into, "%s", folder);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    const int failed = posix_spawnp(&pid, shell, &actions, NULL, (char *[]){shell, path, into, NULL}, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return 127;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

cnn_status mnist_fetch(const char *folder, cnn_error *err)
{
    static const file_kind kind = {"script", "bench", ".sh"};
    char path[FOUND_PATH_MAX], line[CNN_MESSAGE_MAX] = "";
    const cnn_status status = data_make_folders(folder, err);
    if (status != CNN_OK) return status;
    if (!cnn_find_own(&kind, "fetch_mnist", path))
        return CNN_FAIL(err, CNN_IO,
                        "bench/fetch_mnist.sh, which comes with benchcnn, was not found: install it again");
    FILE *said = tmpfile();
    if (said == NULL) return CNN_FAIL(err, CNN_IO, "no temporary file can be made: %s", strerror(errno));
    const int code = run_script(path, folder, said);
    rewind(said);
    if (fgets(line, sizeof line, said) == NULL) snprintf(line, sizeof line, "%.300s ended with status %d", path, code);
    fclose(said);
    line[strcspn(line, "\n")] = '\0';
    if (code == 0) return CNN_OK;
    return CNN_FAIL(err, code == 130 ? CNN_INTERRUPTED : code == 3 ? CNN_UNAVAILABLE : CNN_IO, "%s", line);
}
