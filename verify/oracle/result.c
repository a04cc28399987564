#include "result.h"

#include <stdarg.h>
#include <stdio.h>

const char *verify_state_name(verify_state state)
{
    static const char *const names[] = {"UNSUPPORTED", "SKIPPED", "PASSED", "MISTRUSTED", "FAILED"};
    return names[state];
}

void vf_set(verify_result *result, verify_state state, const char *format, ...)
{
    va_list args;
    const bool skipped = state == VERIFY_SKIPPED && result->state == VERIFY_PASSED; /* nothing was checked after all */
    if (state < result->state && !skipped) return;
    if (state == result->state && result->reason[0] != '\0') return;
    result->state = state;
    va_start(args, format);
    vsnprintf(result->reason, sizeof result->reason, format, args);
    va_end(args);
}
