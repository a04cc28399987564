/* record_keeper.h: the process that watches a run holds its files of records. The run, which foreign code shares, has
 * no descriptor of them: it sends each record (harness/process/mail.h), which is looked at, counted and written here.
 * When the run has said how it ends, its records are counted, and the files are read again. */
#ifndef HARNESS_RECORD_RECORD_KEEPER_H
#define HARNESS_RECORD_RECORD_KEEPER_H

#include "harness/process/watch.h"
#include "record.h"

typedef struct record_keeper record_keeper;

/* Before the run is forked. json: what --json prints to. */
cnn_status record_keeper_new(FILE *json, mail_box *box, record_keeper **keeper, cnn_error *err);
watch_service record_keeper_service(record_keeper *keeper);
void record_keeper_close(record_keeper *keeper);

/* In the run, first of all: closes what it inherited of the files at `paths` (NULL: none), and of a lock of one. */
void record_keeper_begin(record_keeper *keeper, const char *const *paths, int count);
/* In the run, last of all: with which status it will end. Elsewhere, and of NULL: nothing. */
void record_keeper_end(record_keeper *keeper, int status);

/* In the run: a sink like record_sink_open()'s or, shared, record_sink_share()'s, that the other process writes. json:
 * to what --json prints to, too. */
typedef struct record_kept {
    const char *path;
    bool json, shared;
} record_kept;
cnn_status record_sink_keep(record_keeper *keeper, const record_kept *what, record_sink **sink, cnn_error *err);
/* In the run: looks at the file once more and lets go of it, for the run itself goes on to rename or remove it. CNN_IO:
 * something else changed it. */
cnn_status record_keeper_release(record_keeper *keeper, const char *path, cnn_error *err);

#endif
