/* parts.h: what the files of bench/import share: one reader a program, and how they take numbers and texts. */
#ifndef BENCH_IMPORT_PARTS_H
#define BENCH_IMPORT_PARTS_H

#include "import.h"

#include <cjson/cJSON.h>

typedef struct importing {
    const char *path, *name; /* of the file; without its folders */
    const cJSON *root;
    import_set *set;
} importing;

/* Where in the file: "results[2]". */
enum { PLACE_MAX = 96 };
typedef struct place {
    const importing *file;
    const cJSON *object;
    char text[PLACE_MAX];
} place;

place place_of(const importing *in, const cJSON *object, const char *list, int index);
/* "FILE: PLACE.FIELD ...": what is wrong with it, in words that go on. CNN_BAD_FORMAT. */
cnn_status place_fail(const place *at, const char *field, const char *what, cnn_error *err);
/* A text that must be there. NULL: it is not, and *err says so. */
const char *place_text(const place *at, const char *field, cnn_error *err);
/* A time in seconds, `unit` seconds each: a number of at least 0. NaN where it is not there, or null; CNN_BAD_FORMAT
 * where it is none. */
cnn_status place_time(const place *at, const char *field, double unit, double *seconds, cnn_error *err);
/* All times of a list, to be freed; none where it is not there. */
cnn_status place_times(const place *at, const char *field, double **times, int *count, cnn_error *err);

/* A record that says who measured what, and in which file. */
cnn_record *import_record(const importing *in, const char *kind, const char *program);
void import_real(cnn_record *record, const char *field, double value); /* left out where it is NaN */
/* Takes the record. CNN_OUT_OF_MEMORY. */
cnn_status import_add(const importing *in, cnn_record *record, cnn_error *err);

bool hyperfine_is(const cJSON *root);
cnn_status hyperfine_read(const importing *in, cnn_error *err);
bool google_is(const cJSON *root);
cnn_status google_read(const importing *in, cnn_error *err);
bool nvbench_is(const cJSON *root);
cnn_status nvbench_read(const importing *in, cnn_error *err);

#endif
