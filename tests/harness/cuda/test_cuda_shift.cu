/* Batches of moved images, gathered on the device: against the host's cnn_gather_row(), and that against shift_unit.h's
 * way of moving. */
#include "cuda_device.h"
#include "tests/shift_unit.h"

extern "C" {
#include "harness/cpu/gather.h"
}

/* A picture and how it is gathered: `calls` batches of `count` images (or one of them, without cursor), on so many
 * threads a block; elements before the rows and before the batch take either off the alignment of wide copies. */
struct picture {
    cnn_layout layout;
    int64_t c, h, w, count;
    int calls;
    int64_t threads, blocks;
    size_t rows_off, y_off;
    bool labelled;
};

enum { BEHIND = 4 }; /* elements behind a batch, which nothing may touch */

/* All shifts in turn, and then random ones of up to two pixels, which leave most of a picture where it is. */
static std::vector<cnn_shift> shifts_for(const picture &p, size_t count)
{
    std::vector<cnn_shift> shifts(count < ALL_SHIFTS ? static_cast<size_t>(ALL_SHIFTS) : count);
    cnn_rng rng = rng_stream(5, 5);
    all_shifts(p.h, p.w, shifts.data());
    for (size_t i = ALL_SHIFTS; i < count; i++)
        shifts[i] = {static_cast<int16_t>(rng_int(&rng, -2, 2)), static_cast<int16_t>(rng_int(&rng, -2, 2))};
    shifts.resize(count);
    return shifts;
}

template <typename T> struct images {
    std::vector<T> rows, y;
    std::vector<int32_t> labels, index, y_labels;
    std::vector<cnn_shift> shifts;
    cnn_gather_args host, device; /* the same batch in either memory; of all images on the host, of one call there */
    size_t width;
};

template <typename T> static void make_images(device *d, const picture &p, bool cursor, images<T> *m)
{
    const size_t rows = 37, n = static_cast<size_t>(p.count), all = n * static_cast<size_t>(p.calls);
    cnn_gather_args a = {};
    set_picture(&a, p.layout, p.c, p.h, p.w);
    a.dtype = sizeof(T) == 4 ? CNN_F32 : CNN_F64;
    m->width = static_cast<size_t>(a.row_elems);
    m->rows.resize(rows * m->width + p.rows_off);
    random_bytes(m->rows.data(), static_cast<int64_t>(m->rows.size() * sizeof(T)), 3);
    m->y.resize(all * m->width);
    m->y_labels.resize(all);
    m->shifts = shifts_for(p, all);
    for (size_t i = 0; i < rows; i++) m->labels.push_back(static_cast<int32_t>(1000 + i));
    for (size_t i = 0; i < all; i++) m->index.push_back(static_cast<int32_t>(i == 1 ? rows - 1 : i * 11 % rows));

    m->host = m->device = a;
    m->host.count = static_cast<int64_t>(all);
    m->host.rows = m->rows.data() + p.rows_off;
    m->host.labels = m->labels.data();
    m->host.index = m->index.data();
    m->host.shifts = m->shifts.data();
    m->host.y = m->y.data();
    m->host.y_labels = m->y_labels.data();

    m->device.count = p.count;
    m->device.rows = put(d, m->rows) + p.rows_off;
    m->device.labels = put(d, m->labels);
    std::vector<int32_t> index = m->index; /* behind another, as in the middle of an order */
    std::vector<cnn_shift> shifts = m->shifts;
    index.insert(index.begin(), 1);
    shifts.insert(shifts.begin(), {1, 1});
    m->device.index = put(d, index) + 1;
    m->device.shifts = put(d, shifts) + 1;
    m->device.y = put(d, std::vector<T>(n * m->width + p.y_off + BEHIND)) + p.y_off;
    if (p.labelled) m->device.y_labels = put(d, std::vector<int32_t>(n));
    if (cursor) m->device.cursor = put(d, std::vector<int64_t>(1, 0));
}

/* On the host, row by row; each is what shift_unit.h moves. */
template <typename T> static void gather_on_host(images<T> *m)
{
    std::vector<T> moved(m->width);
    for (int64_t i = 0; i < m->host.count; i++) {
        const size_t at = static_cast<size_t>(i), from = static_cast<size_t>(m->index[at]) * m->width;
        cnn_gather_row(&m->host, i);
        move_row(&m->host, static_cast<const T *>(m->host.rows) + from, m->shifts[at].dy, m->shifts[at].dx,
                 moved.data());
        assert_memory_equal(&m->y[at * m->width], moved.data(), m->width * sizeof(T));
        assert_int_equal(m->y_labels[at], m->labels[static_cast<size_t>(m->index[at])]);
    }
}

template <typename T> static void expect_call(const device &d, const picture &p, const images<T> &m, size_t first)
{
    const size_t n = static_cast<size_t>(p.count), row = m.width * sizeof(T);
    const std::vector<T> y = get(d, static_cast<const T *>(m.device.y), n * m.width + BEHIND);
    for (size_t i = 0; i < n; i++)
        if (memcmp(&y[i * m.width], &m.y[(first + i) * m.width], row) != 0)
            fail_msg("image %zu of %lld x %lld x %lld, moved by %d, %d, is another", first + i,
                     static_cast<long long>(p.c), static_cast<long long>(p.h), static_cast<long long>(p.w),
                     m.shifts[first + i].dy, m.shifts[first + i].dx);
    const std::vector<unsigned char> poison(BEHIND * sizeof(T), 0xff);
    assert_memory_equal(&y[n * m.width], poison.data(), poison.size());
    if (!p.labelled) return;
    const std::vector<int32_t> labels = get(d, m.device.y_labels, n);
    assert_memory_equal(labels.data(), &m.y_labels[first], n * sizeof(int32_t));
}

/* Call after call: from the start without a cursor, onwards with one; `captured`: as replays of one captured call. */
template <typename T> static void gathers(const picture &p, bool cursor, bool captured)
{
    device d = {};
    cnn_error err = {};
    cnn_graph *graph = NULL;
    images<T> m = {};
    open_device(&d, p.threads, p.blocks);
    make_images(&d, p, cursor, &m);
    gather_on_host(&m);
    if (captured) {
        assert_int_equal(cuda_capture.begin(base(d), &err), CNN_OK);
        assert_int_equal(cuda_gather(base(d), &m.device, &err), CNN_OK);
        assert_int_equal(cuda_capture.end(base(d), &graph, &err), CNN_OK);
    }
    const size_t n = static_cast<size_t>(p.count), bytes = (n * m.width + BEHIND) * sizeof(T);
    const std::vector<unsigned char> poison(bytes, 0xff);
    for (int call = 0; call < p.calls; call++) {
        assert_int_equal(cuda_memory.upload(base(d), m.device.y, poison.data(), bytes, &err), CNN_OK);
        assert_int_equal(captured ? cuda_capture.run(base(d), graph, &err) : cuda_gather(base(d), &m.device, &err),
                         CNN_OK);
        expect_call(d, p, m, cursor ? static_cast<size_t>(call) * n : 0);
        if (cursor) assert_int_equal(get(d, m.device.cursor, 1)[0], (call + 1) * p.count);
    }
    if (captured) cuda_capture.free(base(d), graph);
    close_device(&d);
}

static void gathers_all_ways(const picture &p)
{
    gathers<float>(p, false, false);
    gathers<float>(p, true, false);
    gathers<float>(p, true, true);
    gathers<double>(p, true, false);
    gathers<double>(p, false, true);
}

/* All shifts in one batch or over several; blocks of fewer threads than a row has packs, and of more. */
static void images_are_moved(void **)
{
    const cnn_layout layouts[] = {CNN_NCHW, CNN_NHWC};
    for (const cnn_layout layout : layouts) {
        gathers_all_ways({layout, 1, 28, 28, ALL_SHIFTS, 1, 256, 8, 0, 0, true});
        gathers_all_ways({layout, 3, 8, 12, ALL_SHIFTS / 11, 11, 32, 1, 0, 0, true});
        gathers_all_ways({layout, 4, 5, 6, 61, 2, 1024, 64, 0, 0, false});
    }
}

/* Rows that are no whole packs of 16 bytes, and pictures of a pixel, a row or a column. */
static void odd_images_are_moved(void **)
{
    const cnn_layout layouts[] = {CNN_NCHW, CNN_NHWC};
    for (const cnn_layout layout : layouts) {
        gathers_all_ways({layout, 3, 5, 7, ALL_SHIFTS, 1, 64, 2, 0, 0, true});
        gathers_all_ways({layout, 2, 7, 3, 11, 11, 32, 1, 0, 0, false});
        gathers_all_ways({layout, 1, 1, 1, 61, 2, 64, 2, 0, 0, true});
        gathers_all_ways({layout, 1, 1, 9, ALL_SHIFTS, 1, 64, 2, 0, 0, true});
        gathers_all_ways({layout, 1, 9, 1, ALL_SHIFTS, 1, 64, 2, 0, 0, true});
        gathers_all_ways({layout, 5, 2, 1, ALL_SHIFTS, 1, 64, 2, 0, 0, true});
    }
}

/* Whole packs at addresses that are none of a pack's; packs whose columns no shift but a fourth keeps together. */
static void misaligned_images_are_moved(void **)
{
    const cnn_layout layouts[] = {CNN_NCHW, CNN_NHWC};
    for (const cnn_layout layout : layouts)
        for (size_t off = 1; off < 12; off++) {
            gathers_all_ways({layout, 1, 8, 8, ALL_SHIFTS, 1, 64, 2, off % 4, off / 4, true});
            gathers_all_ways({layout, 4, 4, 4, 11, 11, 32, 1, off % 4, off / 4, true});
        }
}

/* More rows than the grid has blocks, in one call and by the cursor. */
static void many_images_are_moved(void **)
{
    const picture p = {CNN_NCHW, 1, 1, 1, 70001, 2, 32, 1, 0, 0, true};
    const picture wider = {CNN_NHWC, 4, 1, 2, 66001, 1, 32, 1, 0, 0, true};
    gathers<float>(p, true, false);
    gathers<float>(p, false, false);
    gathers<double>(wider, true, true);
}

/* The farthest shift leaves something there; the other way no int16_t goes as far. */
static void wide_images_are_moved(void **)
{
    gathers<float>({CNN_NCHW, 1, 1, 40001, ALL_SHIFTS, 1, 256, 8, 0, 0, true}, false, false);
    gathers<double>({CNN_NHWC, 1, 40004, 1, 11, 11, 64, 2, 0, 0, true}, true, false);
}

/* Without shifts rows are rows, whatever the sizes of their pictures are said to be. */
static void without_shifts_sizes_mean_nothing(void **)
{
    const int64_t wrong[] = {0, -1, 1, INT64_MAX, INT64_MIN};
    for (const int64_t size : wrong) {
        const picture p = {CNN_NCHW, 3, 4, 4, 10, 1, 64, 2, 0, 0, true};
        device d = {};
        cnn_error err = {};
        images<float> m = {};
        open_device(&d, p.threads, p.blocks);
        make_images(&d, p, false, &m);
        m.host.shifts = m.device.shifts = NULL;
        m.device.planes = m.device.h = m.device.w = m.device.pixel_elems = size;
        for (int64_t i = 0; i < p.count; i++) cnn_gather_row(&m.host, i);
        assert_int_equal(cuda_gather(base(d), &m.device, &err), CNN_OK);
        const std::vector<float> y = get(d, static_cast<const float *>(m.device.y), m.y.size());
        assert_memory_equal(y.data(), m.y.data(), y.size() * sizeof(float));
        close_device(&d);
    }
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_moved),
        cmocka_unit_test(odd_images_are_moved),
        cmocka_unit_test(misaligned_images_are_moved),
        cmocka_unit_test(many_images_are_moved),
        cmocka_unit_test(wide_images_are_moved),
        cmocka_unit_test(without_shifts_sizes_mean_nothing),
    };
    const int skip = gpu_or_skip();
    return skip != 0 ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
