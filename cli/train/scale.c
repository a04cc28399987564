/* scale.c: --loss-scale: what the loss is multiplied by in f16 and bf16, so that small gradients are not lost. */
#include "harness/cnn/half.h"
#include "parts.h"

#include <math.h>
#include <string.h>

/* As PyTorch's GradScaler begins, and grows: after so many steps with finite gradients twice the scale. */
static const double dynamic_start = 65536.0, dynamic_growth = 2000.0;
enum { SCALE_MOST = 1 << 30 };

cnn_status train_read_scale(train *t, cnn_error *err)
{
    const char *text = t->options->loss_scale;
    int64_t scale = 0;
    int count;
    bool mixed = false;
    for (int i = 0; i < t->types.count; i++) mixed = mixed || cnn_is_half(t->types.types[i].dtype);
    if (text == NULL) return CNN_OK;
    if (!mixed)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--loss-scale %.64s is for --dtype f16 and bf16: the gradients of other types need none", text);
    if (strcmp(text, "dynamic") == 0) return CNN_OK;
    if (cli_ints("loss-scale", text, 1, SCALE_MOST, &scale, 1, &count, err) != CNN_OK || (scale & (scale - 1)) != 0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--loss-scale %.64s: give dynamic, or a power of two up to 2^30, such as 1024: dividing by it "
                        "is then exact",
                        text);
    if (t->params.optimizer.growth > 0.0)
        return CNN_FAIL(err, CNN_BAD_ARGUMENT,
                        "--loss-scale %.64s stays what it is, and growth=%g of --optimizer changes it: give "
                        "--loss-scale dynamic",
                        text, t->params.optimizer.growth);
    t->params.loss_scale = (double)scale;
    return CNN_OK;
}

void train_scale_params(const train *t, cnn_dtype dtype, trainer_params *params)
{
    const char *text = t->options->loss_scale;
    const bool asked = (text != NULL && strcmp(text, "dynamic") == 0) || params->optimizer.growth > 0.0;
    if (!cnn_is_half(dtype)) {
        params->loss_scale = 0.0;
        return;
    }
    if (params->loss_scale > 0.0) return;
    const bool dynamic = asked || dtype == CNN_F16; /* bf16 has the range of f32 */
    params->loss_scale = dynamic ? dynamic_start : 1.0;
    if (dynamic && !(params->optimizer.growth > 0.0)) params->optimizer.growth = dynamic_growth;
}
