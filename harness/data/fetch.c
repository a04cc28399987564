/* fetch.c: downloads MNIST with curl or wget, whichever the machine has, and checks what came.
 *
 * A file is fetched under a temporary name and gets its own only when size and CRC-32 (zlib) of its unpacked content
 * are right: an interrupted or wrong download never passes for the data. $BENCHCNN_MNIST_URL names another server. */
#include "data_parts.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

extern char **environ;

static const char *const servers[] = {"https://ossci-datasets.s3.amazonaws.com/mnist",
                                      "https://storage.googleapis.com/cvdf-datasets/mnist"};

/* Of the unpacked files, in the order of mnist_files. */
static const struct {
    uint64_t bytes;
    uint32_t crc;
} expected[MNIST_FILES] = {{47040016, 0xe9f4d8b3u}, {60008, 0xe0cb4ad2u}, {7840016, 0x91373bdfu}, {10008, 0x4ab9eff9u}};

static cnn_status check_file(const char *path, int file, cnn_error *err)
{
    uint8_t bytes[1 << 14];
    uint64_t count = 0;
    uint32_t crc = (uint32_t)crc32(0, NULL, 0);
    int n;
    gzFile in = gzopen(path, "rb");
    if (in == NULL) return CNN_FAIL(err, CNN_IO, "%s: cannot be opened: %s", path, strerror(errno));
    for (; (n = gzread(in, bytes, sizeof bytes)) > 0; count += (uint64_t)n)
        crc = (uint32_t)crc32(crc, bytes, (unsigned)n);
    gzclose(in);
    if (n < 0) return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: is damaged: it cannot be unpacked", path);
    if (count != expected[file].bytes || crc != expected[file].crc)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%s: holds %llu bytes with CRC-32 %08x, but MNIST's %s has %llu with %08x",
                        path, (unsigned long long)count, crc, mnist_files[file],
                        (unsigned long long)expected[file].bytes, expected[file].crc);
    return CNN_OK;
}

/* Runs a program and waits; -1 when there is no such program, else its exit status. No shell is involved. */
static int run_program(char *const argv[])
{
    pid_t pid;
    int status = 0;
    if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0) return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static cnn_status download(const char *server, int file, char *path, cnn_error *err)
{
    char url[DATASET_PATH_MAX];
    char curl[] = "curl", flags[] = "-fsSL", to[] = "-o", wget[] = "wget", quiet[] = "-q", as[] = "-O";
    if (snprintf(url, sizeof url, "%s/%s.gz", server, mnist_files[file]) >= (int)sizeof url)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "the server's address '%.64s...' is too long: with the file's name it may have %d characters",
                        server, DATASET_PATH_MAX - 1);
    char *const with_curl[] = {curl, flags, to, path, url, NULL}, *const with_wget[] = {wget, quiet, as,
                                                                                        path, url,   NULL};
    int code = run_program(with_curl);
    const bool no_curl = code == -1;
    if (no_curl) code = run_program(with_wget);
    if (code == -1)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "neither curl nor wget is installed: install one (apt-get install curl), "
                        "or put the four files into the folder by hand");
    if (code != 0)
        return CNN_FAIL(err, CNN_IO, "%s: %s could not fetch it (exit status %d)", url, no_curl ? "wget" : "curl",
                        code);
    return CNN_OK;
}

static cnn_status fetch_file(const char *folder, int file, cnn_error *err)
{
    char path[DATASET_PATH_MAX], part[DATASET_PATH_MAX];
    const char *mirror = getenv("BENCHCNN_MNIST_URL");
    if (mnist_path(folder, file, path)) return check_file(path, file, err);
    snprintf(path, sizeof path, "%.900s/%s.gz", folder, mnist_files[file]);
    snprintf(part, sizeof part, "%.900s/%s.part%ld", folder, mnist_files[file], (long)getpid());
    cnn_status status = CNN_IO;
    const int n_servers = mirror != NULL ? 1 : (int)(sizeof servers / sizeof servers[0]);
    for (int i = 0; i < n_servers && status != CNN_OK; i++) {
        status = download(mirror != NULL ? mirror : servers[i], file, part, err);
        if (status == CNN_OK) status = check_file(part, file, err);
    }
    if (status == CNN_OK && rename(part, path) != 0)
        status = CNN_FAIL(err, CNN_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (status != CNN_OK) unlink(part);
    return status;
}

cnn_status mnist_fetch(const char *folder, cnn_error *err)
{
    cnn_status status = data_make_folders(folder, err);
    for (int i = 0; i < MNIST_FILES && status == CNN_OK; i++) status = fetch_file(folder, i, err);
    return status;
}
