/* crash.c: see crash.h. The handler stores the address first, then what may crash itself; the words are the parent's,
 * whose memory the crash has not touched. */
#include "crash.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* A signal handler can reach nothing but globals: the note of this process, how far it is written, and who was to
 * handle a crash before. */
static _Atomic(crash_note *) own;
enum { NOTE_EMPTY, NOTE_BEGUN, NOTE_DONE };
static atomic_int progress;
static struct sigaction before_segv, before_bus;

crash_access crash_access_of(const void *context)
{
#if defined(__x86_64__) && defined(REG_ERR)
    const long long error = ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR];
    return (error & 16) != 0 ? CRASH_CALLED : (error & 2) != 0 ? CRASH_WROTE : CRASH_READ;
#else
    (void)context;
    return CRASH_TOUCHED;
#endif
}

/* What x86 calls a general protection fault has no address: an aligned load or store of memory that is not aligned, or
 * an address that no memory can have. */
static uint64_t touch_of(const siginfo_t *info, const void *context)
{
#ifdef SI_KERNEL
    if (info->si_code == SI_KERNEL) return CRASH_UNTOLD;
#endif
    return (uint64_t)(uintptr_t)info->si_addr << CRASH_ACCESS_BITS | crash_access_of(context);
}

/* Byte by byte: AddressSanitizer forbids others these bytes, and would watch over a memcpy(). */
#if defined(__GNUC__)
#define UNWATCHED __attribute__((no_sanitize("address")))
#else
#define UNWATCHED
#endif

UNWATCHED static bool band_changed(const unsigned char *was, uintptr_t from)
{
    const volatile unsigned char *is = (const volatile unsigned char *)from;
    for (int i = 0; i < CRASH_BAND; i++)
        if (is[i] != was[i]) return true;
    return false;
}

UNWATCHED static void take_band(unsigned char *to, uintptr_t from)
{
    const volatile unsigned char *is = (const volatile unsigned char *)from;
    for (int i = 0; i < CRASH_BAND; i++) to[i] = is[i];
}

/* A loop that has no end goes through other arrays, and crashes behind the last of them. */
static void look_at_bands(crash_note *note)
{
    const int count = atomic_load(&note->count);
    for (int i = 0; i < count && i < CRASH_ARRAYS_MAX; i++) {
        const crash_array *a = &note->arrays[i];
        crash_band *b = &note->bands[i];
        if (!a->in_bands) continue;
        atomic_store(&b->before_changed, band_changed(b->before, a->first - CRASH_BAND));
        atomic_store(&b->behind_changed, band_changed(b->behind, a->first + a->bytes));
    }
}

/* The note is of the thread that crashed first. Another one that crashes waits for it: the end of that one would be the
 * end of the process, with the note half written. The bands come last: where the note itself is written over, this
 * handler crashes there, and that ends the process, as both signals are blocked. */
static void write_note(crash_note *note, const siginfo_t *info, const void *context)
{
    int empty = NOTE_EMPTY;
    if (!atomic_compare_exchange_strong(&progress, &empty, NOTE_BEGUN)) {
        while (atomic_load(&progress) != NOTE_DONE) (void)sched_yield();
        return;
    }
    atomic_store(&note->touch, touch_of(info, context));
    crash_place_note(note, context, crash_access_of(context));
    look_at_bands(note);
    atomic_store(&progress, NOTE_DONE);
}

/* After the note, it happens again, to whoever was to see it before; what was sent does not happen by itself. */
static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    const int error = errno;
    crash_note *note = atomic_load(&own);
    const bool mine = note != NULL && getpid() == atomic_load(&note->pid), sent = info->si_code <= 0;
    if (mine && !sent) write_note(note, info, context);
    sigaction(signal_number, signal_number == SIGBUS ? &before_bus : &before_segv, NULL);
    if (sent) raise(signal_number);
    errno = error;
}

static void handle(int signal_number, struct sigaction *before)
{
    struct sigaction now, action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGSEGV);
    sigaddset(&action.sa_mask, SIGBUS);
    if (sigaction(signal_number, NULL, &now) != 0) return;
    /* the parent may be a child itself */
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_crash) return;
    *before = now;
    sigaction(signal_number, &action, NULL);
}

void crash_begin(crash_note *note)
{
    static _Alignas(16) char room[1 << 16]; /* a stack that is used up is a crash, too */
    const stack_t other = {.ss_sp = room, .ss_size = sizeof room};
    stack_t now;
    atomic_store(&note->touch, 0);
    atomic_store(&note->count, 0);
    atomic_store(&note->places, 0);
    atomic_store(&note->pid, getpid());
    atomic_store(&own, note);
    atomic_store(&progress, NOTE_EMPTY);
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) (void)sigaltstack(&other, NULL);
    handle(SIGSEGV, &before_segv);
    handle(SIGBUS, &before_bus);
}

void crash_arrays(const crash_array *list, int count)
{
    crash_note *note = atomic_load(&own);
    if (note == NULL || getpid() != atomic_load(&note->pid)) return;
    const int some = count < CRASH_ARRAYS_MAX ? count : CRASH_ARRAYS_MAX;
    atomic_store(&note->count, 0);
    if (some > 0) memcpy(note->arrays, list, (size_t)some * sizeof *list);
    for (int i = 0; i < some; i++) {
        crash_band *b = &note->bands[i];
        atomic_store(&b->before_changed, false);
        atomic_store(&b->behind_changed, false);
        if (!list[i].in_bands) continue;
        take_band(b->before, list[i].first - CRASH_BAND);
        take_band(b->behind, list[i].first + list[i].bytes);
    }
    atomic_store(&note->count, some);
}
