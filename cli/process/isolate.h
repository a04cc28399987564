/* isolate.h: --isolate: the cases run in a process of their own. One that crashes, hangs or ends the process is a
 * failure that is told, and another process goes on behind it. */
#ifndef CLI_PROCESS_ISOLATE_H
#define CLI_PROCESS_ISOLATE_H

#include "child.h"
#include "cli/cli.h"

#include <stdatomic.h>

/* Shared by the parent and its children, one after the other. Every case has a number, the same in each child, since
 * all go through the same list. */
enum { ISOLATE_TALLIES = 8, ISOLATE_HOW_MAX = 256, ISOLATE_KEPT = 1 << 20 };
enum { ISOLATE_DEAD_MAX = 128, ISOLATE_LOST_MAX = 64, ISOLATE_KEY_MAX = 2 * CNN_NAME_MAX + 16 };
typedef struct isolate_dead {
    char key[ISOLATE_KEY_MAX], how[ISOLATE_HOW_MAX];
} isolate_dead;
typedef struct isolate_lost {
    char key[ISOLATE_KEY_MAX];
    int64_t next;
} isolate_lost;

typedef struct isolate_page {
    int child;                      /* which one: 0 is the first */
    _Atomic pid_t owner;            /* who may write here: no copy of the child that a kernel forked */
    child_word word;                /* the child's last: without it, what it left undone is not taken for done */
    bool started;                   /* the caller's: a child wrote what stands before all cases */
    int64_t begun;                  /* cases 0 .. begun-1 were started, by some child */
    int64_t tally[ISOLATE_TALLIES]; /* the caller's sums over all children */
    _Atomic double began;           /* cnn_now() when what is in hand did; 0: nothing is */
    atomic_bool in_case;
    int64_t limit_s;
    /* Between cases: whose code is called ("": nobody's), and at which number cases go on without it; who died of it.
     */
    char outside[ISOLATE_KEY_MAX], doing[96];
    int64_t next;
    isolate_lost lost[ISOLATE_LOST_MAX];
    int n_lost;
    char impl[CNN_NAME_MAX], algorithm[CNN_NAME_MAX], op[32], dir[16]; /* of the case in hand, for its record */
    char problem[CNN_PROBLEM_TEXT_MAX], command[2048];                 /* and how to repeat it */
    /* Where a case is the work of several (bench): cases 0 .. ended-1 are done, who is in hand, who died of this one.
     */
    int64_t ended;
    char hand[ISOLATE_KEY_MAX];
    int n_dead;
    isolate_dead dead[ISOLATE_DEAD_MAX];
    int64_t ceilings;                              /* bench, peaks: ceilings 0 .. ceilings-1 were begun */
    size_t n_kept;                                 /* what else the caller hands on to the next child, in bytes */
    _Alignas(16) unsigned char kept[ISOLATE_KEPT]; /* pages that nobody touches cost nothing */
} isolate_page;

typedef struct isolate_job {
    void *user;
    int64_t limit_s;                             /* a case that takes longer is ended */
    int (*work)(void *user, isolate_page *page); /* in the child; what it returns is its exit status */
    /* In the parent, of each case that ended its process, with the reason in words. */
    void (*died)(void *user, isolate_page *page, const char *how);
    /* In the parent, of each implementation (page->outside) that did so outside of any case: it is left out then. */
    void (*lost)(void *user, isolate_page *page, const char *how);
} isolate_job;

/* The exit status of the last child. CNN_INTERNAL when no process can be started or one ends with nobody in hand. The
 * process must have no threads yet. */
cnn_status isolate_run(const isolate_job *job, int *exit_status, cnn_error *err);

/* Whether work(user, page) returns, in a process of its own; if not, `how` it ended, in words. What it left in
 * page->impl is copied to `impl`. */
cnn_status isolate_try(int64_t limit_s, void (*work)(void *user, isolate_page *page), void *user, bool *survived,
                       char how[ISOLATE_HOW_MAX], char impl[CNN_NAME_MAX], cnn_error *err);

/* In the child, around every case, in order. Take: false: an earlier child had it. page NULL: not isolated; all true.
 */
bool isolate_take(isolate_page *page, int64_t number);
void isolate_done(isolate_page *page);
void isolate_in_case(isolate_page *page, bool in_case); /* the same, where cases are counted by the caller */
/* In the child, between cases: from here on this implementation's code (or a part of it that can be left out alone) is
 * called; NULL: nobody's. `doing`: "opening it". False: it is lost, and was told: leave it out. */
bool isolate_enter(isolate_page *page, const char *key, const char *doing);
/* NULL: it is not lost. */
const isolate_lost *isolate_find_lost(const isolate_page *page, const char *key);

#endif
