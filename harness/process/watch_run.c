/* watch_run.c: what a run tells the process that watches it: see watch.h. */
#include "watch.h"

#include <string.h>
#include <unistd.h>

/* In hand, from now on, is whoever `key` names. */
static void start_clock(run_watch *w) { child_hand(&w->run, w->key[0] != '\0'); }

bool watch_take(run_watch *w, int64_t number)
{
    if (!w->on) return true;
    if (number < w->done) return false;
    w->number = number;
    start_clock(w);
    return true;
}

void watch_done(run_watch *w)
{
    if (!w->on) return;
    start_clock(w); /* a copy that a kernel forked ends here, uncounted */
    w->done = w->number + 1;
    w->number = -1;
}

bool watch_enter(run_watch *w, const char *key, const char *doing)
{
    if (!w->on) return true;
    snprintf(w->key, sizeof w->key, "%s", key != NULL ? key : "");
    snprintf(w->doing, sizeof w->doing, "%s", key != NULL ? doing : "");
    start_clock(w);
    return key == NULL || watch_find(w, key, w->number) == NULL;
}

void watch_tick(run_watch *w)
{
    if (w->on) start_clock(w);
}

void watch_lost(run_watch *w, const char *how)
{
    snprintf(w->said, sizeof w->said, "%s", how);
    fflush(NULL);
    _exit(1);
}

watch_death *watch_find(run_watch *w, const char *key, int64_t number)
{
    for (int i = 0; i < w->n_deaths; i++)
        if (w->deaths[i].number == number && (key == NULL || strcmp(w->deaths[i].key, key) == 0)) return &w->deaths[i];
    return NULL;
}
