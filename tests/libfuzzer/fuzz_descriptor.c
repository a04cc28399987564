/* The first byte chooses the operation, the rest is the descriptor. What is accepted must say the same when it is
 * written out and read again, and no number of it may be read as another. */
#include "target.h"

#include "tests/verify/invalid_texts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[VERIFY_TEXT_MAX];
    if (size == 0) return 0;
    char *text = text_make(data + 1, size - 1);
    const fuzz_verdict verdict = fuzz_invalid_try((cnn_op)(data[0] % CNN_OP_COUNT), text, why);
    free(text);
    require(verdict != FUZZ_WRONG, why);
    return 0;
}
