/* checkpoint.c: one file: a head of fixed size, then the parameters and the optimizer's state as they stand in memory.
 */
#include "trainer.h"

#include "harness/base/input.h"
#include "harness/base/replace.h"
#include "trainer_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char magic[8] = "cnnckpt3";

typedef struct head {
    char magic[8], setting[CHECKPOINT_SETTING_MAX];
    checkpoint_progress progress;
    int64_t step, bytes; /* bytes: of what follows */
    uint64_t crc;        /* of what follows */
} head;

/* What follows: the state's array, but for the gradients behind it. */
static size_t kept_bytes(const trainer *t)
{
    return trainer_param_bytes(t) + (size_t)cnn_optimizer_states(t->optimizer.kind) * trainer_trained_bytes(t) +
           trainer_scaling_bytes(t);
}

cnn_status checkpoint_check(const char *path, cnn_error *err) { return cnn_replace_check("checkpoint", path, err); }

cnn_status checkpoint_save(trainer *t, const char *path, const char *setting, const checkpoint_progress *progress,
                           cnn_error *err)
{
    trainer_state state;
    cnn_status status = trainer_state_make(t, &state, err);
    if (status != CNN_OK) return status;
    status = trainer_state_get(t, &state, err);
    const size_t bytes = kept_bytes(t);
    head h = {.progress = *progress, .step = state.own.step, .bytes = (int64_t)bytes};
    h.crc = crc32_z(0, state.own.params, bytes);
    memcpy(h.magic, magic, sizeof magic);
    snprintf(h.setting, sizeof h.setting, "%s", setting);
    const file_piece pieces[] = {{&h, sizeof h}, {state.own.params, bytes}};
    if (status == CNN_OK && rank_number(t->params.ranks) == 0)
        status = cnn_replace_file("checkpoint", path, pieces, 2, err);
    trainer_state_free(&state);
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

static cnn_status read_file(FILE *file, const char *path, const char *setting, void *state, size_t bytes, head *h,
                            cnn_error *err)
{
    if (fread(h, sizeof *h, 1, file) != 1 || memcmp(h->magic, magic, sizeof magic) != 0 ||
        memchr(h->setting, '\0', sizeof h->setting) == NULL)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "%.300s is no checkpoint of this benchcnn", path);
    const size_t part = first_difference(h->setting, setting);
    if (strcmp(h->setting, setting) != 0 || h->bytes != (int64_t)bytes)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "checkpoint %.100s is of another run (%.150s), not of this one (%.150s): name another file",
                        path, h->setting + part, setting + part);
    const bool whole = fread(state, 1, bytes, file) == bytes && fgetc(file) == EOF;
    if (!whole || crc32_z(0, state, bytes) != h->crc || h->progress.epochs < 0)
        return CNN_FAIL(err, CNN_BAD_FORMAT, "checkpoint %.300s is damaged: remove it to start over", path);
    return CNN_OK;
}

cnn_status checkpoint_load(trainer *t, const char *path, const char *setting, checkpoint_progress *progress,
                           cnn_error *err)
{
    trainer_state state;
    head h;
    const char *why;
    *progress = (checkpoint_progress){.epochs = 0};
    FILE *file = input_stream(path, &why);
    if (file == NULL && errno == ENOENT) return CNN_OK;
    if (file == NULL) return CNN_FAIL(err, CNN_IO, "checkpoint %.300s: %s", path, why);
    cnn_status status = trainer_state_make(t, &state, err);
    if (status == CNN_OK) status = read_file(file, path, setting, state.own.params, kept_bytes(t), &h, err);
    fclose(file);
    if (status == CNN_OK) {
        state.own.step = h.step;
        status = trainer_state_put(t, &state, err);
    }
    if (status == CNN_OK) *progress = h.progress;
    trainer_state_free(&state);
    return status;
}
