/* page_mutants.c: what became of broken kernels, and which check caught them. */
#include "harness/base/text.h"
#include "page_parts.h"

#include <string.h>

static const char *const ends[KILLS_ENDS] = {"caught", "crash", "hang", "survived", "not_run"};

static cnn_status write_sum(const kills_set *set, record_sink *to, cnn_error *err)
{
    cnn_record *record = record_new("mutants");
    record_int(record, "mutants", set->count);
    for (int end = 0; end < KILLS_ENDS; end++) record_int(record, ends[end], set->ends[end]);
    record_int(record, "runs", set->runs);
    record_int(record, "held", set->held);
    record_text(record, "from", set->first_date);
    record_text(record, "to", set->last_date);
    return record_write(to, record, err);
}

static cnn_status write_lists(const kills_set *set, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int i = 0, end; i < set->count && status == CNN_OK; i = end) {
        int count[KILLS_ENDS] = {0};
        for (end = i; end < set->count && (end == i || !kills_begins(set, end)); end++) count[set->rows[end].end]++;
        cnn_record *record = record_new("mutant_list");
        record_text(record, "list", set->rows[i].list);
        record_int(record, "mutants", end - i);
        for (int k = 0; k < KILLS_ENDS; k++) record_int(record, ends[k], count[k]);
        status = record_write(to, record, err);
    }
    return status;
}

static cnn_status write_checks(const kills_set *set, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    for (int k = 0; k < VERIFY_CHECK_COUNT && status == CNN_OK; k++) {
        int alone = 0, passed = 0;
        for (int i = 0; i < set->count; i++) {
            int others = 0;
            for (int c = 0; c < VERIFY_CHECK_COUNT; c++) others += c != k && set->rows[i].caught[c];
            alone += set->rows[i].caught[k] && others == 0;
            passed += set->rows[i].passed[k];
        }
        cnn_record *record = record_new("mutant_check");
        record_text(record, "check", verify_check_name((verify_check)k));
        record_int(record, "caught", set->catches[k]);
        record_int(record, "alone", alone);
        record_int(record, "passed", passed);
        status = record_write(to, record, err);
    }
    return status;
}

cnn_status page_write_mutants(const page *p, record_sink *to, cnn_error *err)
{
    const kills_set *set = &p->kills;
    if (set->count == 0) return CNN_OK;
    cnn_status status = write_sum(set, to, err);
    if (status == CNN_OK) status = write_lists(set, to, err);
    if (status == CNN_OK) status = write_checks(set, to, err);
    for (int i = 0; i < set->count && status == CNN_OK; i++) {
        const kills_end end = set->rows[i].end;
        if (end != KILLS_SURVIVED && end != KILLS_NOT_RUN) continue;
        cnn_record *record = record_new("mutant");
        record_text(record, "mutant", set->rows[i].mutant);
        record_text(record, "list", set->rows[i].list);
        record_bool(record, "survived", end == KILLS_SURVIVED);
        status = record_write(to, record, err);
    }
    return status;
}

/* "728 of 730 mutants killed, 2 survived": as good as a case that PASSED where none did. */
bool page_mutants_text(const page *p, char *text, size_t size)
{
    const int *count = p->kills.ends, killed = count[KILLS_CAUGHT] + count[KILLS_CRASH] + count[KILLS_HANG];
    snprintf(text, size, "%d of %d mutant%s killed", killed, p->kills.count, p->kills.count == 1 ? "" : "s");
    if (count[KILLS_SURVIVED] > 0) cnn_append(text, size, ", %d survived", count[KILLS_SURVIVED]);
    if (count[KILLS_NOT_RUN] > 0) cnn_append(text, size, ", %d not run", count[KILLS_NOT_RUN]);
    return count[KILLS_SURVIVED] == 0;
}
