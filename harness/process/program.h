/* program.h: another program, run to its end. */
#ifndef HARNESS_PROCESS_PROGRAM_H
#define HARNESS_PROCESS_PROGRAM_H

#include "harness/cnn.h"

#include <stdio.h>

/* Its exit status, or 128 + the signal that ended it; -1 with errno: it could not be started (ENOENT: there is none).
 * argv[0] is looked for on the PATH; no shell is involved. Files NULL: it shares this program's. */
int program_run(const char *const argv[], FILE *in, FILE *out, FILE *errors);

/* A file in memory for what it reads or writes: nothing is left behind, however this program ends. NULL:
 * CNN_OUT_OF_MEMORY; `what` names it: "a plot". */
FILE *program_file(const char *what, cnn_error *err);
/* The last line of its complaints that is not blank: where it says what is wrong. */
void program_last_line(FILE *log, char *text, size_t size);

#endif
