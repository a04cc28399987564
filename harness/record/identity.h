/* identity.h: whether two records tell of the same thing. One table holds the fields that count (identity.c):
 * `compare`, plots, sweeps that go on and commands that go on ask it, each for its own scope. */
#ifndef HARNESS_RECORD_IDENTITY_H
#define HARNESS_RECORD_IDENTITY_H

#include "record.h"

typedef enum identity_scope {
    IDENTITY_TASK = 1,   /* what is computed, whoever does it: without the implementation, its settings and the seed */
    IDENTITY_FIGURE = 2, /* everything that a figure depends on, the machine apart */
    IDENTITY_POINT = 4,  /* the same on one machine, whatever kind of record tells of it */
    IDENTITY_RECORD = 8  /* this record, among all that one command writes */
} identity_scope;

/* "FIELD=VALUE FIELD=VALUE", texts without their quotes; fields that the record lacks, and values that go without
 * saying, are left out, and so is what `without` names ("threads,knobs"; NULL: nothing). To be freed. NULL when out of
 * memory. */
char *record_identity(const cnn_record *record, identity_scope scope, const char *without);
/* Whether the list, "threads,knobs" or NULL, holds the name. */
bool record_listed(const char *list, const char *name);
/* Whether one of the comma-separated globs, NAME or NAME:ALGORITHM, names it, and how the first of these does; NULL
 * names all by their algorithms. */
typedef enum record_naming { RECORD_NOT_CHOSEN, RECORD_BY_NAME, RECORD_BY_ALGORITHM } record_naming;
record_naming record_chosen(const char *list, const char *impl, const char *algorithm);
/* CNN_BAD_ARGUMENT when one of these names is no field of an identity of this scope; offers the nearest, or all. */
cnn_status record_identity_fields(const char *names, identity_scope scope, cnn_error *err);
/* The other way round: the name of field number 0, 1 ...; NULL behind the last. Its value in an identity, and the
 * length of that; "" without one. */
const char *record_identity_name(int field);
const char *record_identity_value(const char *identity, int field, int *length);

/* For people: "conv thesis_conv2" from mb100...n"thesis_conv2"; of a problem without a name: "conv mb100...". */
void record_problem_name(const char *op, const char *problem, char *text, size_t size);

/* build_id.c: what stands beneath a figure without anyone having asked for it: this program, and the libraries and the
 * device that it found. A figure measured with others is another figure. */
enum { BUILD_ID_MAX = 16 };

/* Of the bytes of the program and of its plug-ins' files: a commit says little of a changed tree. "": not to be told.
 */
void cnn_build_id(const char *const *plugins, int n_plugins, char id[BUILD_ID_MAX]);

/* This program's version, the processor, and what the implementation's `describe` tells, but for what decides over no
 * figure (the slot that a card is in) and what is asked for (threads). Returns how many; more than `capacity` are cut.
 */
int cnn_session_facts(const cnn_session *session, record_pair *facts, int capacity);
/* The same in short. */
void cnn_libraries_id(const cnn_session *session, char id[BUILD_ID_MAX]);

#endif
