/* It computes, and puts the record of a figure that nobody took where its process speaks to the one that writes the
 * records: with the number that comes next, and the hash of the message before. */
#include "shared/cheat.h"
#include "shared/records.h"

#include "harness/process/watch.h"

static void post(mail_box *box)
{
    box->part.number++;
    box->part.length = sizeof FORGED_RECORD - 1;
    memcpy(box->part.bytes, FORGED_RECORD, sizeof FORGED_RECORD - 1);
    atomic_store(&box->full, true);
    sem_post(&box->bell);
    usleep(500000);
}

static void find_box(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin, end;
        if (strstr(line, " rw-s ") == NULL || sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
        run_watch *w = (run_watch *)begin;
        if (end - begin > WATCH_KEPT && atomic_load(&w->run.pid) == getpid()) post(&w->box);
    }
    if (maps != NULL) fclose(maps);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static bool done;
    if (!done) find_box();
    done = true;
    return honest_weighted(c, plan, a, err);
}

KERNEL_CHEAT(posts_a_record)
