/* bounds.h: the arrays that foreign code is called with, and what lies around them. Where pages around them cannot be
 * touched, a touch does not end the process: it is noted, the page opened, and the code goes on. Where AddressSanitizer
 * is loaded, all that is around them is out of bounds for it, to the byte. A crash knows them by name (crash.h). */
#ifndef HARNESS_PROCESS_BOUNDS_H
#define HARNESS_PROCESS_BOUNDS_H

#include "crash.h"

typedef struct bounds_array {
    char name[CRASH_NAME_MAX]; /* "w", "the workspace" */
    uintptr_t data;            /* the array; 0: of no bytes */
    size_t bytes;
    uintptr_t first, last; /* what may be touched around it: from first to just before last */
    size_t closed;         /* so far before `first` and from `last` on nothing can be; 0: there are bands */
    bool on_device;        /* what the host can never touch; nothing but its name is of use */
} bounds_array;

typedef struct bounds_list {
    bounds_array list[CRASH_ARRAYS_MAX];
    int count;
    _Atomic uintptr_t touched; /* the first address; 0: none */
    _Atomic bool wrote;        /* else it was read, or it is not known */
} bounds_list;

/* Between the two, touches are noted, of any thread; where there are pages, one caller at a time. `End` closes them
 * again. */
void bounds_begin(bounds_list *b);
void bounds_end(bounds_list *b);
/* The index of the array whose page was touched, and how many bytes from it: 1 the first behind it, -1 the last before;
 * -1: none. */
int bounds_touched(const bounds_list *b, int64_t *distance);

#endif
