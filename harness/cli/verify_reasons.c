/* verify_reasons.c: see verify_reasons.h. */
#include "verify_reasons.h"

#include "table.h"
#include "verify/verify.h"

#include <ctype.h>
#include <string.h>

static bool same_reason(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (isdigit((unsigned char)*a)) a++;
        while (isdigit((unsigned char)*b)) b++;
        if (*a != *b) return false;
        if (*a == '\0') return true;
    }
}

void verify_reasons_count(verify_reasons *r, const char *reason)
{
    static const char gate[] = "supports: ";
    char text[REASON_TEXT_MAX];
    if (strncmp(reason, gate, sizeof gate - 1) == 0) reason += sizeof gate - 1;
    snprintf(text, sizeof text, "%s", reason);
    for (int i = 0; i < r->count; i++)
        if (same_reason(r->list[i].text, text)) {
            r->list[i].count++;
            if (strcmp(r->list[i].text, text) != 0) r->list[i].differ = true;
            return;
        }
    if (r->count == REASONS_MAX) {
        r->others++;
        return;
    }
    memcpy(r->list[r->count].text, text, sizeof text);
    r->list[r->count].differ = false;
    r->list[r->count++].count = 1;
}

void verify_reasons_print(const verify_reasons *r)
{
    for (int i = 0; i < r->count; i++)
        table_print(16, "%5lld %s%s: %s\n", (long long)r->list[i].count, verify_state_name(VERIFY_UNSUPPORTED),
                    r->list[i].differ ? ", such as" : "", r->list[i].text);
    if (r->others > 0)
        printf("%5lld %s: for other reasons\n", (long long)r->others, verify_state_name(VERIFY_UNSUPPORTED));
}
