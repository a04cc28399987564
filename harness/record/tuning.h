/* tuning.h: what a sweep found to be best, kept for later.
 *
 * A tuning file is JSON Lines, each a record of kind "tuned": for one implementation, problem, direction and type the
 * algorithm, threads and knobs that won, and what that rests on: the device, its driver and the libraries, as the
 * implementation's `describe` tells them, this program's version, and the number of threads that were there. It is
 * appended to; of several that fit, the last counts. Where none rests on what is here now, the choice is stale, and is
 * not used. */
#ifndef HARNESS_RECORD_TUNING_H
#define HARNESS_RECORD_TUNING_H

#include "record.h"

enum { TUNING_SETTINGS = 48, TUNING_FACTS = 24 };

typedef struct tuning_choice {
    char algorithm[CNN_NAME_MAX];
    int threads;                                  /* as many as were given, or fewer: see tuning_threads() */
    char settings[TUNING_SETTINGS][CNN_NAME_MAX]; /* "IMPL.KNOB=VALUE" */
    int n_settings;
    double median_s, default_s; /* its time, and the default's beside it (NaN: the default could not run) */
} tuning_choice;

/* For the record, as it stands there. */
typedef enum tuning_state { TUNING_KEPT, TUNING_ABSENT, TUNING_STALE } tuning_state;
const char *tuning_state_name(tuning_state state); /* "kept", "absent", "stale" */

typedef struct tuning tuning;

/* CNN_BAD_FORMAT with FILE:LINE for a line that is no such record. */
cnn_status tuning_read(const char *path, tuning **result, cnn_error *err);
void tuning_free(tuning *t); /* NULL is accepted */

/* The choice for the problem on this session, opened with the command's own threads and settings. Its algorithm is
 * there and its knobs are within their bounds; KEPT alone sets *choice, which lasts as long as the tuning. Else `why`,
 * in words that follow "REFERENCE is not used: ": what differs, or that there is none. */
tuning_state tuning_find(const tuning *t, const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                         const tuning_choice **choice, char why[CNN_MESSAGE_MAX]);

/* The threads to run the choice with: a device, whose figures do not rest on them, takes those that are given. */
int tuning_threads(const tuning_choice *choice, const cnn_impl *impl, int given);

/* The record that keeps a choice; write it to the file. */
cnn_record *tuning_record(const cnn_session *session, const cnn_problem *problem, cnn_dir dir,
                          const tuning_choice *choice);

#endif
