/* watch.h: a run that loads foreign code is watched by a process that does not. */
#ifndef CLI_PROCESS_WATCH_H
#define CLI_PROCESS_WATCH_H

#include "child.h"
#include "harness/cnn.h"

/* What the two share. */
typedef struct watch {
    child_word word;        /* the run's last: its exit status counts with it alone */
    atomic_int interrupted; /* Ctrl-C, whichever of them it reached */
    char loaded[512];       /* the plug-ins so far, by name and file */
    bool isolated;          /* --isolate, which tells more of each end, is given */
} watch;

/* Goes on in a child process; the parent waits for it, and ends as it did. */
cnn_status watch_begin(watch **shared, cnn_error *err);
/* work(user, watch, err) in a process of its own that is watched; what it returns, and its error. */
cnn_status watch_apart(cnn_status (*work)(void *user, watch *shared, cnn_error *err), void *user, cnn_error *err);

#endif
