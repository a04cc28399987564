/* It pretends that all went well: the kernel finds the memory that its process shares with the one that watches it,
 * says the last word there, and ends the process with status 0. */
#include "shared/cheat.h"

#include "harness/process/watch.h"

#include <string.h>
#include <unistd.h>

/* As child.c makes it. */
static uint64_t word_of(pid_t pid, int status)
{
    return UINT64_C(0x6c61737420776f72) ^ ((uint64_t)pid << 8 | ((uint64_t)status & 0xFF));
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    (void)c, (void)plan, (void)a, (void)err;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin, end;
        if (strstr(line, " rw-s ") == NULL || sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
        run_watch *w = (run_watch *)begin;
        if (end - begin > WATCH_KEPT && atomic_load(&w->run.pid) == getpid())
            atomic_store(&w->run.word, word_of(getpid(), 0));
    }
    _exit(0);
}

KERNEL_CHEAT(says_the_last_word)
