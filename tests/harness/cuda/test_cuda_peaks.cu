/* test_cuda_peaks.cu: every ceiling of a CUDA device can be opened, run again and again, and closed; how fast is not
 * asked here. */
#include "cuda_device.h"

static void every_ceiling_runs(void **)
{
    device d = {};
    cnn_error err;
    int flops = 0, bytes = 0, seconds = 0, caches = 0;
    open_device(&d, 64, 2);
    for (int i = 0; i < cuda_peaks.count; i++) {
        cnn_peak peak;
        if (cuda_peaks.open(base(d), i, &peak, &err) != CNN_OK) fail_msg("ceiling %d: %s", i, err.message);
        assert_true(peak.what[0] != '\0' && peak.amount >= 1);
        *(peak.unit == CNN_PEAK_FLOPS ? &flops : peak.unit == CNN_PEAK_BYTES ? &bytes : &seconds) += 1;
        caches += peak.holds > 0;
        for (int run = 0; run < 2; run++)
            if (cuda_peaks.run(base(d), &peak, &err) != CNN_OK) fail_msg("%s: %s", peak.what, err.message);
        assert_int_equal(cuda_sync(base(d), &err), CNN_OK);
        cuda_peaks.close(base(d), &peak);
        assert_null(peak.state);
    }
    assert_true(flops == 2 && bytes == 4 && seconds == 4 && caches == 1);
    close_device(&d);
}

static void there_are_no_others(void **)
{
    device d = {};
    cnn_peak peak;
    cnn_error err;
    open_device(&d, 64, 2);
    assert_int_equal(cuda_peaks.open(base(d), cuda_peaks.count, &peak, &err), CNN_BAD_ARGUMENT);
    assert_int_equal(cuda_peaks.open(base(d), -1, &peak, &err), CNN_BAD_ARGUMENT);
    assert_message(err, "-1");
    close_device(&d);
}

/* Launches are captured for two of them: a device that failed there must be left as it was. */
static void a_dead_device_is_said(void **)
{
    device d = {};
    cnn_error err;
    open_device(&d, 64, 2);
    d.c->dead = true;
    CNN_FAIL(&d.c->cause, CNN_DEVICE, "broken on purpose");
    for (int i = 0; i < cuda_peaks.count; i++) {
        cnn_peak peak;
        cnn_status status = cuda_peaks.open(base(d), i, &peak, &err);
        if (status == CNN_OK) {
            status = cuda_peaks.run(base(d), &peak, &err);
            cuda_peaks.close(base(d), &peak);
        }
        assert_int_equal(status, CNN_DEVICE);
        assert_message(err, "broken on purpose");
    }
    d.c->dead = false;
    close_device(&d);
}

int main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_ceiling_runs),
        cmocka_unit_test(there_are_no_others),
        cmocka_unit_test(a_dead_device_is_said),
    };
    const int skip = gpu_or_skip();
    return skip != 0 ? skip : cmocka_run_group_tests(tests, NULL, NULL);
}
