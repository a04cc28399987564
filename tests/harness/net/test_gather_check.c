/* test_gather_check.c: an implementation whose gather gives other images or labels than cnn_gather_row() does not get
 * to train: trainer_start() says so. */
#include "train_shift_unit.h"

#include <stdlib.h>

typedef enum flaw {
    NONE, /* slow, but right */
    IGNORES_SHIFTS,
    IGNORES_DY,
    IGNORES_DX,
    OTHER_WAY,
    SWAPS_DY_AND_DX,
    FIRST_SHIFT_FOR_ALL,
    LEAVES_WHAT_WAS_THERE,
    IN_ORDER, /* below: with and without shifts */
    SAME_IMAGE_FOR_ALL,
    NEXT_LABEL,
    NO_LABELS,
    LAST_ROW_MISSING,
    LAST_BYTE_WRONG,
    FLAWS
} flaw;

static flaw present; /* a gather has no user data */

/* A moved row on top of what stands in y. */
static void move_over(const cnn_gather_args *a, const char *row, cnn_shift by, char *y)
{
    const int64_t bytes = a->row_elems * elem_bytes(a->dtype);
    char *moved = malloc((size_t)bytes), *mask = malloc((size_t)bytes), *ones = malloc((size_t)bytes);
    assert_true(moved != NULL && mask != NULL && ones != NULL);
    memset(ones, 1, (size_t)bytes);
    move_row(a, row, by.dy, by.dx, moved);
    move_row(a, ones, by.dy, by.dx, mask);
    for (int64_t i = 0; i < bytes; i++)
        if (mask[i] || present != LEAVES_WHAT_WAS_THERE) y[i] = moved[i];
    free(moved), free(mask), free(ones);
}

static cnn_shift flawed_shift(const cnn_shift *shifts, int64_t i)
{
    const cnn_shift by = shifts[present == FIRST_SHIFT_FOR_ALL ? 0 : i];
    switch (present) {
    case IGNORES_SHIFTS:
        return (cnn_shift){0, 0};
    case IGNORES_DY:
        return (cnn_shift){0, by.dx};
    case IGNORES_DX:
        return (cnn_shift){by.dy, 0};
    case OTHER_WAY:
        return (cnn_shift){(int16_t)-by.dy, (int16_t)-by.dx};
    case SWAPS_DY_AND_DX:
        return (cnn_shift){by.dx, by.dy};
    default:
        return by;
    }
}

static cnn_status own_gather(cnn_context *context, const cnn_gather_args *a, cnn_error *err)
{
    const int64_t first = a->cursor != NULL ? *a->cursor : 0, bytes = a->row_elems * elem_bytes(a->dtype);
    for (int64_t i = 0; i < a->count; i++) {
        const int32_t from = present == IN_ORDER             ? (int32_t)i
                             : present == SAME_IMAGE_FOR_ALL ? a->index[first]
                                                             : a->index[first + i];
        const char *row = (const char *)a->rows + from * bytes;
        char *y = (char *)a->y + i * bytes;
        if (present == LAST_ROW_MISSING && i == a->count - 1) break;
        if (a->shifts != NULL)
            move_over(a, row, flawed_shift(a->shifts + first, i), y);
        else
            memcpy(y, row, (size_t)bytes);
        if (present == LAST_BYTE_WRONG && i == a->count - 1) y[bytes - 1] = (char)~y[bytes - 1];
        if (a->y_labels != NULL && present != NO_LABELS)
            a->y_labels[i] = present == NEXT_LABEL ? (a->labels[from] + 1) % 10 : a->labels[from];
    }
    if (a->cursor != NULL) *a->cursor += a->count;
    return CNN_OK;
}

/* trainer_open(), which must succeed, and trainer_start() on impl_cpu with the flaw in its gather; an epoch if it can
 * be. */
static cnn_status start(flaw f, int64_t shift, int64_t batch, uint64_t seed, const dataset *data, cnn_error *why)
{
    static const char net[] = "input 3 9 8\nfc 10\nsoftmax_cross_entropy\n";
    cnn_impl impl = *cnn_impl_cpu();
    cnn_operations ops = *impl.ops;
    impl.ops = &ops;
    ops.gather = own_gather;
    cnn_session session = session_of(&impl);
    cnn_network *n = build_net(net, seed % 2 ? CNN_F64 : CNN_F32, seed % 3 ? CNN_NCHW : CNN_NHWC, batch);
    trainer_params params = shifting(shift);
    trainer *t = NULL;
    trainer_result result;
    params.seed = seed;
    present = f;
    OK(trainer_open(&session, n, data, &params, &t, err));
    const cnn_status status = trainer_start(t, why);
    if (status == CNN_OK) OK(trainer_epoch(t, 0, NULL, &result, err));
    trainer_close(t);
    cnn_net_free(n);
    cnn_session_close(&session);
    return status;
}

static void expect_refused(flaw f, int64_t shift, int64_t batch, uint64_t seed, const dataset *data)
{
    cnn_error why = {.message = ""};
    if (start(f, shift, batch, seed, data, &why) == CNN_OK)
        fail_msg("flaw %d of a gather is not seen: shift %lld, batch %lld, seed %llu", f, (long long)shift,
                 (long long)batch, (unsigned long long)seed);
    assert_message(why, "gather");
}

static void a_right_gather_trains(void **state)
{
    dataset data = small_data(41, 5, 3, 9, 8);
    for (int64_t shift = 0; shift < 8; shift += 7)
        for (int64_t batch = 1; batch <= 41; batch += 20)
            for (uint64_t seed = 0; seed < 6; seed++) OK(start(NONE, shift, batch, seed, &data, err));
    dataset_free(&data);
}

static void flaws_are_seen(void **state)
{
    dataset data = small_data(41, 5, 3, 9, 8);
    for (flaw f = IGNORES_SHIFTS; f < FLAWS; f++)
        for (uint64_t seed = 0; seed < 6; seed++) expect_refused(f, 3, 20, seed, &data);
    for (flaw f = IN_ORDER; f < FLAWS; f++)
        for (uint64_t seed = 0; seed < 6; seed++) expect_refused(f, 0, 20, seed, &data);
    dataset_free(&data);
}

/* Whatever the seed draws: a batch of one image may not be one that happens to stay where it is. */
static void small_batches_and_shifts(void **state)
{
    dataset data = small_data(41, 5, 3, 9, 8);
    for (uint64_t seed = 0; seed < 40; seed++) {
        expect_refused(IGNORES_SHIFTS, 1, 1, seed, &data);
        expect_refused(NEXT_LABEL, 1, 1, seed, &data);
        expect_refused(NO_LABELS, 0, 1, seed, &data);
    }
    dataset_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_gather_trains),
        cmocka_unit_test(flaws_are_seen),
        cmocka_unit_test(small_batches_and_shifts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
