/* program.c: see program.h. */
#include "program.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int program_run(const char *const argv[], FILE *in, FILE *out, FILE *errors)
{
    FILE *const files[] = {in, out, errors}; /* their numbers there are 0, 1, 2 */
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        if (files[i] != NULL) posix_spawn_file_actions_adddup2(&actions, fileno(files[i]), i);
    errno = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errno != 0) return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
    if (WEXITSTATUS(status) != 127) return WEXITSTATUS(status);
    errno = ENOENT; /* how a C library that cannot report a failed exec says so */
    return -1;
}

FILE *program_file(const char *what, cnn_error *err)
{
    const int fd = memfd_create("program", MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (file) return file;
    CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %s: %s", what, strerror(errno));
    if (fd >= 0) close(fd);
    return NULL;
}

void program_last_line(FILE *log, char *text, size_t size)
{
    char line[CNN_MESSAGE_MAX];
    snprintf(text, size, "it gave no reason");
    rewind(log);
    while (fgets(line, sizeof line, log)) {
        line[strcspn(line, "\n")] = '\0';
        const char *start = line + strspn(line, " \t");
        if (*start != '\0') snprintf(text, size, "%s", start);
    }
}
