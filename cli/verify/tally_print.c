/* reasons.c: reasons that cases were not verified for, each told once. */
#include "report.h"

#include "cli/table.h"

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

void verify_reasons_share(verify_reasons *r, const char *impl, bool verified)
{
    int i = 0;
    while (i < r->n_shares && strcmp(r->shares[i].impl, impl) != 0) i++;
    if (i == CNN_MAX_CHOICES) return;
    if (i == r->n_shares) {
        r->shares[i] = (verify_share){.verified = 0};
        snprintf(r->shares[i].impl, sizeof r->shares[i].impl, "%s", impl);
        r->n_shares++;
    }
    r->shares[i].verified += verified;
    r->shares[i].left += !verified;
}

bool verify_reasons_few(const verify_reasons *r, FILE *to)
{
    enum { LEFT_MIN = 4 };
    bool any = false;
    for (int i = 0; i < r->n_shares; i++) {
        const verify_share *s = &r->shares[i];
        if (s->left < LEFT_MIN || s->left <= s->verified) continue;
        any = true;
        table_print_to(to, 4,
                       "%s: of %lld cases that `supports` let through only %lld were verified; the others were refused "
                       "later, or asked for more memory than there is: that is no success\n",
                       s->impl, (long long)(s->verified + s->left), (long long)s->verified);
    }
    return any;
}
