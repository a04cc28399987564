/* test_data_fetch.c: the checksum, and a fetch that keeps nothing whose checksum is wrong. No network is needed: the
 * server is a folder, by way of $BENCHCNN_MNIST_URL. */
#include "unit.h"

#include "harness/data/data_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void md5_of(const char *text, size_t step, char hex[33])
{
    md5_state md5;
    const size_t length = strlen(text);
    md5_start(&md5);
    for (size_t at = 0; at < length; at += step)
        md5_add(&md5, (const uint8_t *)text + at, length - at < step ? length - at : step);
    md5_end(&md5, hex);
}

/* The test suite of RFC 1321, whole and in pieces. */
static void test_md5(void **state)
{
    static const char *const suite[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof suite / sizeof suite[0]; i++) {
        char hex[33];
        md5_of(suite[i][0], 1000, hex);
        assert_string_equal(hex, suite[i][1]);
        md5_of(suite[i][0], 7, hex);
        assert_string_equal(hex, suite[i][1]);
    }
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_wrong_download_is_not_kept(void **state)
{
    char server[] = "/tmp/benchcnn-server-XXXXXX", into[] = "/tmp/benchcnn-fetch-XXXXXX", url[128], path[256];
    char here[512];
    cnn_error err;
    (void)state;
    if (system("command -v curl >/dev/null 2>&1") != 0) skip(); /* wget knows no file:// */
    assert_non_null(mkdtemp(server));
    assert_non_null(mkdtemp(into));
    write_file(server, "train-images-idx3-ubyte.gz", "not MNIST");
    snprintf(url, sizeof url, "file://%s", server);
    snprintf(path, sizeof path, "%s/a/b", into);
    setenv("BENCHCNN_MNIST_URL", url, 1);
    assert_int_equal(mnist_fetch(path, &err), CNN_BAD_FORMAT);
    assert_message(err, "MD5");
    assert_message(err, "6bbc9ace898e44ae57da46a324031adb");
    assert_int_equal(rmdir(path), 0); /* the folder was made, and nothing is left in it */

    snprintf(url, sizeof url, "file://%s/none", server);
    setenv("BENCHCNN_MNIST_URL", url, 1);
    assert_int_equal(mnist_fetch(path, &err), CNN_IO);
    assert_message(err, "none/train-images-idx3-ubyte.gz");
    unsetenv("BENCHCNN_MNIST_URL");
    snprintf(here, sizeof here, "rm -r %s %s", server, into);
    assert_int_equal(system(here), 0);
}

/* A file that is there is checked too, not trusted. */
static void test_wrong_file_is_named(void **state)
{
    char folder[] = "/tmp/benchcnn-there-XXXXXX", command[128];
    cnn_error err;
    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file(folder, "train-images-idx3-ubyte", "something else");
    assert_int_equal(mnist_fetch(folder, &err), CNN_BAD_FORMAT);
    assert_message(err, folder);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_md5),
        cmocka_unit_test(test_wrong_download_is_not_kept),
        cmocka_unit_test(test_wrong_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
