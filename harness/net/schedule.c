/* schedule.c: see schedule.h. */
#include "schedule.h"

#include "harness/base/text.h"
#include "harness/problem/names.h"
#include "harness/problem/op.h"

#include <math.h>
#include <string.h>

enum { EPOCHS_MOST = 1000000 };

static const char *const names[] = {
#define NAME(id, text) text,
    RATE_SCHEDULE_LIST(NAME)
#undef NAME
};
static const cnn_name_set set = {"schedule", names, RATE_SCHEDULE_COUNT};

static bool lasts(const rate_schedule *s) { return s->kind == RATE_COSINE || s->kind == RATE_LINEAR; }

/* A number too large to be meant is refused as such: rates are computed in double. */
static cnn_status check(const char *text, const rate_schedule *s, bool every, cnn_error *err)
{
    const bool step = s->kind == RATE_STEP;
    if (step && (!every || s->every < 1))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--schedule %.64s: step needs every=EPOCHS, at least 1: step,every=10",
                        text);
    if (!step && every)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--schedule %.64s: every and by belong to step alone", text);
    if (!(s->by > 0.0 && s->by <= 1.0))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--schedule %.64s: by is %g, expected above 0 and up to 1", text, s->by);
    if (s->every > EPOCHS_MOST || s->warmup > EPOCHS_MOST || s->epochs > EPOCHS_MOST)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--schedule %.64s: more than %d epochs", text, EPOCHS_MOST);
    if (lasts(s) && s->epochs == 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--schedule %.64s: %s falls over the epochs of the training: give --epochs N, or epochs=N here",
                        text, names[s->kind]);
    if (lasts(s) && s->warmup >= s->epochs)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--schedule %.64s: a warm-up of %llu leaves nothing of %llu epochs",
                        text, (unsigned long long)s->warmup, (unsigned long long)s->epochs);
    return CNN_OK;
}

cnn_status rate_schedule_parse(const char *text, int64_t epochs, rate_schedule *s, cnn_error *err)
{
    char copy[RATE_SCHEDULE_TEXT], *rest = copy;
    double by = NAN;
    uint64_t every = UINT64_MAX, own_epochs = UINT64_MAX;
    *s = (rate_schedule){.by = 0.1};
    if (strlen(text) >= sizeof copy) return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--schedule '%.64s...' is too long", text);
    strcpy(copy, text);
    const int kind = cnn_name_find(&set, strsep(&rest, ","), err);
    if (kind < 0) return err->status;
    s->kind = (rate_schedule_kind)kind;
    const text_option options[] = {
        {"every", NULL, &every}, {"by", &by, NULL}, {"warmup", NULL, &s->warmup}, {"epochs", NULL, &own_epochs}};
    const cnn_status status = text_options_parse("schedule option", rest, options, 4, err);
    if (status != CNN_OK) return status;
    const bool of_step = every != UINT64_MAX || !isnan(by);
    if (own_epochs != UINT64_MAX && (!lasts(s) || own_epochs == 0))
        return CNN_FAIL(err, CNN_BAD_ARGUMENT, "--schedule %.64s: epochs=N, at least 1, belongs to cosine and linear",
                        text);
    if (of_step) s->every = every != UINT64_MAX ? every : 0;
    if (!isnan(by)) s->by = by;
    if (lasts(s)) s->epochs = own_epochs != UINT64_MAX ? own_epochs : (uint64_t)epochs;
    return check(text, s, of_step, err);
}

void rate_schedule_format(const rate_schedule *s, char text[RATE_SCHEDULE_TEXT])
{
    char by[TEXT_REAL_MAX];
    text[0] = '\0';
    if (s->kind == RATE_CONSTANT && s->warmup == 0) return;
    snprintf(text, RATE_SCHEDULE_TEXT, "%s", names[s->kind]);
    if (s->kind == RATE_STEP)
        cnn_append(text, RATE_SCHEDULE_TEXT, ",every=%llu,by=%s", (unsigned long long)s->every, text_real(s->by, by));
    if (lasts(s)) cnn_append(text, RATE_SCHEDULE_TEXT, ",epochs=%llu", (unsigned long long)s->epochs);
    if (s->warmup > 0) cnn_append(text, RATE_SCHEDULE_TEXT, ",warmup=%llu", (unsigned long long)s->warmup);
}

static double factor(const rate_schedule *s, int64_t epoch)
{
    static const double pi = 3.14159265358979323846;
    const int64_t warmup = (int64_t)s->warmup;
    if (epoch < warmup) return (double)(epoch + 1) / (double)(warmup + 1);
    const double n = (double)((int64_t)s->epochs - warmup);
    const double e = (double)(epoch - warmup), falling = lasts(s) ? fmin(e, n - 1) / n : 0.0;
    if (s->kind == RATE_STEP) return pow(s->by, floor(e / (double)s->every));
    if (s->kind == RATE_COSINE) return (1.0 + cos(pi * falling)) / 2.0;
    return 1.0 - falling; /* a constant one falls by nothing */
}

double rate_at(const rate_schedule *s, double lr, int64_t epoch) { return lr * factor(s, epoch); }
