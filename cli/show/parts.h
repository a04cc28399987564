/* parts.h: what commands share that show records: `plot speedup` draws speedups, `table --kind speedups` lists them. */
#ifndef CLI_SHOW_PARTS_H
#define CLI_SHOW_PARTS_H

#include "bench/figures/export.h"
#include "bench/figures/page.h"
#include "bench/figures/solved.h"
#include "bench/figures/speedup.h"
#include "cli/cli.h"

/* speedups.c: of the files words[first...], by --impl and --baseline; `say`: lines that are no records are told. */
cnn_status cli_speedups(const cli_options *options, int first, bool say, speedup_set *set, cnn_error *err);
/* Says on standard error what was left out; frees the set, whatever came of it. */
void cli_speedups_end(const cli_options *options, speedup_set *set);
/* Likewise; without --impl, algorithms are taken by implementation where they are more than `most` (0: never). The set,
 * which needs no beginning, is to be freed whatever comes of it. */
cnn_status cli_solved(const cli_options *options, int first, int most, bool say, solved_set *set, cnn_error *err);

/* cmd_plot.c: what `plot WORDS...` draws, as SVGs one behind the other in a file of program_file(). CNN_BAD_ARGUMENT:
 * the files hold nothing of this kind, or more curves than `most` (0: as many as there are). */
cnn_status cli_plot_svg(const cli_options *options, int most, FILE *svg, cnn_error *err);

/* plot_kinds.c: the kinds of `plot` that the files words[0...] hold records for, the one to draw first; "": of epochs.
 * Those that take more than a look, `workers`, `speedup` and `solved`, are not among them. */
enum { PLOT_KINDS_MAX = 10 };
cnn_status cli_plot_kinds(const cli_options *options, const char *kinds[PLOT_KINDS_MAX], int *count, cnn_error *err);

/* report_pictures.c: of kind `picture`: picture (a kind of `plot`, "" of epochs), file (of one file alone), and svg, or
 * the reason why it is not drawn. */
cnn_status report_pictures(const cli_options *options, const page *p, record_sink *to, cnn_error *err);
/* report_scaling.c: trainings over several ranks, as records of kinds `scaling` (scaling_record()) and `scaling_model`
 * (text; head: a model begins). */
cnn_status report_scaling(const cli_options *options, const page *p, record_sink *to, cnn_error *err);
/* report_compare.c: what changed from one file to the other, as records of kinds `compare` and `difference` (fact, was,
 * is), each with both files; what cannot be compared, as a `note`. */
cnn_status report_compare(const char *was, const char *is, record_sink *to, cnn_error *err);

/* baselines.c: `list baselines`; the status to end with. */
int list_baselines(const cli_options *options, cnn_error *err);

/* The words of --format. */
typedef enum export_format { EXPORT_TEXT, EXPORT_MARKDOWN, EXPORT_CSV, EXPORT_JUNIT, EXPORT_GITHUB } export_format;
/* export_print.c: to standard output. CSV holds what the record does, every column, and follows RFC 4180; the others
 * have units, and leave out columns without a value. */
cnn_status export_print(const export_table *table, export_format format, cnn_error *err);
/* export_report.c: of checks: JUnit's XML, GitHub's annotations. */
cnn_status export_report(const export_table *table, export_format format, cnn_error *err);

/* goals.c: to standard output. */
struct goals_set;
void show_goals(const struct goals_set *set);

#endif
