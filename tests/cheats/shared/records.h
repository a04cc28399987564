/* records.h: how a plug-in finds the file of records. */
#ifndef CHEATS_RECORDS_H
#define CHEATS_RECORDS_H
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A figure that nobody took. */
#define FORGED_RECORD                                                                                                  \
    "{\"kind\":\"conv\",\"impl\":\"forged\",\"algorithm\":\"fast\",\"problem\":\"mb2ic4ih6oc4kh3ph1\",\"dir\":"        \
    "\"FWD\",\"state\":\"PASSED\",\"verified\":true,\"median_s\":1e-9}\n"

/* Calls `each` for every file in the folder (/proc/PID/fd, or any other) that is, or leads to, one of records. */
static inline void find_records(const char *folder, void (*each)(const char *path))
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        char path[512], target[512];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length >= 0)
            target[length] = '\0';
        else
            snprintf(target, sizeof target, "%s", path);
        const size_t end = strlen(target);
        if (end > 6 && strcmp(target + end - 6, ".jsonl") == 0) each(path);
    }
    if (entries != NULL) closedir(entries);
}

/* Among the files that this process and the one that watches it have open. */
static inline void find_open_records(void (*each)(const char *path))
{
    char folder[64];
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)getppid());
    find_records("/proc/self/fd", each);
    find_records(folder, each);
}

#endif
