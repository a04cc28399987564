/* fetch.c: downloads MNIST with curl or wget, whichever the machine has, and checks what came.
 *
 * A file is fetched under a temporary name and gets its own only when the SHA-256 of its unpacked content is right, as
 * sha256sum (coreutils) tells it: an interrupted, wrong or forged download never passes for the data. Servers are asked
 * over https, and may send elsewhere over https alone. $BENCHCNN_MNIST_URL names another server, https or not. */
#include "data_parts.h"
#include "harness/base/input.h"

#include <errno.h>
#include <signal.h>
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
    char sha256[65];
} expected[MNIST_FILES] = {
    {47040016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
    {60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
    {7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
    {10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
};

/* Runs a program and waits; -1 when there is no such program, else its exit status. No shell is involved. Files NULL:
 * the program shares this one's. */
static int run_program(char *const argv[], FILE *in, FILE *out)
{
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (in != NULL) posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
    if (out != NULL) posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    const int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Unpacks the file into `to`, and a byte more than there should be at most; the bytes, or -1. */
static int64_t unpack(const char *path, FILE *to, uint64_t most, cnn_error *err)
{
    uint8_t bytes[1 << 14];
    const char *why;
    int64_t count = 0;
    int n = 0;
    const int fd = input_open(path, &why);
    gzFile in = fd < 0 ? NULL : gzdopen(fd, "rb");
    if (in == NULL) {
        if (fd >= 0) close(fd);
        CNN_FAIL(err, CNN_IO, "%s: cannot be opened: %s", path, fd < 0 ? why : "out of memory");
        return -1;
    }
    while ((uint64_t)count <= most && (n = gzread(in, bytes, sizeof bytes)) > 0) {
        count += n;
        if (fwrite(bytes, 1, (size_t)n, to) != (size_t)n) break;
    }
    gzclose(in);
    if (n >= 0 && fflush(to) == 0 && !ferror(to)) return count;
    CNN_FAIL(err, n < 0 ? CNN_BAD_FORMAT : CNN_IO,
             n < 0 ? "%s: is damaged: it cannot be unpacked" : "%s: there is no room in /tmp to unpack it", path);
    return -1;
}

/* The sum is of what was unpacked: mirrors pack the same bytes in different ways. */
static cnn_status check_file(const char *path, int file, cnn_error *err)
{
    char sha256[65] = "", name[] = "sha256sum";
    FILE *plain = tmpfile(), *said = tmpfile();
    int64_t count = -1;
    int code = 1;
    cnn_status status = CNN_OK;
    if (plain == NULL || said == NULL)
        status = CNN_FAIL(err, CNN_IO, "%s: no temporary file can be made: %s", path, strerror(errno));
    else if ((count = unpack(path, plain, expected[file].bytes, err)) < 0)
        status = err->status;
    if (status == CNN_OK) rewind(plain);
    if (status == CNN_OK && (code = run_program((char *[]){name, NULL}, plain, said)) == -1)
        status = CNN_FAIL(err, CNN_UNAVAILABLE,
                          "sha256sum is not installed, and downloads are verified with it: apt-get install coreutils");
    if (said != NULL) rewind(said);
    const bool told = code == 0 && fgets(sha256, sizeof sha256, said) != NULL;
    if (plain != NULL) fclose(plain);
    if (said != NULL) fclose(said);
    if (status != CNN_OK) return status;
    if (told && (uint64_t)count == expected[file].bytes && strcmp(sha256, expected[file].sha256) == 0) return CNN_OK;
    return CNN_FAIL(
        err, CNN_BAD_FORMAT,
        "%s: holds %s%lld bytes with SHA-256 %s, but MNIST's %s has %llu with %s: remove it, or name another "
        "server by $BENCHCNN_MNIST_URL",
        path, (uint64_t)count > expected[file].bytes ? "more than " : "", (long long)count, told ? sha256 : "unknown",
        mnist_files[file], (unsigned long long)expected[file].bytes, expected[file].sha256);
}

/* curl and wget know proxies, certificates and redirections; own code would not. */
static cnn_status download(const char *server, int file, char *path, cnn_error *err)
{
    char url[DATASET_PATH_MAX];
    if (snprintf(url, sizeof url, "%s/%s.gz", server, mnist_files[file]) >= (int)sizeof url)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "the server's address '%.64s...' is too long: with the file's name it may have %d characters",
                        server, DATASET_PATH_MAX - 1);
    /* -q: no ~/.curlrc. A mirror may be asked as it is named; wherever it sends, it is https. */
    char curl[] = "curl", quiet[] = "-q", flags[] = "-fsSL", only[] = "--proto", named[] = "=https,http,file",
         https[] = "=https", onwards[] = "--proto-redir", size[] = "--max-filesize", bytes[] = "67108864",
         at[] = "--url", to[] = "-o", wget[] = "wget", mute[] = "-q", stay[] = "--max-redirect=0", as[] = "-O";
    const bool safe = strncmp(url, "https://", 8) == 0;
    char *const with_curl[] = {curl, quiet, flags, only, safe ? https : named, onwards, https, size, bytes, to,
                               path, at,    url,   NULL};
    char *const with_wget[] = {wget, mute, stay, as, path, url, NULL};
    int code = run_program(with_curl, NULL, NULL);
    const bool no_curl = code == -1;
    if (no_curl) code = run_program(with_wget, NULL, NULL);
    if (code == -1)
        return CNN_FAIL(err, CNN_UNAVAILABLE,
                        "neither curl nor wget is installed: install one (apt-get install curl), "
                        "or put the four files into the folder by hand");
    if (code == 128 + SIGINT) return CNN_FAIL(err, CNN_INTERRUPTED, "fetching %s was interrupted", url);
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
    for (int i = 0; i < n_servers && status != CNN_OK && status != CNN_INTERRUPTED; i++) {
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
