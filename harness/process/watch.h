/* watch.h: a command that calls foreign code runs in a process of its own (the run); another, which loads nothing,
 * waits for it. Without --isolate, a run that ends before its time ends the command, which says so. With it another run
 * follows, which knows of whom the ones before it died: it tells, leaves out what died and goes on behind it.
 *
 * Every run goes through the same list of cases, so a case is known by its number. What it has done and counted so far,
 * and whose code it is about to call, it keeps in memory that all of them share. */
#ifndef HARNESS_PROCESS_WATCH_H
#define HARNESS_PROCESS_WATCH_H

#include "child.h"
#include "harness/cnn.h"
#include "mail.h"

enum { WATCH_KEY_MAX = 512, WATCH_DOING_MAX = 96, WATCH_HOW_MAX = 500, WATCH_DEATHS_MAX = 192, WATCH_KEPT = 1 << 24 };

typedef struct watch_death {
    char key[WATCH_KEY_MAX], doing[WATCH_DOING_MAX]; /* whose code was called, and what for */
    char how[WATCH_HOW_MAX];                         /* "its process was ended by signal 11 (...)" */
    int64_t number;                                  /* the case that it ended; -1: outside of any */
    int64_t next;                                    /* of one outside: where cases go on without it */
    bool told;                                       /* the caller's */
} watch_death;

typedef struct run_watch {
    bool on;                /* off: there is one process, which does and notes nothing of all this */
    child_shared run;       /* the last word counts, not its exit status; the time of what is in hand */
    atomic_int interrupted; /* Ctrl-C, whichever process it reached */
    char loaded[512];       /* the plug-ins so far, by name and file */
    int64_t limit_s;        /* --isolate: what is in hand for longer is ended; 0: no other run follows */
    bool begun;             /* the caller's: a run before this one wrote what stands before all cases */
    char key[WATCH_KEY_MAX], doing[WATCH_DOING_MAX];
    int64_t number;           /* the case in hand, or -1 */
    int64_t done;             /* cases 0 .. done-1 are */
    int64_t next;             /* the caller's: for a death outside of cases */
    int64_t failed;           /* the caller's: deaths that were told */
    char said[WATCH_HOW_MAX]; /* how the run was ended, where it knows that itself; "": its end says */
    int hung; /* how many deaths were for time; who hangs once is likely to do so again: then it gets a tenth */
    int n_deaths;
    mail_box box; /* what the run asks the process that watches */
    watch_death deaths[WATCH_DEATHS_MAX];
    _Alignas(16) unsigned char kept[WATCH_KEPT]; /* the command's, zeros at first; what nobody touches costs nothing */
} run_watch;

/* What the process that watches does for the run. */
typedef struct watch_service {
    mail *mail; /* this process's end, in memory that is not shared */
    void *user;
    void (*begin)(void *user); /* a run is about to start */
    void (*answer)(void *user, char *message, size_t length, mail_answer *answer);
    /* The run said that it ended with this status. Another status than CNN_OK: it did not do all that it had to. */
    cnn_status (*end)(void *user, int status, cnn_error *err);
} watch_service;

cnn_status watch_new(run_watch **result, cnn_error *err);
/* Goes on in a child process, where *ended is -1. This one serves it, waits for it, and must end as it did: with the
 * status *ended, or, where it said none, with the error. Until then no other process can look into this one or change
 * it. The process must have no threads yet. */
cnn_status watch_begin(run_watch *w, int64_t limit_s, const watch_service *service, int *ended, cnn_error *err);

/* In the run. Take, done: around every case, in order; take: false: a run before this one did it. */
bool watch_take(run_watch *w, int64_t number);
void watch_done(run_watch *w);
/* From here on this implementation's code (or a part of it that can be left out alone) is called; NULL: nobody's.
 * `doing`: "opening it". False: it died there, in this case or outside of any: leave it out. */
bool watch_enter(run_watch *w, const char *key, const char *doing);
/* What is in hand has come a step further: its time begins anew. */
void watch_tick(run_watch *w);
/* Ends the run: a process that it had foreign code run in is lost. `how` is what ended it; whose code it was,
 * watch_enter has said. */
_Noreturn void watch_lost(run_watch *w, const char *how);
/* Who died in this case (-1: outside of any), or NULL; key NULL: whoever. */
watch_death *watch_find(run_watch *w, const char *key, int64_t number);

#endif
