/* test_data_fetch.c: a fetch that keeps nothing whose checksum is wrong. No network is needed: the
 * server is a folder, by way of $BENCHCNN_MNIST_URL. */
#include "tests/unit.h"

#include "harness/data/data_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
    if (system("command -v curl >/dev/null 2>&1") != 0) skip(); /* wget knows no file:// */
    assert_non_null(mkdtemp(server));
    assert_non_null(mkdtemp(into));
    write_file(server, "train-images-idx3-ubyte.gz", "not MNIST");
    snprintf(url, sizeof url, "file://%s", server);
    snprintf(path, sizeof path, "%s/a/b", into);
    setenv("BENCHCNN_MNIST_URL", url, 1);
    assert_int_equal(mnist_fetch(path, &err), CNN_IO);
    assert_message(err, "SHA-256");
    assert_message(err, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db");
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
    assert_non_null(mkdtemp(folder));
    write_file(folder, "train-images-idx3-ubyte", "something else");
    assert_int_equal(mnist_fetch(folder, &err), CNN_IO);
    assert_message(err, folder);
    assert_message(err, "SHA-256");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* CIFAR-10 comes in one archive: it is not unpacked before its own checksum is right. */
static void test_cifar10(void **state)
{
    char server[] = "/tmp/benchcnn-server-XXXXXX", into[] = "/tmp/benchcnn-fetch-XXXXXX", url[128], command[512];
    cnn_error err;
    assert_non_null(mkdtemp(server));
    assert_non_null(mkdtemp(into));
    write_file(into, "data_batch_3.bin", "something else");
    assert_int_equal(cifar10_fetch(into, &err), CNN_IO);
    assert_message(err, "data_batch_3.bin");
    assert_message(err, "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67");
    snprintf(
        command, sizeof command,
        "rm %s/data_batch_3.bin; cd %s && mkdir cifar-10-batches-bin && "
        "echo forged >cifar-10-batches-bin/data_batch_1.bin && tar -czf cifar-10-binary.tar.gz cifar-10-batches-bin",
        into, server);
    assert_int_equal(system(command), 0);
    if (system("command -v curl >/dev/null 2>&1") == 0) { /* wget knows no file:// */
        snprintf(url, sizeof url, "file://%s", server);
        setenv("BENCHCNN_CIFAR10_URL", url, 1);
        assert_int_equal(cifar10_fetch(into, &err), CNN_IO);
        assert_message(err, "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd");
        assert_message(err, "BENCHCNN_CIFAR10_URL");
        unsetenv("BENCHCNN_CIFAR10_URL");
    }
    assert_int_equal(rmdir(into), 0); /* nothing is left in it */
    snprintf(command, sizeof command, "rm -r %s", server);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_download_is_not_kept),
        cmocka_unit_test(test_wrong_file_is_named),
        cmocka_unit_test(test_cifar10),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
