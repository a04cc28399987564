/* cmd_eval.c: `benchcnn eval`: how many test images weights from a file have right, which they take for which, and
 * which they are worst at. */
#include "parts.h"

#include <math.h>
#include <stdlib.h>

typedef struct tally {
    int64_t images, correct;
    double loss_sum;
    int classes;
    double *confusion;  /* [target][answer], a column more for none */
    eval_answer *worst; /* by loss, the largest first */
    int n_worst, most;
} tally;

/* NaN is the worst of all. */
static bool worse(const eval_answer *a, const eval_answer *b)
{
    return isnan(b->loss) ? false : isnan(a->loss) || a->loss > b->loss;
}

static void keep_worst(tally *t, const eval_answer *a)
{
    int at = t->n_worst;
    while (at > 0 && worse(a, &t->worst[at - 1])) at--;
    if (at == t->most) return;
    if (t->n_worst < t->most) t->n_worst++;
    for (int i = t->n_worst - 1; i > at; i--) t->worst[i] = t->worst[i - 1];
    t->worst[at] = *a;
}

static void count(tally *t, const eval_answer *a)
{
    t->images++;
    t->correct += a->answer == a->target;
    t->loss_sum += a->loss;
    t->confusion[a->target * (t->classes + 1) + (a->answer < 0 ? t->classes : a->answer)]++;
    keep_worst(t, a);
}

static cnn_status ask_all(eval_run *r, tally *t, cnn_error *err)
{
    cli_progress progress = {.what = NULL};
    cnn_status status = CNN_OK;
    cli_progress_start(&progress, "asking", r->options->quiet);
    for (int64_t i = 0; i < r->n_images && status == CNN_OK; i++) {
        eval_answer answer;
        if (interrupt_seen())
            status = CNN_FAIL(err, CNN_INTERRUPTED, "interrupted after %lld of %lld images", (long long)i,
                              (long long)r->n_images);
        if (status == CNN_OK) status = eval_ask(r, r->images[i], &answer, err);
        if (status == CNN_OK) count(t, &answer);
        cli_progress_show(&progress, (double)i, (double)r->n_images, "images");
    }
    cli_progress_end(&progress);
    return status;
}

/* ---- What came out ---- */

static void print_confusion(const tally *t)
{
    const double *none = t->confusion + t->classes; /* of target 0; each target's stands a row further */
    char text[16];
    int columns = t->classes;
    for (int i = 0; i < t->classes; i++)
        if (none[i * (t->classes + 1)] > 0) columns = t->classes + 1;
    printf("\ntargets, and what the answers to them were\n%8s", "target");
    for (int c = 0; c < columns; c++) printf(" %6s", eval_answer_text(c < t->classes ? c : -1, text));
    putchar('\n');
    for (int i = 0; i < t->classes; i++) {
        printf("%8d", i);
        for (int c = 0; c < columns; c++) printf(" %6.0f", t->confusion[i * (t->classes + 1) + c]);
        putchar('\n');
    }
}

static void print_all(const tally *t)
{
    char answer[16], probability[16];
    printf("%lld images: %lld correct, %lld incorrect, accuracy %.2f %%, mean loss %.5f\n", (long long)t->images,
           (long long)t->correct, (long long)(t->images - t->correct), 100.0 * (double)t->correct / (double)t->images,
           t->loss_sum / (double)t->images);
    print_confusion(t);
    if (t->n_worst == 0) return;
    printf("\nthe %d with the largest loss\n%8s %8s %8s %12s %10s\n", t->n_worst, "image", "target", "answer",
           "probability", "loss");
    for (int i = 0; i < t->n_worst; i++) {
        const eval_answer *a = &t->worst[i];
        snprintf(probability, sizeof probability, isnan(a->probability) ? "-" : "%.2f %%", 100.0 * a->probability);
        printf("%8lld %8d %8s %12s %10.5f\n", (long long)a->index, a->target, eval_answer_text(a->answer, answer),
               probability, a->loss);
    }
}

/* The confusion without the column for none: it is what a target's images lack. */
static cnn_status write_all(const eval_run *r, const tally *t, cnn_error *err)
{
    cnn_record *record = eval_record(r, "eval");
    double *square = calloc((size_t)(t->classes * t->classes) + 1, sizeof *square);
    if (square == NULL) {
        record_free(record);
        return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d classes", t->classes);
    }
    for (int i = 0; i < t->classes * t->classes; i++)
        square[i] = t->confusion[i / t->classes * (t->classes + 1) + i % t->classes];
    record_int(record, "images", t->images);
    record_int(record, "correct", t->correct);
    record_int(record, "incorrect", t->images - t->correct);
    record_real(record, "accuracy", (double)t->correct / (double)t->images);
    record_real(record, "loss", t->loss_sum / (double)t->images);
    record_int(record, "classes", t->classes);
    record_reals(record, "confusion", square, t->classes * t->classes);
    free(square);
    cnn_status status = record_write(r->output.sink, record, err);
    for (int i = 0; i < t->n_worst && status == CNN_OK; i++) status = eval_write_answer(r, &t->worst[i], err);
    return status;
}

static cnn_status evaluate(eval_run *r, cnn_error *err)
{
    tally t = {.classes = (int)r->network->net.classes, .most = (int)r->options->worst};
    t.confusion = calloc((size_t)t.classes * (size_t)(t.classes + 1) + 1, sizeof *t.confusion);
    t.worst = calloc((size_t)t.most + 1, sizeof *t.worst);
    cnn_status status = t.confusion != NULL && t.worst != NULL
                            ? CNN_OK
                            : CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for %d classes", t.classes);
    if (status == CNN_OK) eval_print_head(r);
    if (status == CNN_OK) status = ask_all(r, &t, err);
    if (status == CNN_OK) status = write_all(r, &t, err);
    if (status == CNN_OK && !r->options->json) print_all(&t);
    free(t.confusion);
    free(t.worst);
    return status;
}

cnn_status args_eval(const cli_options *options, cnn_error *err) { return eval_read_options(options, err); }

int cmd_eval(const cli_options *options, cnn_error *err) { return eval_command(options, NULL, evaluate, err); }
