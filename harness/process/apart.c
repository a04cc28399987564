/* apart.c: see apart.h. */
#include "apart.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int apart_hide(void)
{
    const int before = prctl(PR_GET_DUMPABLE);
    (void)prctl(PR_SET_DUMPABLE, 0);
    return before;
}

/* 2, which only the system can set, has no way back but 1. */
void apart_show(int before) { (void)prctl(PR_SET_DUMPABLE, before == 0 ? 0 : 1); }

/* libcap would do it in one line more than the call itself. From the bounding set, too: a program that root starts gets
 * all that is in there. */
static void give_up_tracing(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    const unsigned mask = ~(1u << CAP_SYS_PTRACE);
    (void)prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0);
    if (syscall(SYS_capget, &header, data) != 0) return;
    data[0].effective &= mask;
    data[0].permitted &= mask;
    data[0].inheritable &= mask;
    (void)syscall(SYS_capset, &header, data);
}
#else
int apart_hide(void) { return 1; }
void apart_show(int before) { (void)before; }
static void give_up_tracing(void) {}
#endif

void apart_begin(int before)
{
    apart_show(before);
    give_up_tracing();
}

void apart_close_files(const struct stat *files, int count)
{
    DIR *open_files = opendir("/proc/self/fd");
    const struct dirent *entry;
    while (open_files != NULL && (entry = readdir(open_files)) != NULL) {
        struct stat info;
        const int fd = atoi(entry->d_name);
        bool found = false;
        if (fd <= STDERR_FILENO || fd == dirfd(open_files) || fstat(fd, &info) != 0) continue;
        for (int i = 0; i < count && !found; i++)
            found = files[i].st_dev == info.st_dev && files[i].st_ino == info.st_ino;
        if (found) close(fd);
    }
    if (open_files != NULL) closedir(open_files);
}
