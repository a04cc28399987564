/* mock_device.h: an implementation for tests of what runs on devices: the CPU's operations behind a stream that is as
 * lazy as it may be.
 *
 * An operation is only written down; all run, in order, when the host synchronises or copies. So whoever reads a result
 * too early, or fills a buffer that is still to be read, gets it wrong here in every run. Capturing keeps what was
 * written down as a graph. Memory starts as NaN. Knobs make it fail:
 *   fail_at        the n-th operation fails, and every call from then on (0: none)
 *   sync_launches  1: an operation runs at once, so that its own call reports its failure, and nothing is captured
 *   refuse         1: capture->begin fails; 2: the first operation in a capture does; 3: capture->end does
 *   early_uploads  1: asynchronous uploads, copies to the host and back, and what is on a second stream, happen as
 * early as cnn.h lets them, not as late memory         bytes of device memory searches       1: plans of convolutions
 * say that they settled on something: found_0 forward, found_1, found_2 rests_from     from the n-th operation on no
 * gradient of weights is computed any more, and nobody is told (0: all are) disorder       1: FC's gradients of weights
 * (f32) round differently in each run, as sums without an order do
 */
#ifndef TESTS_MOCK_MOCK_DEVICE_H
#define TESTS_MOCK_MOCK_DEVICE_H

#include "harness/device/impl.h"

/* What the host asked for since the context was opened. */
typedef struct mock_counts {
    int64_t allocations, launches, replays, uploads_beside;
} mock_counts;

const cnn_impl *cnn_impl_mock(void);
mock_counts mock_counted(const cnn_context *context);

#endif
