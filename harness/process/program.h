/* program.h: another program, run to its end. */
#ifndef HARNESS_PROCESS_PROGRAM_H
#define HARNESS_PROCESS_PROGRAM_H

#include <stdio.h>

/* Its exit status, or 128 + the signal that ended it; -1 with errno: it could not be started (ENOENT: there is none).
 * argv[0] is looked for on the PATH; no shell is involved. Files NULL: it shares this program's. */
int program_run(const char *const argv[], FILE *in, FILE *out, FILE *errors);

#endif
