/* forward.cu: FWD and BWD_D as an implicit matrix product on warpgroup instructions.
 *
 * Idea: im2col without the columns. A block computes a tile, some consecutive output pixels by some output channels.
 * For 32 input channels at a time, one patch comes to shared memory: the input pixels of all taps, 128 bytes a row,
 * each row once. All taps then read their pixels there, at different rows, into registers, where a number of f32 is
 * split in two, and go from there into the tensor cores. The weights are the other factor, which the tensor cores read
 * from shared memory by themselves: tiles that weights.cu has laid out, one bulk copy a tap. One warp loads weights,
 * three load patches, two or three warpgroups multiply, and barriers in shared memory keep them apart.
 *
 * Sums: the tensor cores cut each sum to 24 bits instead of rounding it, which in a long sum leaves 2^-16. So (f32)
 * each step of 32 channels is a sum of its own, added to the others by the multiprocessor's own additions.
 *
 * Work: where tiles do not fill the device's waves, they are dealt out in pieces of 32 channels, as many to each block.
 * Whoever has a tile's first piece waits for the others' sums and adds them in order: the same bits in every run.
 * Blocks that are waited for start first and wait for nobody.
 *
 * Where a patch does not fit, or holds more than is read (strides), it is gathered anew for each tap. Of kernels of one
 * tap the hardware copies it: forward_boxes.cu. */
#include "impl_cuda_tensor/forward_multiply.h"

cnn_status cutensor_forward_run(cuda_context *c, const cutensor_plan *p, const cutensor_operands *o, cnn_error *err)
{
    if (p->forward.source != CUTENSOR_PATCHES) return cutensor_forward_boxes_run(c, p, o, err);
    return cuda_has_half(p->bias.t.dtype) ? cutensor_forward_half_run(c, p, o, err)
                                          : launch_forward<float, float>(c, p, *o, err);
}
