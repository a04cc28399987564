/* crash_place.c: where the code stands that crashed: its function, its file, and what had called it. */
#include "crash.h"

#include <dlfcn.h>
#include <string.h>
#include <ucontext.h>
#if __has_include(<execinfo.h>)
#include <execinfo.h>
#define HAS_FRAMES 1
#endif

enum { FRAMES_MOST = 32 };

/* The first call loads a library, which a handler must not. */
void crash_place_prepare(void)
{
#ifdef HAS_FRAMES
    static atomic_flag done = ATOMIC_FLAG_INIT;
    void *frame[1];
    if (!atomic_flag_test_and_set(&done)) (void)backtrace(frame, 1);
#endif
}

/* Where it was to go on; of a jump to where no code is, behind the call. */
static uintptr_t crashed_at(const void *context, crash_access access)
{
#if defined(__x86_64__) && defined(REG_RIP)
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    if (access == CRASH_CALLED) return *(const uintptr_t *)registers[REG_RSP];
    return (uintptr_t)registers[REG_RIP];
#elif defined(__aarch64__)
    (void)access;
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context, (void)access;
    return 0;
#endif
}

/* Names are a foreign file's: what is no plain letter in them does not get to a terminal. */
static void copy_name(char *to, const char *from, size_t size)
{
    size_t i = 0;
    for (; from != NULL && from[i] != '\0' && i + 1 < size; i++)
        to[i] = from[i] > ' ' && from[i] < 0x7f ? from[i] : '?';
    to[i] = '\0';
}

/* Whether it lies in a file other than this program's. */
static bool add_place(crash_note *note, uintptr_t at)
{
    Dl_info info, own;
    const int count = atomic_load(&note->places);
    if (at == 0 || dladdr((const void *)at, &info) == 0 || info.dli_fname == NULL) return false;
    const bool ours =
        dladdr((const void *)(uintptr_t)crash_place_prepare, &own) != 0 && own.dli_fbase == info.dli_fbase;
    if (ours && count > 0) return false;
    crash_place *p = &note->place[count];
    const char *name = strrchr(info.dli_fname, '/');
    copy_name(p->file, name != NULL ? name + 1 : info.dli_fname, sizeof p->file);
    copy_name(p->function, info.dli_sname, sizeof p->function);
    p->offset = at - (uintptr_t)info.dli_fbase;
    atomic_store(&note->places, count + 1);
    return !ours;
}

void crash_place_note(crash_note *note, const void *context, crash_access access)
{
    const uintptr_t at = crashed_at(context, access);
    atomic_store(&note->places, 0);
    bool further = add_place(note, access == CRASH_CALLED ? at - 1 : at);
#ifdef HAS_FRAMES
    void *frames[FRAMES_MOST];
    const int count = backtrace(frames, FRAMES_MOST);
    int i = 0;
    while (i < count && (uintptr_t)frames[i] != at) i++;
    for (i++; i < count && further && atomic_load(&note->places) < CRASH_PLACES_MAX; i++)
        further = add_place(note, (uintptr_t)frames[i] - 1);
#endif
}
