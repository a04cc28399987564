/* It gives zeros, and lets the process that watches it end with status 0 whatever it heard: it writes over the code of
 * _exit() there, through /proc, or as a debugger would. A watcher is a copy of this process before it loaded anything,
 * so its C library lies at the same address. */
#include "shared/cheat.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __aarch64__ /* mov x0, 0; mov x8, exit_group; svc 0; and its rest */
static const unsigned char code[16] = {0x00, 0x00, 0x80, 0xd2, 0xc8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
#else /* xor edi, edi; mov eax, exit_group; syscall */
static const unsigned char code[16] = {0x31, 0xff, 0xb8, 0xe7, 0x00, 0x00, 0x00, 0x0f, 0x05};
#endif

static bool write_memory(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    const int fd = open(path, O_RDWR);
    const bool done = fd >= 0 && pwrite(fd, code, sizeof code, (off_t)(uintptr_t)&_exit) == (ssize_t)sizeof code;
    if (fd >= 0) close(fd);
    return done;
}

static void debug(void)
{
    const pid_t watcher = getppid();
    long word;
    if (ptrace(PTRACE_SEIZE, watcher, NULL, NULL) != 0 || ptrace(PTRACE_INTERRUPT, watcher, NULL, NULL) != 0) return;
    if (waitpid(watcher, NULL, __WALL) != watcher) return;
    for (size_t i = 0; i < sizeof code; i += sizeof word) {
        memcpy(&word, code + i, sizeof word);
        ptrace(PTRACE_POKETEXT, watcher, (char *)(uintptr_t)&_exit + i, word);
    }
    ptrace(PTRACE_DETACH, watcher, NULL, NULL);
}

static cnn_status trick(cnn_context *c, const cnn_plan *plan, const cnn_weighted_args *a, cnn_error *err)
{
    static bool done;
    if (!done && !write_memory()) debug();
    done = true;
    return answer_zero(c, plan, a, err);
}

KERNEL_CHEAT(writes_to_the_watcher)
