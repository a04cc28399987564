/* dump.h: the arrays of a failure as .npy files. */
#ifndef VERIFY_DUMP_H
#define VERIFY_DUMP_H

#include "verify/verify.h"

enum { DUMP_PATH_MAX = 512 };

/* Creates `dir` where it is missing. */
cnn_status dump_prepare(const char *dir, cnn_error *err);
/* Writes into a folder of its own in `dir`, whose path it gives: NAME.npy for every input, NAME_expected.npy (f64) and
 * NAME_got.npy for every output, command.txt with the command that repeats the case. */
cnn_status dump_failure(const char *dir, int number, const verify_failure *failure, const char *command,
                        char path[DUMP_PATH_MAX], cnn_error *err);

#endif
