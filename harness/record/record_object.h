/* record_object.h: what a record is inside: a cJSON object. Only the files record*.c include this. */
#ifndef HARNESS_RECORD_RECORD_OBJECT_H
#define HARNESS_RECORD_RECORD_OBJECT_H

#include "harness/base/keyed_hash.h"
#include "harness/cnn.h"
#include "record.h"
#include "record_keeper.h"

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
/* Whether it is a record of a kind that there is (fields.inc). */
bool record_known(const char *line, size_t length);

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
/* In a process that shall append to no file: closes what was handed down to it. */
void record_lock_let_go(void);

/* record_file.c: a file that records are appended to. CNN_IO names it. */
typedef struct record_file record_file;
cnn_status record_file_open(const char *path, bool shared, record_file **file, cnn_error *err);
cnn_status record_file_append(record_file *file, const char *line, size_t length, cnn_error *err); /* with its end */
void record_file_close(record_file *file);
const char *record_file_path(const record_file *file);
int record_file_fd(const record_file *file);
int64_t record_file_cut(const record_file *file);
int record_file_unlocked(const record_file *file);
/* From here on no other process may change the file: record_file_append() looks at its size, record_file_check() at
 * every byte, and whether its path still leads to it. CNN_IO: one did. Of a shared file, or none on a disk, nothing. */
cnn_status record_file_guard(record_file *file, cnn_error *err);
cnn_status record_file_check(const record_file *file, cnn_error *err);

/* record_guard.c: what such a file must hold. */
typedef struct record_guard {
    int64_t size; /* bytes */
    hash_key key;
    uint64_t hash; /* of its lines, each with the hash of those before it */
} record_guard;
cnn_status record_guard_begin(record_guard *g, const char *path, cnn_error *err); /* what is there */
void record_guard_add(record_guard *g, const char *line, size_t length);
cnn_status record_guard_size(const record_guard *g, int fd, const char *path, cnn_error *err);
cnn_status record_guard_check(const record_guard *g, int fd, const char *path, cnn_error *err);

/* record_keeper.c, in the run: what it asks of the process that holds the files. */
typedef struct kept_sink {
    int64_t number, cut;
    int unlocked;
} kept_sink;
cnn_status record_keeper_open(record_keeper *k, const record_kept *what, kept_sink *sink, cnn_error *err);
cnn_status record_keeper_write(record_keeper *k, const kept_sink *sink, bool to_file, const char *line, size_t length,
                               cnn_error *err);

#endif
