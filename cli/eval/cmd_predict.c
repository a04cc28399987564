/* cmd_predict.c: `benchcnn predict`: test images as text, and what the network takes them for, as in table 4.1 of the
 * thesis. */
#include "parts.h"

#include <string.h>

/* From empty to full ink. A letter stands for two rows of pixels: it is about twice as high as it is wide. */
static const char inks[] = " .:-=+*#%@";
enum { ROWS_A_LETTER = 2, WIDE_MOST = 64 };

/* The mean of the pixels behind a letter, over channels and rows. */
static char ink_at(const dataset *d, int64_t index, int64_t row, int64_t column)
{
    const uint8_t *image = d->test.images + index * d->c * d->h * d->w;
    int64_t sum = 0, count = 0;
    for (int64_t c = 0; c < d->c; c++)
        for (int64_t y = row; y < row + ROWS_A_LETTER && y < d->h; y++, count++)
            sum += image[(c * d->h + y) * d->w + column];
    return inks[sum * (int64_t)(sizeof inks - 1) / (count * 256)];
}

/* What stands beside line `line` of the picture. */
static void put_fact(const eval_answer *a, int64_t line)
{
    char answer[16];
    if (line == 1) printf("  image %lld", (long long)a->index);
    if (line == 2) printf("  target %d", a->target);
    if (line == 3)
        printf("  answer %s%s", eval_answer_text(a->answer, answer), a->answer == a->target ? "" : ", wrong");
    if (line == 4 && a->probability >= 0.0) printf("  probability %.2f %%", 100.0 * a->probability);
    if (line == 5) printf("  loss %.5f", a->loss);
}

static void draw(const dataset *d, const eval_answer *a)
{
    enum { FACT_LINES = 6 };
    const int64_t lines = (d->h + ROWS_A_LETTER - 1) / ROWS_A_LETTER, wide = d->w < WIDE_MOST ? d->w : WIDE_MOST;
    putchar('\n');
    for (int64_t line = 0; line < (lines > FACT_LINES ? lines : FACT_LINES); line++) {
        for (int64_t x = 0; x < wide; x++) putchar(line < lines ? ink_at(d, a->index, line * ROWS_A_LETTER, x) : ' ');
        put_fact(a, line);
        putchar('\n');
    }
}

static cnn_status predict(eval_run *r, cnn_error *err)
{
    int64_t correct = 0;
    cnn_status status = CNN_OK;
    eval_print_head(r);
    for (int64_t i = 0; i < r->n_images && status == CNN_OK; i++) {
        eval_answer answer;
        if (interrupt_seen()) return CNN_FAIL(err, CNN_INTERRUPTED, "interrupted");
        status = eval_ask(r, r->images[i], &answer, err);
        if (status == CNN_OK) status = eval_write_answer(r, &answer, err);
        if (status == CNN_OK && !r->options->json) draw(&r->data, &answer);
        correct += answer.answer == answer.target;
    }
    if (status == CNN_OK && !r->options->json)
        printf("\n%lld of %lld images correct\n", (long long)correct, (long long)r->n_images);
    return status;
}

cnn_status args_predict(const cli_options *options, cnn_error *err) { return eval_read_options(options, err); }

int cmd_predict(const cli_options *options, cnn_error *err) { return eval_command(options, "0..9", predict, err); }
