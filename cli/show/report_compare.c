/* report_compare.c: two files of records, figure by figure, as `compare` compares them. */
#include "bench/figures/compare.h"
#include "bench/measure/stats.h"
#include "parts.h"

static const double threshold = 0.05; /* what `compare` counts as the same */

static void put_time(cnn_record *record, const char *field, double seconds)
{
    char text[32];
    bench_time_text(seconds, text, sizeof text);
    record_text(record, field, text);
}

static cnn_status write_figures(const figure_set sets[2], const char *is, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    int matched = 0;
    for (int i = 0; i < sets[0].count; i++) matched += figures_find(&sets[1], sets[0].list[i].key) != NULL;
    for (int i = 0; i < sets[0].count && status == CNN_OK; i++) {
        const figure *a = &sets[0].list[i], *b = figures_find(&sets[1], a->key);
        comparison r;
        char name[4096];
        if (b == NULL) continue;
        compare_figures(a, b, matched, threshold, &r);
        compare_name(a, b, name, sizeof name);
        cnn_record *record = compare_record(a, b, &r, NULL);
        record_text(record, "name", name);
        record_text(record, "file", is);
        put_time(record, "a", r.a);
        put_time(record, "b", r.b);
        status = record_write(to, record, err);
    }
    return status;
}

static cnn_status write_differences(const figure_set sets[2], const char *is, record_sink *to, cnn_error *err)
{
    cnn_status status = CNN_OK;
    figure_difference d;
    for (int i = 0; status == CNN_OK && figures_differ(&sets[0], &sets[1], i, &d); i++) {
        cnn_record *record = record_new("difference");
        record_text(record, "file", is);
        record_text(record, "fact", d.key);
        record_text(record, "was", d.was ? d.was : "unknown");
        record_text(record, "is", d.is ? d.is : "unknown");
        status = record_write(to, record, err);
    }
    return status;
}

cnn_status report_compare(const char *was, const char *is, record_sink *to, cnn_error *err)
{
    const figure_choice all = {.across = NULL};
    figure_set sets[2] = {{.count = 0}, {.count = 0}};
    cnn_record *record = record_new("compared");
    record_text(record, "was", was);
    record_text(record, "file", is);
    cnn_status status = figures_read(was, &all, &sets[0], err);
    if (status == CNN_OK) status = figures_read(is, &all, &sets[1], err);
    if (status == CNN_BAD_ARGUMENT) { /* it is no set of runs: the page says so, and is made */
        record_text(record, "reason", err->message);
        status = record_write(to, record, err);
    } else if (status == CNN_OK) {
        record_int(record, "was_figures", sets[0].count);
        record_int(record, "is_figures", sets[1].count);
        status = record_write(to, record, err);
        if (status == CNN_OK) status = write_differences(sets, is, to, err);
        if (status == CNN_OK) status = write_figures(sets, is, to, err);
    } else {
        record_free(record);
    }
    figures_free(&sets[0]);
    figures_free(&sets[1]);
    return status;
}
