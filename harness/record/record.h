/* record.h: results as JSON Lines: one object a line, appended and flushed (and synced to disk) a record at a time. */
#ifndef HARNESS_RECORD_RECORD_H
#define HARNESS_RECORD_RECORD_H

#include "harness/cnn.h"
#include "harness/device/impl.h"

typedef struct cnn_record cnn_record; /* one JSON object under construction */

cnn_record *record_new(const char *kind); /* {"kind":"..."}; NULL when out of memory: every other call accepts NULL */
void record_text(cnn_record *record, const char *key, const char *value);
void record_int(cnn_record *record, const char *key, int64_t value);
void record_real(cnn_record *record, const char *key, double value); /* not finite: null */
void record_bool(cnn_record *record, const char *key, bool value);
void record_reals(cnn_record *record, const char *key, const double *values, int count);
/* An object of texts, of whole numbers: {"gpu":"..."}, {"tile":16}. */
typedef struct record_pair {
    char key[CNN_NAME_MAX], value[256];
} record_pair;
void record_text_pairs(cnn_record *record, const char *key, const record_pair *pairs, int count);
void record_int_pairs(cnn_record *record, const char *key, const record_pair *pairs, int count);
/* Those of the fields that another record has, as they are there and in its order. */
void record_copy(cnn_record *record, const cnn_record *from, const char *const *fields, int count);
void record_free(cnn_record *record);
/* What design section 8 asks of every operation's record: op, problem, dir, dtype, math, layout; and what a descriptor
 * does not say, of a convolution and FC: bias, mode. Older records lack these: cross-correlation with a bias, mostly.
 */
void record_problem(cnn_record *record, const cnn_problem *problem, cnn_dir dir);
/* choice: what a tuning file chose (NULL: none did), or else what an algorithm that is a search settled on (NULL or "":
 * it is none); where there are both, inner_choice is the latter. */
void record_choice(cnn_record *record, const char *tuned, const char *settled);
/* impl, algorithm, threads, knobs (those that differ from their default), warnings (CNN_WARNING) where the
 * implementation has any. algorithm may be NULL. */
void record_session(cnn_record *record, const cnn_session *session, const char *algorithm);

typedef struct record_sink record_sink; /* where records go: a file (--out), standard output (--json), or nowhere */

/* json (optional): where each record is printed, too. Neither path nor json: a sink that drops everything. Opens for
 * appending; an incomplete last line, left by a kill in mid-write, is cut off first, so that it spoils no other record.
 * CNN_IO when the file cannot be written, or another command writes to it: a file is locked from here until it is
 * closed, by all processes that share the sink. */
cnn_status record_sink_open(const char *path, FILE *json, record_sink **sink, cnn_error *err);
int64_t record_sink_cut(const record_sink *sink);  /* how many bytes of such a line; 0: there was none */
int record_sink_unlocked(const record_sink *sink); /* the errno for which its file could not be locked; 0: it is */
/* A file that several commands may append to at a time, since none goes on from what it holds: it is not locked. */
cnn_status record_sink_share(const char *path, record_sink **sink, cnn_error *err);
/* In a child, before it becomes a program that appends to the same file: it may do so beside its parent. */
cnn_status record_sink_hand_down(const record_sink *sink, cnn_error *err);
/* From here on each record that is written has this field, too: at most RECORD_MARKS of them. Given again, it changes.
 */
enum { RECORD_MARKS = 4 };
void record_sink_mark(record_sink *sink, const char *key, const char *value);
void record_sink_mark_int(record_sink *sink, const char *key, int64_t value);
void record_sink_unmark(record_sink *sink); /* from here on none */
/* Records of which this says so are in the file already, and are not written to it again. */
typedef bool record_there(void *user, const cnn_record *record);
void record_sink_pass_over(record_sink *sink, record_there *there, void *user);
/* Writes, flushes, frees the record. CNN_IO names the file (a full disk shows here). */
cnn_status record_write(record_sink *sink, cnn_record *record, cnn_error *err);
/* The same of a record that another process made: a line of `length` bytes, without its end. It gets no marks. */
cnn_status record_write_line(record_sink *sink, const char *line, size_t length, cnn_error *err);
void record_sink_close(record_sink *sink);

/* The environment record of design section 8, once at the start of a run. session may be NULL. */
cnn_status record_environment(record_sink *sink, const cnn_session *session, const char *command_line, cnn_error *err);
/* `machine`, this host's processor, unless the record names another; `date`, now. */
void record_here(cnn_record *record);

/* Reading; what gets a field works on records under construction, too. Calls `each` for every whole record of the file;
 * lines that do not parse are counted in *bad. The object passed is valid only during the call. */
typedef cnn_status record_each(void *user, const cnn_record *record, cnn_error *err);
cnn_status record_read(const char *path, record_each *each, void *user, int *bad, cnn_error *err);
/* The same, but a line that is no whole record is CNN_BAD_FORMAT, and every error begins with FILE:LINE. */
cnn_status record_read_strictly(const char *path, record_each *each, void *user, cnn_error *err);
/* The same, and of each line that is no whole record `bad` hears the number, and the line. */
typedef void record_bad_line(void *user, int number, const char *line);
cnn_status record_read_lines(const char *path, record_each *each, record_bad_line *bad, void *user, cnn_error *err);
/* record_check.c: holds a record to the table of fields (fields.inc). `each` hears what is wrong with a field, in words
 * that go on behind its name; `grave` false: it may be of another version of this program. */
typedef void record_fault(void *user, const char *field, const char *what, bool grave);
void record_check(const cnn_record *record, record_fault *each, void *user);
/* Of one line. CNN_BAD_FORMAT: it is no record. */
cnn_status record_read_line(const char *line, record_each *each, void *user, cnn_error *err);
int record_line(const cnn_record *record); /* of the file it is read from, counted from 1 */
/* The line itself, without its end: its numbers have all of their digits. NULL of a record that was made here. */
const char *record_source(const cnn_record *record);
const char *record_get_text(const cnn_record *record, const char *key); /* NULL without one */
/* Of an object within it: ("implementation", "gpu"). */
const char *record_get_inner_text(const cnn_record *record, const char *object, const char *key);
/* An object of texts or whole numbers, as texts: how many; -1 without one, for another kind of value, or for more than
 * `capacity`. */
int record_get_pairs(const cnn_record *record, const char *key, record_pair *pairs, int capacity);
const char *record_field(const cnn_record *record, int index);     /* the name of its field number `index`, or NULL */
double record_get_real(const cnn_record *record, const char *key); /* NaN without one, and for null */
/* A list of numbers, at most `capacity` of them: how many it has; 0 without one. values NULL: it is counted. */
int record_get_reals(const cnn_record *record, const char *key, double *values, int capacity);
bool record_is(const cnn_record *record, const char *key, bool value); /* it is there, and is this */
/* Any field as compact JSON ("knobs": {"tile":16}), to be freed; NULL without one. */
char *record_json(const cnn_record *record, const char *key);

#endif
