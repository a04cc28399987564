/* weights_means.c: the means that were taken off the pixels, as a file of weights has them: a number, or one a channel.
 */
#include "harness/base/text.h"
#include "weights.h"

#include <math.h>
#include <stdlib.h>

enum { DIGITS = 32 };

char *weights_means_text(const weights_facts *facts, int64_t channels)
{
    const size_t room = (size_t)channels * DIGITS;
    char *text = calloc(room, 1);
    if (text == NULL) return NULL;
    cnn_append(text, room, "%.17g", facts->means != NULL ? facts->means[0] : facts->mean);
    for (int64_t k = 1; k < channels && facts->means != NULL; k++) cnn_append(text, room, ",%.17g", facts->means[k]);
    return text;
}

cnn_status weights_means_read(const char *text, int64_t channels, const char *path, weights_facts *facts,
                              cnn_error *err)
{
    int64_t count = 0;
    double sum = 0.0;
    const char *at = text;
    char *end;
    double *means = calloc((size_t)channels, sizeof *means);
    if (means == NULL) return CNN_FAIL(err, CNN_OUT_OF_MEMORY, "%s: no memory for its means", path);
    for (bool more = true; more && count < channels; at = end + more) {
        means[count] = strtod(at, &end);
        if (end == at || !isfinite(means[count])) break;
        sum += means[count++];
        more = *end == ',';
    }
    const bool whole = count > 0 && at > text && at[-1] != ',' && *at == '\0';
    if (whole && count == 1) facts->mean = sum;
    if (whole && count == channels && count > 1) {
        facts->mean = sum / (double)count;
        facts->means = means;
        return CNN_OK;
    }
    free(means);
    if (whole && count == 1) return CNN_OK;
    return CNN_FAIL(err, CNN_BAD_FORMAT,
                    "%s: its metadata `mean` is '%.64s': expected one number, or one for each of "
                    "%lld channels with commas between",
                    path, text, (long long)channels);
}
