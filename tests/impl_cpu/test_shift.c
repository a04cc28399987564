/* test_shift.c: batches of moved images: cnn_gather_row() and impl_cpu's gather against shift_unit.h's way of moving.
 */
#include "tests/shift_unit.h"

#include "cpu_ops.h"
#include "harness/cpu/gather.h"

/* A batch to be gathered: all inputs in memory of exactly their size (up to its end: the shifts begin at an odd pair of
 * bytes, index at an odd int32_t), the outputs between guards. */
enum { ROWS = 7, GUARD = 64, GUARD_BYTE = 0xA5, POISON = 0xff };
typedef struct batch {
    cnn_gather_args args; /* of all `count` images, without cursor */
    char *rows, *index, *shifts, *y, *want;
    int32_t *labels, *y_labels, *want_labels;
    int64_t row;   /* bytes of a row */
    size_t y_size; /* with its guards */
} batch;

static void *take(size_t bytes)
{
    void *memory = malloc(bytes);
    assert_non_null(memory);
    return memory;
}

static batch open_batch(cnn_type type, int64_t c, int64_t h, int64_t w, int64_t count, const cnn_shift *shifts)
{
    batch b = {.args = {.dtype = type.dtype, .count = count}};
    const size_t n = (size_t)count;
    set_picture(&b.args, type.layout, c, h, w);
    b.row = b.args.row_elems * elem_bytes(type.dtype);
    b.rows = take((size_t)(ROWS * b.row));
    b.index = take(n * sizeof(int32_t) + sizeof(int32_t));
    b.shifts = take(n * sizeof(cnn_shift) + sizeof(int16_t));
    b.y_size = (size_t)(count * b.row) + 2 * GUARD;
    b.y = take(b.y_size);
    b.want = take((size_t)(count * b.row));
    b.labels = take(ROWS * sizeof(int32_t));
    b.y_labels = take(n * sizeof(int32_t));
    b.want_labels = take(n * sizeof(int32_t));
    random_bytes(b.rows, ROWS * b.row, (uint64_t)(c * 100 + h * 10 + w));
    for (int32_t i = 0; i < ROWS; i++) b.labels[i] = 1000 * i - 3;
    for (int64_t i = 0; i < count; i++) {
        const int32_t from = (int32_t)(i < 2 ? ROWS - 1 : i * 5 % ROWS); /* the last row at once, and twice */
        memcpy(b.index + (i + 1) * (int64_t)sizeof from, &from, sizeof from);
        memcpy(b.shifts + sizeof(int16_t) + i * (int64_t)sizeof *shifts, &shifts[i], sizeof *shifts);
        move_row(&b.args, b.rows + from * b.row, shifts[i].dy, shifts[i].dx, b.want + i * b.row);
        b.want_labels[i] = b.labels[from];
    }
    b.args.rows = b.rows;
    b.args.labels = b.labels;
    b.args.index = (const int32_t *)(const void *)(b.index + sizeof(int32_t));
    b.args.shifts = (const cnn_shift *)(const void *)(b.shifts + sizeof(int16_t));
    b.args.y = b.y + GUARD;
    b.args.y_labels = b.y_labels;
    return b;
}

static void close_batch(batch *b)
{
    free(b->rows), free(b->index), free(b->shifts), free(b->y), free(b->want);
    free(b->labels), free(b->y_labels), free(b->want_labels);
}

static void poison(const batch *b)
{
    memset(b->y, GUARD_BYTE, b->y_size);
    memset(b->y + GUARD, POISON, b->y_size - 2 * GUARD);
    memset(b->y_labels, POISON, (size_t)b->args.count * sizeof(int32_t));
}

static bool all_are(const char *bytes, size_t count, int byte)
{
    return count == 0 || ((unsigned char)bytes[0] == byte && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* y holds images [first, first + count) of the batch, then poison to its end. */
static void expect(const batch *b, int64_t first, int64_t count, bool labelled)
{
    const int32_t poisoned = -1;
    for (int64_t i = 0; i < count; i++) {
        const cnn_shift by = b->args.shifts[first + i];
        if (memcmp(b->y + GUARD + i * b->row, b->want + (first + i) * b->row, (size_t)b->row) != 0)
            fail_msg("image %lld of %lld x %lld x %lld x %lld, moved by %d, %d, is another", (long long)(first + i),
                     (long long)b->args.planes, (long long)b->args.h, (long long)b->args.w,
                     (long long)b->args.pixel_elems, by.dy, by.dx);
        assert_int_equal(b->y_labels[i], labelled ? b->want_labels[first + i] : poisoned);
    }
    for (int64_t i = count; i < b->args.count; i++) assert_int_equal(b->y_labels[i], poisoned);
    const size_t end = b->y_size - GUARD, written = GUARD + (size_t)(count * b->row);
    if (!all_are(b->y, GUARD, GUARD_BYTE) || !all_are(b->y + end, GUARD, GUARD_BYTE) ||
        !all_are(b->y + written, end - written, POISON))
        fail_msg("beside a batch of %lld bytes something was written", (long long)(count * b->row));
}

static void gathered(cnn_context *context, const cnn_gather_args *args)
{
    cnn_error err = {.message = ""};
    if (cpu_gather(context, args, &err) != CNN_OK) fail_msg("%s", err.message);
}

/* All at once, with labels and without; then by the cursor, in three calls and from the middle to the end. */
static void check_context(cnn_context *context, const batch *b)
{
    cnn_gather_args some = b->args, bare = b->args;
    int64_t cursor = 0;
    poison(b);
    gathered(context, &b->args);
    expect(b, 0, b->args.count, true);
    bare.y_labels = NULL;
    bare.labels = NULL;
    poison(b);
    gathered(context, &bare);
    expect(b, 0, b->args.count, false);

    some.cursor = &cursor;
    some.count = b->args.count / 3;
    for (int64_t call = 0; call < 3; call++) {
        poison(b);
        gathered(context, &some);
        expect(b, call * some.count, some.count, true);
        assert_int_equal(cursor, (call + 1) * some.count);
    }
    cursor = b->args.count / 2;
    some.count = b->args.count - cursor;
    poison(b);
    gathered(context, &some);
    expect(b, b->args.count / 2, some.count, true);
    assert_int_equal(cursor, b->args.count);
}

/* One row at a time, the last first: its image and its label, nothing else; the cursor is not looked at. */
static void check_rows(const batch *b)
{
    int64_t cursor = 5;
    cnn_gather_args args = b->args;
    for (int with_cursor = 0; with_cursor <= 1; with_cursor++) {
        args.cursor = with_cursor ? &cursor : NULL;
        poison(b);
        cnn_gather_row(&args, 0);
        expect(b, 0, 1, true);
        for (int64_t i = args.count - 1; i > 0; i--) cnn_gather_row(&args, i);
        expect(b, 0, args.count, true);
        assert_int_equal(cursor, 5);
    }
    args.y_labels = NULL;
    args.labels = NULL;
    poison(b);
    for (int64_t i = 0; i < args.count; i++) cnn_gather_row(&args, i);
    expect(b, 0, args.count, false);
}

static void check_batch(void **state, batch *b)
{
    check_rows(b);
    EACH_CONTEXT(v) check_context(CONTEXT(v), b);
    close_batch(b);
}

static void images_are_moved(void **state)
{
    static const int64_t pictures[][3] = {{1, 28, 28}, {3, 5, 7}, {2, 7, 5}, {1, 1, 1}, {1, 1, 9},
                                          {1, 9, 1},   {4, 3, 8}, {5, 2, 1}, {8, 1, 3}, {3, 32, 20}};
    cnn_shift shifts[ALL_SHIFTS];
    EACH_TYPE(dtype, layout)
    for (size_t p = 0; p < sizeof pictures / sizeof pictures[0]; p++) {
        const int64_t c = pictures[p][0], h = pictures[p][1], w = pictures[p][2];
        all_shifts(h, w, shifts);
        batch b = open_batch(type_of(dtype, layout), c, h, w, ALL_SHIFTS, shifts);
        check_batch(state, &b);
    }
}

/* Pictures that the farthest shift does not empty, and the opposite of which no int16_t holds. */
static void wide_images_are_moved(void **state)
{
    static const cnn_shift shifts[] = {{0, 0},         {0, INT16_MIN}, {0, INT16_MAX},         {INT16_MIN, 0},
                                       {INT16_MAX, 0}, {1, INT16_MIN}, {INT16_MIN, INT16_MIN}, {-1, -1}};
    EACH_TYPE(dtype, layout)
    for (int tall = 0; tall <= 1; tall++) {
        batch b = open_batch(type_of(dtype, layout), 1, tall ? 40001 : 1, tall ? 1 : 40001, 8, shifts);
        check_batch(state, &b);
    }
}

/* The sizes of pictures are for moving them: without shifts, rows are rows, whatever stands there. */
static void without_shifts_sizes_mean_nothing(void **state)
{
    static const cnn_shift none[12];
    static const int64_t wrong[] = {0, -1, 1, INT64_MAX, INT64_MIN};
    EACH_TYPE(dtype, layout)
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        batch b = open_batch(type_of(dtype, layout), 3, 5, 4, 12, none), plain = b;
        plain.args.shifts = NULL;
        plain.args.planes = plain.args.h = plain.args.w = plain.args.pixel_elems = wrong[i];
        poison(&b);
        for (int64_t k = 0; k < 12; k++) cnn_gather_row(&plain.args, k);
        expect(&b, 0, 12, true);
        EACH_CONTEXT(v)
        {
            poison(&b);
            gathered(CONTEXT(v), &plain.args);
            expect(&b, 0, 12, true);
        }
        close_batch(&b);
    }
}

/* Channel k, row r, column s of a picture; different for each, and never zero. */
static double pixel(int64_t c, int64_t h, int64_t w, int64_t k, int64_t r, int64_t s)
{
    return k < c && r >= 0 && r < h && s >= 0 && s < w ? (double)(1 + (k * h + r) * w + s) : 0;
}

/* The same pictures in either layout and type, by their coordinates. */
static void layouts_give_the_same_pictures(void **state)
{
    enum { C = 3, H = 4, W = 6, SIZE = C * H * W };
    const int32_t index[ALL_SHIFTS] = {0};
    cnn_shift shifts[ALL_SHIFTS];
    all_shifts(H, W, shifts);
    EACH_TYPE(dtype, layout)
    {
        vec x = vec_new(dtype, SIZE), y = vec_new(dtype, (int64_t)ALL_SHIFTS * SIZE);
        cnn_gather_args args = {
            .dtype = dtype, .count = ALL_SHIFTS, .rows = x.data, .index = index, .y = y.data, .shifts = shifts};
        set_picture(&args, layout, C, H, W);
        for (int64_t k = 0; k < C; k++)
            for (int64_t r = 0; r < H; r++)
                for (int64_t s = 0; s < W; s++)
                    vec_set(&x, cnn_offset(layout, C, H, W, 0, k, r, s), pixel(C, H, W, k, r, s));
        vec_poison(&y);
        gathered(CONTEXT(0), &args);
        for (int64_t i = 0; i < ALL_SHIFTS; i++)
            for (int64_t k = 0; k < C; k++)
                for (int64_t r = 0; r < H; r++)
                    for (int64_t s = 0; s < W; s++)
                        assert_true(vec_get(&y, cnn_offset(layout, C, H, W, i, k, r, s)) ==
                                    pixel(C, H, W, k, r - shifts[i].dy, s - shifts[i].dx));
        vec_free(&x), vec_free(&y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_moved),
        cmocka_unit_test(wide_images_are_moved),
        cmocka_unit_test(without_shifts_sizes_mean_nothing),
        cmocka_unit_test(layouts_give_the_same_pictures),
    };
    return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
