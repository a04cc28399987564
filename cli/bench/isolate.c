/* isolate.c: `bench --isolate`: whatever is timed is timed in a child process, which notes in memory that it
 * shares with its parent whose code it is about to call: a store before each turn, outside of what is timed. When it
 * dies, the parent knows of whom, and the next child runs that group of contenders once more without them. */
#include "cli/table.h"
#include "parts.h"

#include <string.h>

enum { TIMED, WRONG, FAILED, UNSUPPORTED, KEPT, REFUSED, TALLIES };

static void keep_counts(bench *b)
{
    const int counts[TALLIES] = {b->timed,       b->wrong, b->failed,
                                 b->unsupported, b->kept,  (int)b->problems.refusal.status};
    for (int i = 0; i < TALLIES; i++) b->page->tally[i] = counts[i];
}

void bench_take_counts(bench *b)
{
    const int64_t *t = b->page->tally;
    b->timed = (int)t[TIMED], b->wrong = (int)t[WRONG], b->failed = (int)t[FAILED];
    b->unsupported = (int)t[UNSUPPORTED], b->kept = (int)t[KEPT];
    if (t[REFUSED] == CNN_OK || b->problems.refusal.status != CNN_OK) return;
    cnn_error *refusal = &b->problems.refusal; /* said when it happened */
    CNN_FAIL(refusal, (cnn_status)t[REFUSED], "a --problem was refused, see above");
}

static void key_of(char key[ISOLATE_KEY_MAX], const contender *c)
{
    snprintf(key, ISOLATE_KEY_MAX, "%s:%s%s", c->session->impl->name, c->algorithm.name, c->tuned ? " (tuned)" : "");
}

static const char *how_died(const bench *b, const char *key)
{
    for (int i = 0; b->page && i < b->page->n_dead; i++)
        if (strcmp(b->page->dead[i].key, key) == 0) return b->page->dead[i].how;
    return NULL;
}

bool bench_take_group(bench *b)
{
    const int64_t number = b->number++;
    if (!b->page) return true;
    if (number < b->page->ended) return false;
    if (number >= b->page->begun) {
        b->page->begun = number + 1;
        b->page->n_dead = 0;
    }
    bench_take_counts(b);
    return true;
}

void bench_mark_dead(const bench *b, contender *list, int count)
{
    for (int i = 0; i < count; i++) {
        char key[ISOLATE_KEY_MAX];
        key_of(key, &list[i]);
        const char *how = how_died(b, key);
        if (!how) continue;
        list[i].state = CONTENDER_FAILED;
        snprintf(list[i].reason, sizeof list[i].reason, "%s", how);
    }
}

const char *bench_dead(const bench *b, const cnn_impl *impl) { return how_died(b, impl->name); }

static void set_hand(bench *b, const char *key)
{
    snprintf(b->page->hand, sizeof b->page->hand, "%s", key);
    isolate_in_case(b->page, key[0] != '\0');
}

void bench_enter(bench *b, const cnn_impl *impl)
{
    if (b->page) set_hand(b, impl ? impl->name : "");
}

void bench_in_hand(void *user, const contender *c)
{
    char key[ISOLATE_KEY_MAX] = "";
    bench *b = user;
    if (!b->page) return;
    if (c) key_of(key, c);
    set_hand(b, key);
}

void bench_group_done(bench *b)
{
    if (!b->page) return;
    keep_counts(b);
    b->page->ended = b->page->begun;
}

/* ---- In the parent. */

typedef struct isolated {
    bench *b;
    int (*work)(bench *b);
} isolated;

static int in_child(void *user, isolate_page *page)
{
    const isolated *i = user;
    i->b->page = page;
    if (page->child == 0) keep_counts(i->b); /* what the parent knows already */
    return i->work(i->b);
}

static void tell(const bench *b, isolate_page *page, const char *name, const char *doing, const char *how)
{
    cnn_error err;
    page->tally[FAILED]++;
    if (cli_report_ended(b->options, name, NULL, doing, how, b->sink, &err) != CNN_OK)
        table_put(stderr, "benchcnn: %s\n", err.message);
}

static void died(void *user, isolate_page *page, const char *how)
{
    const isolated *i = user;
    if (page->ended == page->begun || page->n_dead == ISOLATE_DEAD_MAX) {
        page->ended = page->begun; /* its group's records are written: a failure without a place among them */
        tell(i->b, page, page->hand, "when all was timed, releasing it", how);
        return;
    }
    isolate_dead *dead = &page->dead[page->n_dead++];
    memcpy(dead->key, page->hand, sizeof dead->key);
    snprintf(dead->how, sizeof dead->how, "%s", how);
}

static void lost(void *user, isolate_page *page, const char *how)
{
    const isolated *i = user;
    tell(i->b, page, page->outside, page->doing, how);
}

cnn_status bench_isolated(bench *b, int (*work)(bench *b), int *exit_status, cnn_error *err)
{
    isolated i = {b, work};
    const isolate_job job = {&i, b->options->isolate_limit, in_child, died, lost};
    return isolate_run(&job, exit_status, err);
}
