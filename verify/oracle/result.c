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
    if (state < result->state) return; /* the graver one stays */
    if (state == result->state && result->reason[0] != '\0') return;
    result->state = state;
    va_start(args, format);
    vsnprintf(result->reason, sizeof result->reason, format, args);
    va_end(args);
}
