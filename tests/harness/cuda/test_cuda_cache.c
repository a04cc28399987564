/* test_cuda_cache.c: compiled kernels come back whole, or not at all. */
#include "harness/cuda/jit_cache.h"
#include "tests/unit.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CODE = 5000, PATH = 1024 };

static char home[64], code[CODE];

static int set_up(void **state)
{
    strcpy(home, "/tmp/benchcnn_cache_XXXXXX");
    if (mkdtemp(home) == NULL) return -1;
    for (int i = 0; i < CODE; i++) code[i] = (char)(i * 7);
    return setenv("XDG_CACHE_HOME", home, 1);
}

/* The one file that is kept. */
static void kept(char path[PATH])
{
    char folder[PATH / 2];
    (void)snprintf(folder, sizeof folder, "%s/benchcnn", home);
    DIR *d = opendir(folder);
    assert_non_null(d);
    int files = 0;
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (e->d_name[0] == '.') continue;
        (void)snprintf(path, PATH, "%s/%s", folder, e->d_name);
        files++;
    }
    closedir(d);
    assert_int_equal(files, 1); /* nothing is left beside it */
}

static int tear_down(void **state)
{
    char path[PATH];
    kept(path);
    (void)remove(path);
    (void)snprintf(path, sizeof path, "%s/benchcnn", home);
    (void)rmdir(path);
    return rmdir(home);
}

static void is_there(const char *key, bool there)
{
    size_t bytes = 0;
    void *found = cuda_cache_get(key, &bytes);
    assert_int_equal(found != NULL, there);
    if (there) assert_int_equal(bytes, CODE);
    if (there) assert_memory_equal(found, code, CODE);
    free(found);
}

static void what_is_kept_comes_back(void **state)
{
    is_there("a key", false);
    cuda_cache_put("a key", code, CODE);
    is_there("a key", true);
    is_there("another key", false);
    cuda_cache_put("a key", code, CODE);
    is_there("a key", true);
}

static void a_torn_file_is_none(void **state)
{
    char path[PATH];
    struct stat whole;
    cuda_cache_put("a key", code, CODE);
    kept(path);
    assert_int_equal(stat(path, &whole), 0);
    for (off_t size = 0; size < whole.st_size; size += size < 64 ? 1 : 997) {
        assert_int_equal(truncate(path, size), 0);
        is_there("a key", false);
        cuda_cache_put("a key", code, CODE);
    }
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    fputc('x', file);
    fclose(file);
    is_there("a key", false);
    cuda_cache_put("a key", code, CODE);
    is_there("a key", true);
}

static void a_changed_byte_is_seen(void **state)
{
    char path[PATH];
    struct stat whole;
    cuda_cache_put("a key", code, CODE);
    kept(path);
    assert_int_equal(stat(path, &whole), 0);
    for (long at = 0; at < whole.st_size; at += at < 40 ? 1 : 501) {
        FILE *file = fopen(path, "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        const int byte = fgetc(file);
        assert_int_equal(fseek(file, at, SEEK_SET), 0);
        fputc(byte ^ 4, file);
        fclose(file);
        is_there("a key", false);
        cuda_cache_put("a key", code, CODE);
    }
}

static void without_a_folder_nothing_is_kept(void **state)
{
    assert_int_equal(setenv("XDG_CACHE_HOME", "/dev/null", 1), 0);
    cuda_cache_put("a key", code, CODE);
    is_there("a key", false);
    assert_int_equal(setenv("XDG_CACHE_HOME", home, 1), 0);
    is_there("a key", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_kept_comes_back),
        cmocka_unit_test(a_torn_file_is_none),
        cmocka_unit_test(a_changed_byte_is_seen),
        cmocka_unit_test(without_a_folder_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
