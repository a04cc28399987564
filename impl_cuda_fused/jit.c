/* jit.c: a network's kernels, behind the text that all of them share. */
#include "impl_cuda_fused/jit.h"

#include "harness/base/text.h"

#include <stdlib.h>
#include <string.h>

cnn_status fused_jit_available(cnn_error *err)
{
    const cnn_status status = cuda_jit_available(err);
    return status == CNN_OK
               ? CNN_OK
               : cnn_error_before(err, status, "cuda_fused:v2 and v3 are made for the network, v1 is not: ");
}

cnn_status fused_jit_make(cuda_context *c, const char *text, const char *entry, cuda_jit *jit, cnn_error *err)
{
    const size_t size = strlen(fused_device_text) + strlen(text) + 2;
    char *all = malloc(size);
    if (all == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "no memory for the text of cuda_fused's kernels");
    (void)snprintf(all, size, "%s\n%s", fused_device_text, text);
    const cuda_jit_source source = {.what = "the kernels of cuda_fused",
                                    .file = "cuda_fused.cu",
                                    .text = all,
                                    .entry = entry,
                                    .kept = true,
                                    .refused = CNN_DEVICE};
    const cnn_status status = cuda_jit_make(c, &source, jit, err);
    free(all);
    return status;
}
