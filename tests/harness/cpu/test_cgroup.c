/* test_cgroup.c: limits of control groups, read from made-up copies of what the kernel shows. */
#include "harness/cpu/limits.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

enum { MOST_FILES = 8 };

typedef struct shown {
    const char *path, *text;
} shown;

typedef struct limits_case {
    const char *what;
    shown files[MOST_FILES];
    size_t memory_left;
    int cpus;
} limits_case;

#define SYS "/sys/fs/cgroup"

static const limits_case cases[] = {
    {"no control groups", {{NULL, NULL}}, SIZE_MAX, INT_MAX},
    {"version 2, a container that sees itself as the root",
     {{"/proc/self/cgroup", "0::/\n"},
      {SYS "/memory.max", "2147483648\n"},
      {SYS "/memory.current", "500000000\n"},
      {SYS "/memory.stat", "anon 300000000\nfile 200000000\ninactive_file 100000000\nactive_file 50000000\n"},
      {SYS "/cpu.max", "200000 100000\n"}},
     2147483648 - 350000000,
     2},
    {"version 2, the tightest of the groups above",
     {{"/proc/self/cgroup", "0::/jobs/one\n"},
      {SYS "/jobs/one/memory.max", "max\n"},
      {SYS "/jobs/one/memory.current", "7\n"},
      {SYS "/jobs/one/cpu.max", "350000 100000\n"},
      {SYS "/jobs/memory.max", "1000\n"},
      {SYS "/jobs/memory.current", "400\n"},
      {SYS "/jobs/cpu.max", "1600000 100000\n"}},
     600,
     3},
    {"version 2, no limits, and half a processor",
     {{"/proc/self/cgroup", "0::/a\n"},
      {SYS "/a/memory.max", "max\n"},
      {SYS "/a/memory.current", "7\n"},
      {SYS "/a/cpu.max", "50000 100000\n"},
      {SYS "/cpu.max", "max 100000\n"}},
     SIZE_MAX,
     1},
    {"version 2, more in use than is allowed",
     {{"/proc/self/cgroup", "0::/\n"}, {SYS "/memory.max", "1000\n"}, {SYS "/memory.current", "1001\n"}},
     0,
     INT_MAX},
    {"version 1 beside a bare version 2, with the host's path",
     {{"/proc/self/cgroup", "0::/unused\n5:memory:/docker/12ab\n4:cpu,cpuacct:/docker/12ab\n3:cpuset:/x\n"},
      {SYS "/memory/memory.limit_in_bytes", "3000\n"},
      {SYS "/memory/memory.usage_in_bytes", "1500\n"},
      {SYS "/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 200\ntotal_active_file 300\n"},
      {SYS "/cpu/cpu.cfs_quota_us", "400000\n"},
      {SYS "/cpu/cpu.cfs_period_us", "100000\n"}},
     2000,
     4},
    {"version 1, no limits",
     {{"/proc/self/cgroup", "2:memory:/\n1:cpu:/\n"},
      {SYS "/memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {SYS "/memory/memory.usage_in_bytes", "0\n"},
      {SYS "/cpu/cpu.cfs_quota_us", "-1\n"},
      {SYS "/cpu/cpu.cfs_period_us", "100000\n"}},
     9223372036854771712u,
     INT_MAX},
};

static void show(const char *root, const shown *file)
{
    char path[512];
    const int n = snprintf(path, sizeof path, "%s%s", root, file->path);
    assert_true(n > 0 && n < (int)sizeof path);
    for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0777);
        *p = '/';
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(file->text, out);
    fclose(out);
}

static void the_tightest_limit_counts(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const limits_case *c = &cases[i];
        char root[] = "/tmp/test_cgroup_XXXXXX", command[64];
        assert_non_null(mkdtemp(root));
        for (int k = 0; k < MOST_FILES && c->files[k].path != NULL; k++) show(root, &c->files[k]);
        const size_t left = cgroup_memory_left(root);
        const int cpus = cgroup_cpus(root);
        snprintf(command, sizeof command, "rm -rf '%s'", root);
        assert_int_equal(system(command), 0);
        if (left != c->memory_left || cpus != c->cpus)
            fail_msg("%s: %zu bytes, %d processors; not %zu, %d", c->what, left, cpus, c->memory_left, c->cpus);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_tightest_limit_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
