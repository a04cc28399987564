/* test_crash.c: who watches a child process learns which address it touched when it crashed, and beside which array. */
#include "harness/process/child.h"
#include "tests/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The sanitizers' own handlers end a process with a status. */
const char *__asan_default_options(void); /* NOLINT */
const char *__asan_default_options(void) { return "handle_segv=0:handle_sigbus=0"; }
const char *__tsan_default_options(void); /* NOLINT */
const char *__tsan_default_options(void) { return "handle_segv=0:handle_sigbus=0"; }

enum { BYTES = 100 };

typedef void act_fn(uintptr_t address);

__attribute__((no_sanitize("undefined", "address", "thread"))) static void reads(uintptr_t address)
{
    (void)*(volatile char *)address;
}
__attribute__((no_sanitize("undefined", "address", "thread"))) static void writes(uintptr_t address)
{
    *(volatile char *)address = 1;
}
__attribute__((no_sanitize("undefined", "address", "thread"))) static void jumps(uintptr_t address)
{
    ((void (*volatile)(void))address)();
}
/* Writes two bytes more than the array has. */
static void goes_on(uintptr_t address)
{
    for (int i = 0; i < BYTES + 2; i++) writes(address + (uintptr_t)i);
    writes(address - 1);
    reads(0);
}
/* One thread writes two bytes more than the array has and crashes; all the others crash at the same time. */
static void *crashes_with_others(void *barrier)
{
    pthread_barrier_wait(barrier);
    reads(0);
    return NULL;
}
static void together(uintptr_t address)
{
    enum { OTHERS = 7 };
    static pthread_barrier_t barrier;
    pthread_t other[OTHERS];
    for (int i = 0; i < BYTES + 2; i++) writes(address + (uintptr_t)i);
    pthread_barrier_init(&barrier, NULL, OTHERS + 1);
    for (int i = 0; i < OTHERS; i++)
        if (pthread_create(&other[i], NULL, crashes_with_others, &barrier) != 0) _exit(1);
    crashes_with_others(&barrier);
}
static void sends(uintptr_t address) { raise(address == 0 ? SIGSEGV : SIGKILL); }
static void copy_crashes(uintptr_t address)
{
    const pid_t copy = fork();
    if (copy == 0) reads(address);
    waitpid(copy, NULL, 0);
    raise(SIGSEGV);
}

/* What is said of a child that does this at `address`, where w is an array of BYTES, and a page that cannot be touched
 * is dx, on a device. */
static void said(act_fn *act, uintptr_t address, uintptr_t w, uintptr_t dx, char *how, size_t size)
{
    child_shared *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ended;
    assert_true(c != MAP_FAILED);
    signal(SIGSEGV, SIG_DFL); /* cmocka's */
    signal(SIGBUS, SIG_DFL);
    const pid_t pid = child_start(c);
    if (pid == 0) {
        const crash_array list[] = {{"w", w, BYTES, false, act == goes_on || act == together},
                                    {"dx", dx, 4096, true, false}};
        crash_arrays(list, w != 0 ? 2 : 0);
        act(address);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    child_how(c, ended, how, size);
    munmap(c, sizeof *c);
}

static void expect(act_fn *act, uintptr_t address, uintptr_t w, uintptr_t dx, const char *words)
{
    char how[256];
    said(act, address, w, dx, how, sizeof how);
    if (strstr(how, words) == NULL) fail_msg("'%s' lacks '%s'", how, words);
}

#ifdef __x86_64__
#define READ "it read"
#define WROTE "it wrote to"
#define JUMPED "it jumped to"
#else
#define READ "it touched"
#define WROTE READ
#define JUMPED READ
#endif

static void near_null(void **state)
{
    expect(writes, 0, 0, 0, "signal 11 (Segmentation fault): " WROTE " address 0x0, which is NULL");
    expect(reads, 0x18, 0, 0, ": " READ " address 0x18, near NULL");
    expect(jumps, 0, 0, 0, JUMPED " address 0x0, which is NULL");
}

/* Three pages; w ends where the third begins, and the others cannot be touched. */
static void beside_an_array(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED && mprotect(pages + page, page, PROT_READ | PROT_WRITE) == 0);
    const uintptr_t end = (uintptr_t)pages + 2 * page, w = end - BYTES, elsewhere = (uintptr_t)pages + 64 * page;
    char words[128];
    snprintf(words, sizeof words, READ " address 0x%llx, right behind the end of w", (unsigned long long)end);
    expect(reads, end, w, elsewhere, words);
    expect(writes, end + 12, w, elsewhere, ", 12 bytes past the end of w, the nearest array");
    expect(writes, end + 12, w, (uintptr_t)pages + 2 * page + 16,
           ", 4 bytes before the start of dx, the nearest array");
    snprintf(words, sizeof words, ", %zu bytes before the start of w, the nearest array", page - BYTES + 1);
    expect(reads, (uintptr_t)pages + page - 1, w, elsewhere, words);
    expect(reads, end + 16, w, end, ", in dx, which lies in the device's memory");
    munmap(pages, 3 * page);
}

/* What was written beside an array before, is said, too. */
static void written_before(void **state)
{
    static char room[16 + BYTES + 16];
    expect(goes_on, (uintptr_t)room + 16, (uintptr_t)room + 16, 1,
           "address 0x0, which is NULL; it had written past the end of w, and before the start of w");
}

/* Threads that crash together do not cut one another's note short. */
static void several_threads(void **state)
{
    static char room[16 + BYTES + 16];
    for (int i = 0; i < 50; i++)
        expect(together, (uintptr_t)room + 16, (uintptr_t)room + 16, 1,
               "address 0x0, which is NULL; it had written past the end of w; in ");
}

static void far_away(void **state)
{
    expect(reads, (uintptr_t)1 << 17, (uintptr_t)1 << 40, (uintptr_t)1 << 41, "address 0x20000, far from every array");
#ifdef __x86_64__
    expect(reads, (uintptr_t)1 << 62, 0, 0, ": at an aligned load or store of memory that is not aligned, or");
#endif
}

/* Where: a library's function, and this program's own code. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these search by themselves */
#define SEARCHES
static void searches(uintptr_t address)
{
    void *(*volatile search)(const void *, int, size_t) = memchr;
    (void)search((const void *)address, 1, 64);
}
#endif
static void place(void **state)
{
    char how[640];
    said(reads, 0, 0, 0, how, sizeof how);
    const char *in = strstr(how, "which is NULL; in ");
    if (in == NULL || strstr(in, "test_crash+0x") == NULL || strstr(in, "called by") != NULL)
        fail_msg("'%s' does not say where", how);
#ifdef SEARCHES
    said(searches, 0x18, 0, 0, how, sizeof how);
    in = strstr(how, "near NULL; in ");
    if (in == NULL || strstr(in, "libc") == NULL) fail_msg("'%s' does not say which library", how);
#endif
}

/* Nothing is made up where a signal came from a process, or another one crashed. */
static void no_address(void **state)
{
    char how[256];
    act_fn *const acts[] = {sends, copy_crashes};
    for (int i = 0; i < 2; i++) {
        said(acts[i], 0, 0, 0, how, sizeof how);
        assert_string_equal(how, "its process was ended by signal 11 (Segmentation fault)");
    }
    said(sends, 1, 0, 0, how, sizeof how);
    assert_string_equal(how, "its process was ended by signal 9 (Killed)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_null),      cmocka_unit_test(beside_an_array),
                                       cmocka_unit_test(written_before), cmocka_unit_test(several_threads),
                                       cmocka_unit_test(far_away),       cmocka_unit_test(place),
                                       cmocka_unit_test(no_address)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
