/* crash.h: which address a child process touched when it crashed, and beside which of the arrays that foreign code was
 * given it lies. */
#ifndef HARNESS_PROCESS_CRASH_H
#define HARNESS_PROCESS_CRASH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CRASH_ARRAYS_MAX = 24, CRASH_NAME_MAX = 24, CRASH_BAND = 16, CRASH_ACCESS_BITS = 3, CRASH_PLACES_MAX = 3 };

typedef struct crash_array {
    char name[CRASH_NAME_MAX]; /* "w", "the workspace" */
    uintptr_t first;
    size_t bytes;
    bool on_device; /* what the host can never touch */
    bool in_bands;  /* CRASH_BAND bytes before it and behind it can be read, and nobody is to write there */
} crash_array;

typedef struct crash_band {
    unsigned char before[CRASH_BAND], behind[CRASH_BAND]; /* what stood there when the array was told */
    atomic_bool before_changed, behind_changed;           /* at the crash */
} crash_band;

typedef struct crash_place {
    char file[48], function[48]; /* function "": the file does not export it */
    uint64_t offset;             /* in the file, as addr2line wants it */
} crash_place;

typedef struct crash_note { /* in memory that parent and child share, zeros at first */
    _Atomic uint64_t touch; /* the address, and below it in CRASH_ACCESS_BITS what was done there; 0: none */
    _Atomic pid_t pid;      /* the child's: no copy that it forks writes here */
    atomic_int count;
    crash_array arrays[CRASH_ARRAYS_MAX];
    crash_band bands[CRASH_ARRAYS_MAX];
    atomic_int places;
    crash_place place[CRASH_PLACES_MAX]; /* where it crashed, and what had called that, up to this program's own code */
} crash_note;

/* In the child, from now on: a crash is noted, then happens as it would have. */
void crash_begin(crash_note *note);
/* What the code that is called next may touch; NULL, 0: nothing any more. What a process without a note does is
 * nothing. */
void crash_arrays(const crash_array *list, int count);

/* In the parent: "it wrote to address 0x7f0012345000, 4096 bytes past the end of w, the nearest array; it had written
 * past the end of y and w; in rows at mine.so+0x11f0, called by run at mine.so+0x1402"; "": no crash was noted. */
void crash_text(const crash_note *note, char *text, size_t size);

/* What a handler of SIGSEGV was called for, by its third argument. CRASH_TOUCHED: this machine does not say. */
typedef enum crash_access {
    CRASH_NONE,
    CRASH_TOUCHED,
    CRASH_READ,
    CRASH_WROTE,
    CRASH_CALLED,
    CRASH_UNTOLD /* the processor does not tell the address */
} crash_access;
crash_access crash_access_of(const void *context);

/* crash_place.c. Before the first child begins; and in the handler, by its third argument. */
void crash_place_prepare(void);
void crash_place_note(crash_note *note, const void *context, crash_access access);

#endif
