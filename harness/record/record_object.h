/* record_object.h: what a record is inside: a cJSON object. Only the files record*.c include this. */
#ifndef HARNESS_RECORD_RECORD_OBJECT_H
#define HARNESS_RECORD_RECORD_OBJECT_H

#include "harness/cnn.h"
#include "record.h"

#include <cjson/cJSON.h>

struct cnn_record {
    cJSON *object;
    bool failed; /* memory ran out while a field was added: an incomplete record must not be written */
    int line;    /* where it was read; 0: it was made here */
    const char *source;
};

/* A text of the object `object` within it, which is made where there is none yet. */
void record_text_in(cnn_record *record, const char *object, const char *key, const char *value);

/* record_read.c: such a line as a record, to be deleted; NULL when it is none. */
cJSON *record_parse(const char *line, size_t length);
/* Whether a line of so many bytes, its end not among them, is a record; or that, or what a kill in
 * mid-write left of one. A NUL stands behind it. */
bool record_whole(const char *line, size_t length);
bool record_begins(const char *line, size_t length);

/* record_lock.c: one command at a time appends to a file of records. Two would each miss what the other makes, make it
 * again, and take the other's line in mid-write for the rest of a killed run.
 *
 * The lock is flock()'s: it belongs to the open file, so that children share it, and it is gone when the last of them
 * is, however they ended. Nothing stays behind. */
/* A process that was killed takes a moment to be gone, so a lock is waited for, a little. CNN_IO names the process that
 * holds it, where the system tells. *why: 0, or the errno for which files cannot be locked where this one lies; then
 * the caller goes on without. What is no plain file needs none. */
cnn_status record_lock(int fd, const char *path, int *why, cnn_error *err);

/* In a child that is about to become another program, which is to append to the same file beside its parent: it shall
 * have the lock too, for as long as it lives. CNN_IO: it cannot be told of it. */
cnn_status record_lock_hand_down(int fd, cnn_error *err);

#endif
