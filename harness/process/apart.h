/* apart.h: keeps the process that watches out of the hands of the one that it watches. */
#ifndef HARNESS_PROCESS_APART_H
#define HARNESS_PROCESS_APART_H

#include <stdbool.h>
#include <sys/stat.h>

/* In the process that watches, before it forks: no other may trace it, read or write its memory, or open what it has
 * open (by /proc/PID). Nor does it leave a core file. Returns what apart_show() needs to undo it. */
int apart_hide(void);
void apart_show(int before);
/* In the run: as before apart_hide(); and the right to trace what does not allow it is given up, which root has. */
void apart_begin(int before);

/* Closes all descriptors above 2 that are of one of these files. */
void apart_close_files(const struct stat *files, int count);

#endif
