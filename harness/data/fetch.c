/* fetch.c: a data set from the network, by bench/fetch_data.sh: a shell is what drives curl, gzip, tar and sha256sum.
 */
#include "data_parts.h"
#include "harness/problem/find_file.h"
#include "harness/process/program.h"

#include <errno.h>
#include <string.h>

static cnn_status fetch(const char *set, const char *folder, cnn_error *err)
{
    static const file_kind kind = {"script", "bench", ".sh"};
    char path[FOUND_PATH_MAX], line[CNN_MESSAGE_MAX] = "";
    const cnn_status status = data_make_folders(folder, err);
    if (status != CNN_OK) return status;
    if (!cnn_find_own(&kind, "fetch_data", path))
        return CNN_FAIL(err, CNN_IO, "bench/fetch_data.sh, which comes with benchcnn, is missing: install it again");
    FILE *said = tmpfile();
    if (said == NULL) return CNN_FAIL(err, CNN_IO, "no temporary file can be made: %s", strerror(errno));
    const int code = program_run((const char *const[]){"sh", path, set, folder, NULL}, NULL, said, NULL);
    rewind(said);
    if (fgets(line, sizeof line, said) == NULL) snprintf(line, sizeof line, "%.300s ended with status %d", path, code);
    fclose(said);
    line[strcspn(line, "\n")] = '\0';
    if (code == 0) return CNN_OK;
    return CNN_FAIL(err, code == 130 ? CNN_INTERRUPTED : code == 3 ? CNN_UNAVAILABLE : CNN_IO, "%s", line);
}

cnn_status mnist_fetch(const char *folder, cnn_error *err) { return fetch("mnist", folder, err); }

cnn_status cifar10_fetch(const char *folder, cnn_error *err) { return fetch("cifar10", folder, err); }
