/* watch.c: --watch: the same command without that word, again each time the kernel's file changes, in a process of its
 * own. Ctrl-C ends it. */
#include "parts.h"

#include "cli/options/options.h"
#include "harness/process/interrupt.h"
#include "harness/process/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* What tells one state of a file from another: an editor may write it anew, or put another in its place. */
typedef struct file_state {
    bool there;
    ino_t inode;
    off_t bytes;
    struct timespec changed;
} file_state;

static file_state state_of(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return (file_state){.there = false};
    return (file_state){true, info.st_ino, info.st_size, info.st_mtim};
}

static bool is_same(const file_state *a, const file_state *b)
{
    return a->there == b->there && a->inode == b->inode && a->bytes == b->bytes &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static void pause_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL); }

/* Until it is another one, and stays that for a moment: half a file is no file. */
static void wait_for_change(const char *path, file_state known)
{
    file_state now = known;
    while (!interrupt_seen() && (is_same(&now, &known) || !now.there)) {
        pause_briefly();
        now = state_of(path);
    }
    for (file_state before = known; !interrupt_seen() && !is_same(&before, &now);) {
        before = now;
        pause_briefly();
        now = state_of(path);
    }
}

cnn_status cli_kernel_watch(const cli_options *o, int argc, char **argv, cnn_error *err)
{
    const char **words = calloc((size_t)argc + 1, sizeof *words);
    const char *colon = strrchr(o->kernel, ':');
    char *path = colon != NULL ? strndup(o->kernel, (size_t)(colon - o->kernel)) : strdup(o->kernel);
    cnn_status status = CNN_OK;
    if (words == NULL || path == NULL) status = CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a command line");
    for (int i = 0, n = 0; status == CNN_OK && i < argc; i++)
        if (strcmp(argv[i], "--watch") != 0) words[n++] = argv[i];
    interrupt_catch();
    while (status == CNN_OK && !interrupt_seen()) {
        const file_state known = state_of(path);
        if (program_run(words, NULL, NULL, NULL) < 0)
            status = CNN_FAIL(err, CNN_INTERNAL, "%.200s cannot be started: %s", argv[0], strerror(errno));
        if (status == CNN_OK && !interrupt_seen() && !o->quiet)
            fprintf(stderr, "again when %s changes (Ctrl-C ends)\n", path);
        if (status == CNN_OK) wait_for_change(path, known);
    }
    free(path);
    free(words);
    return status == CNN_OK ? CNN_FAIL(err, CNN_INTERRUPTED, "interrupted") : status;
}
