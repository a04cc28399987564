/* checkpoint.c: one file: a head of fixed size, then the parameters and the optimizer's state as they stand in memory.
 */
#include "checkpoint.h"

#include "harness/base/input.h"
#include "trainer_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char magic[8] = "cnnckpt2";
enum { BESIDE_MAX = 4096 };

typedef struct head {
    char magic[8], setting[CHECKPOINT_SETTING_MAX];
    int64_t epochs, step, bytes; /* bytes: of what follows */
    uint64_t crc;                /* of what follows */
} head;

/* Pieces of device memory that make up a run, in order. */
typedef struct pieces {
    size_t at[3], bytes[3];
    int count;
    size_t total;
} pieces;

static pieces pieces_of(const trainer *t)
{
    const size_t elem = trainer_elem(t);
    pieces p = {.at = {t->params_at}, .bytes = {(size_t)t->net->param_elems * elem}, .count = 1};
    for (int i = 0; i < 2; i++)
        if (t->state_at[i] != NOWHERE) {
            p.at[p.count] = t->state_at[i];
            p.bytes[p.count++] = (size_t)t->net->trained_elems * elem;
        }
    for (int i = 0; i < p.count; i++) p.total += p.bytes[i];
    return p;
}

static uint64_t crc_of(const char *data, size_t bytes) { return crc32_z(0, (const Bytef *)data, bytes); }

static cnn_status name_beside(const char *path, char beside[BESIDE_MAX], cnn_error *err)
{
    if (snprintf(beside, BESIDE_MAX, "%s.new", path) < BESIDE_MAX) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_ARGUMENT, "the checkpoint's name '%.64s...' has more than %d characters", path,
                    BESIDE_MAX - (int)sizeof ".new");
}

cnn_status checkpoint_check(const char *path, cnn_error *err)
{
    char beside[BESIDE_MAX];
    if (name_beside(path, beside, err) != CNN_OK) return err->status;
    FILE *file = fopen(beside, "wb");
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "checkpoint %.300s cannot be written: %s", path, strerror(errno));
    fclose(file);
    remove(beside);
    return CNN_OK;
}

static cnn_status write_file(const char *path, const head *h, const char *data, cnn_error *err)
{
    char beside[BESIDE_MAX];
    if (name_beside(path, beside, err) != CNN_OK) return err->status;
    FILE *file = fopen(beside, "wb");
    bool written = file != NULL && fwrite(h, sizeof *h, 1, file) == 1 &&
                   fwrite(data, 1, (size_t)h->bytes, file) == (size_t)h->bytes && fflush(file) == 0 &&
                   fsync(fileno(file)) == 0;
    int why = errno;
    if (file != NULL && fclose(file) != 0 && written) written = false, why = errno;
    if (written && rename(beside, path) != 0) written = false, why = errno;
    if (written) return CNN_OK;
    remove(beside);
    return CNN_FAIL(err, CNN_IO, "checkpoint %.300s cannot be written: %s", path, strerror(why));
}

cnn_status checkpoint_save(trainer *t, const char *path, const char *setting, int64_t epochs, cnn_error *err)
{
    const pieces p = pieces_of(t);
    head h = {.epochs = epochs, .bytes = (int64_t)p.total};
    char *data = malloc(p.total > 0 ? p.total : 1);
    if (data == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a checkpoint of %zu bytes", p.total);
    memcpy(h.magic, magic, sizeof magic);
    snprintf(h.setting, sizeof h.setting, "%s", setting);
    cnn_status status = cnn_sync(t->session, err);
    size_t used = 0;
    for (int i = 0; i < p.count && status == CNN_OK; used += p.bytes[i++])
        status = cnn_mem_download(t->session, data + used, trainer_at(t, p.at[i]), p.bytes[i], err);
    if (status == CNN_OK) status = cnn_mem_download(t->session, &h.step, trainer_at(t, t->step_at), sizeof h.step, err);
    h.crc = crc_of(data, p.total);
    if (status == CNN_OK) status = write_file(path, &h, data, err);
    free(data);
    return status;
}

/* Where to begin to quote two settings so that what differs is seen: at the part, between commas, where they part. */
static size_t first_difference(const char *a, const char *b)
{
    size_t part = 0;
    for (size_t i = 0; a[i] == b[i] && a[i] != '\0'; i++)
        if (a[i] == ',' && a[i + 1] == ' ' && b[i + 1] == ' ') part = i + 2;
    return part;
}

static cnn_status read_file(FILE *file, const char *path, const char *setting, const pieces *p, head *h, char *data,
                            cnn_error *err)
{
    if (fread(h, sizeof *h, 1, file) != 1 || memcmp(h->magic, magic, sizeof magic) != 0 ||
        memchr(h->setting, '\0', sizeof h->setting) == NULL)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s is no checkpoint of this benchcnn", path);
    const size_t part = first_difference(h->setting, setting);
    if (strcmp(h->setting, setting) != 0 || h->bytes != (int64_t)p->total)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "checkpoint %.100s is of another run (%.150s), not of this one (%.150s): name another file",
                        path, h->setting + part, setting + part);
    if (fread(data, 1, p->total, file) != p->total || fgetc(file) != EOF || crc_of(data, p->total) != h->crc ||
        h->epochs < 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "checkpoint %.300s is damaged: remove it to start over", path);
    return CNN_OK;
}

cnn_status checkpoint_load(trainer *t, const char *path, const char *setting, int64_t *epochs, cnn_error *err)
{
    const pieces p = pieces_of(t);
    head h;
    size_t used = 0;
    *epochs = 0;
    const char *why;
    FILE *file = input_stream(path, &why);
    if (file == NULL && errno == ENOENT) return CNN_OK;
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "checkpoint %.300s: %s", path, why);
    char *data = malloc(p.total > 0 ? p.total : 1);
    cnn_status status = data != NULL ? read_file(file, path, setting, &p, &h, data, err)
                                     : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for a checkpoint");
    fclose(file);
    for (int i = 0; i < p.count && status == CNN_OK; used += p.bytes[i++])
        status = cnn_mem_upload(t->session, trainer_at(t, p.at[i]), data + used, p.bytes[i], err);
    if (status == CNN_OK) status = cnn_mem_upload(t->session, trainer_at(t, t->step_at), &h.step, sizeof h.step, err);
    if (status == CNN_OK) *epochs = h.epochs;
    free(data);
    return status;
}
