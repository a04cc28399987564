/* dump.c: see verify.h. */
#include "verify.h"

#include "harness/data/npy.h"
#include "harness/problem/names.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

cnn_status dump_prepare(const char *dir, cnn_error *err)
{
    struct stat info;
    if (mkdir(dir, 0777) == 0) return CNN_OK;
    if (errno == EEXIST && stat(dir, &info) == 0 && S_ISDIR(info.st_mode)) return CNN_OK;
    return CNN_FAIL(err, CNN_IO, "--dump %s: the folder cannot be made: %s", dir, strerror(errno));
}

static cnn_status save(const char *folder, const cnn_operand *o, const char *what, const double *values,
                       cnn_dtype dtype, cnn_error *err)
{
    char path[DUMP_PATH_MAX + CNN_NAME_MAX];
    if (values == NULL) return CNN_OK;
    snprintf(path, sizeof path, "%s/%s%s.npy", folder, o->name, what);
    return npy_save_operand(path, o, values, dtype, err);
}

static cnn_status save_command(const char *folder, const char *command, cnn_error *err)
{
    char path[DUMP_PATH_MAX + CNN_NAME_MAX];
    snprintf(path, sizeof path, "%s/command.txt", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "%s: cannot be written: %s", path, strerror(errno));
    const bool written = fprintf(file, "%s\n", command) > 0;
    if (fclose(file) != 0 || !written) return CNN_FAIL(err, CNN_IO, "%s: cannot be written whole", path);
    return CNN_OK;
}

cnn_status dump_failure(const char *dir, int number, const verify_failure *f, const char *command,
                        char path[DUMP_PATH_MAX], cnn_error *err)
{
    const verify_result *r = f->result;
    char name[2 * CNN_NAME_MAX + 2];
    snprintf(name, sizeof name, "%s-%s", r->session->impl->name, r->algorithm);
    for (char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-') *c = '_';
    if (snprintf(path, DUMP_PATH_MAX, "%s/%03d-%s-%s-%s-%s", dir, number, name, cnn_op_name(r->problem->op),
                 cnn_dir_name(r->dir), r->check) >= DUMP_PATH_MAX)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--dump %.64s...: the path is too long", dir);
    cnn_status status = dump_prepare(path, err);
    if (status == CNN_OK) status = save_command(path, command, err);
    for (int i = 0; status == CNN_OK && i < f->count; i++) {
        const cnn_operand *o = &f->operands[i];
        const cnn_dtype dtype = cnn_elem_dtype(&r->problem->u.type, o->elem);
        status = save(path, o, "", f->before[i], dtype, err);
        if (status == CNN_OK) status = save(path, o, "_expected", f->expected[i], CNN_F64, err);
        if (status == CNN_OK) status = save(path, o, "_got", f->got[i], dtype, err);
    }
    return status;
}
