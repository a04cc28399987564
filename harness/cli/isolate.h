/* isolate.h: --isolate: the cases run in a process of their own. One that crashes, hangs or ends the process is a
 * failure that is told, and another process goes on behind it. */
#ifndef HARNESS_CLI_ISOLATE_H
#define HARNESS_CLI_ISOLATE_H

#include "cli.h"

/* Shared by the parent and its children, one after the other. Every case has a number, the same in each child, since
 * all go through the same list. */
enum { ISOLATE_TALLIES = 8, ISOLATE_HOW_MAX = 256 };
enum { ISOLATE_DEAD_MAX = 128, ISOLATE_KEY_MAX = 2 * CNN_NAME_MAX + 16 };
typedef struct isolate_dead {
    char key[ISOLATE_KEY_MAX], how[ISOLATE_HOW_MAX];
} isolate_dead;

typedef struct isolate_page {
    int64_t begun;                  /* cases 0 .. begun-1 were started, by some child */
    int64_t tally[ISOLATE_TALLIES]; /* the caller's sums over all children */
    _Atomic double began;           /* cnn_now() when the case in hand did; 0: none is */
    int64_t limit_s;
    char impl[CNN_NAME_MAX], algorithm[CNN_NAME_MAX], op[32], dir[16]; /* of the case in hand, for its record */
    char problem[CNN_PROBLEM_TEXT_MAX], command[2048];                 /* and how to repeat it */
    /* Where a case is the work of several (bench): cases 0 .. ended-1 are done, who is in hand, who died of this one.
     */
    int64_t ended;
    char hand[ISOLATE_KEY_MAX];
    int n_dead;
    isolate_dead dead[ISOLATE_DEAD_MAX];
} isolate_page;

typedef struct isolate_job {
    void *user;
    int64_t limit_s;                             /* a case that takes longer is ended */
    int (*work)(void *user, isolate_page *page); /* in the child; what it returns is its exit status */
    /* In the parent, of each case that ended its process, with the reason in words. */
    void (*died)(void *user, isolate_page *page, const char *how);
} isolate_job;

/* The exit status of the last child. CNN_INTERNAL when no process can be started or one ends before its first case. The
 * process must have no threads yet. */
cnn_status isolate_run(const isolate_job *job, int *exit_status, cnn_error *err);

/* Whether work(user, page) returns, in a process of its own; if not, `how` it ended, in words. What it left in the page
 * is copied to *left. */
cnn_status isolate_try(int64_t limit_s, void (*work)(void *user, isolate_page *page), void *user, bool *survived,
                       char how[ISOLATE_HOW_MAX], isolate_page *left, cnn_error *err);

/* In the child, around every case, in order. Take: false: an earlier child had it. page NULL: not isolated; all true.
 */
bool isolate_take(isolate_page *page, int64_t number);
void isolate_done(isolate_page *page);

#endif
