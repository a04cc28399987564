/* memory_limit.c: a limit on address space (ulimit -v) must not hang the program.
 *
 * While OpenBLAS is loaded, it starts a thread for each core; where the limit leaves no room for one, it waits for it
 * for ever. It needs none of them: impl_cpu calls it from threads of its own. Their number can be told by a variable
 * alone, and before OpenBLAS is initialised: so, under a limit, the program begins once more, with the variable set. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* their runtime is not there yet, and they take more address space than any limit */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__ELF__) && !defined(SANITIZED)
enum { ENVIRONMENT_MAX = 4096 };

/* Called before any library's own initialisation, the C library's among them: system calls alone. */
static void begin_under_limit(int argc, char **argv, char **environment)
{
    static char threads[] = "OPENBLAS_NUM_THREADS=1";
    static char *longer[ENVIRONMENT_MAX + 2];
    struct rlimit limit;
    size_t count = 0;
    (void)argc;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    for (; environment[count] != NULL; count++) {
        if (count == ENVIRONMENT_MAX || strncmp(environment[count], threads, sizeof threads - 2) == 0) return;
        longer[count] = environment[count];
    }
    longer[count] = threads;
    execve("/proc/self/exe", argv, longer); /* where that cannot be, it goes on as it is */
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = begin_under_limit;
#endif
