/* parts.h: what the files of `benchcnn bench` share: cmd_bench.c runs groups of group.c,
 * problems.c gathers what is to be timed, open.c opens who times it, report.c shows it, ceilings.c gets the ceilings.
 */
#ifndef CLI_BENCH_PARTS_H
#define CLI_BENCH_PARTS_H

#include "bench/measure/candidates.h"
#include "cli/cli.h"
#include "cli/pieces.h"
#include "cli/ranks.h"
#include "cli/sessions.h"

enum { REPRO_MAX = CLI_REPEAT_MAX };

/* grid.c: what stands at the end: seconds, 0 where there is no figure. */
enum { GRID_ROWS = 512, GRID_COLUMNS = 16, GRID_NAME_MAX = 256 };
typedef struct grid_row {
    char name[GRID_NAME_MAX];
    double seconds[GRID_COLUMNS];
    unsigned marks[GRID_COLUMNS];
    bool no_best[GRID_COLUMNS]; /* it beats a ceiling */
} grid_row;
typedef struct bench_grid {
    char names[GRID_COLUMNS][GRID_NAME_MAX];
    int columns, rows, left_out;
    grid_row list[GRID_ROWS];
} bench_grid;

/* What all runs of the command have done (watch.kept). Ceilings are numbered, the same way in each run. */
enum { BENCH_CEILINGS_MAX = 1024 };
typedef struct bench_sums {
    int64_t timed, wrong, failed, too_short, unsupported, kept; /* kept: of these, by an earlier command */
    cnn_error refusal;                                          /* of a --problem that was asked for by name */
    int64_t ceilings_begun;
    bool ceilings_done;
    int ceilings_again;  /* how often they were measured anew, since a figure was beyond one */
    double ceilings_age; /* of those that an earlier command measured, in seconds; 0: there are none */
    int n_ceilings;
    bench_peak ceilings[BENCH_CEILINGS_MAX];
    unsigned marks;             /* over ranks: of all figures shown */
    int refused[COUNTER_COUNT]; /* --counters: the errno of what the system does not count; else 0 */
    bench_grid grid;
    char records[1024]; /* of --save and --against: the file of this run's; "": none */
} bench_sums;

enum { BENCH_COUNTS = 5 };
typedef struct bench {
    const cli_options *options;
    measure_params params;
    cli_type_set types;
    uint32_t dirs, ops;
    uint32_t events;       /* --counters: a set of counter_event */
    problem_list problems; /* that can be done */
    bool silent;           /* refused ones are told when they are read to be timed */
    int refused;           /* descriptors of files that this suite cannot do */
    cli_shard shard;
    cli_pieces *pieces;               /* over ranks; NULL: one process */
    int64_t base, told[BENCH_COUNTS]; /* over ranks: groups of the --repeat before this one; counts that were sent */
    int64_t first, place,
        own;           /* cases: refused words, then groups. The first group, the next one; those of the shard */
    cnn_error refusal; /* the first bad line: the command ends with it, after the others */
    cnn_network *networks[CNN_DTYPE_COUNT * CNN_LAYOUT_COUNT]; /* one a type, with --cache network */
    cli_sessions sessions;
    tuned_book *tuned;
    clock_watch *watches[CNN_MAX_CHOICES]; /* one a session */
    bench_peaks peaks;
    cli_output output; /* resume: what an earlier run of `bench` left */
    cli_progress progress;
    bench_sums *sums;
    bool begun;         /* there is somebody to time, and the records say that it began */
    int64_t number;     /* of the next group */
    unsigned marks;     /* of all figures shown */
    double done, total; /* groups: problem, direction, type */
} bench;

/* problems.c: how long and how, into b->params; warm_up: unless --warm-up says otherwise; in_network: --cache may be
 * network. */
cnn_status bench_read_params(bench *b, double warm_up, bool in_network, cnn_error *err);
/* --op and --dir; --problem, --problems, --net, or the built-in ones. */
cnn_status bench_gather_problems(bench *b, cnn_error *err);
/* Whether the group that comes next is the shard's; --repeat comes to it more than once. */
bool bench_next_place(bench *b);
/* open.c: sessions, clocks, environment records, ceilings. `keeps`: see cli_tuned_open(). Where nobody does any of it,
 * this is said, and b->begun stays false. */
cnn_status bench_open(bench *b, bool keeps, cnn_error *err);
/* What calls implementations: one may end its process here, too. */
void bench_close_sessions(bench *b);
/* All the rest. */
void bench_close(bench *b);
/* group.c: for measure_params.in_hand, whose user is the bench. */
void bench_in_hand(void *b, const candidate *c);
/* Times, shows and records what is chosen for a problem, in one of the types. `given`: by --problem. */
cnn_status bench_run_group(bench *b, bool given, const cnn_problem *problem, cnn_dir dir, cnn_error *err);
/* round.c: --round: the group's candidates as the arms of a round, in the order in which they get their memory; `list`
 * has room for one more. Returns how many they are. Without --round nothing is done. */
int bench_take_round(const bench *b, candidate *list, int count);
/* plain.c: --runs. Each candidate runs so often, and nothing is verified, timed or recorded. */
cnn_status bench_run_plainly(bench *b, const candidate *list, int count, const cnn_problem *problem, cnn_dir dir,
                             cnn_error *err);
/* counters.c: --counters. Whether anything that was chosen can be counted; what is timed and right is counted; what
 * that came to, and what the system refused, for people. */
cnn_status bench_counters_check(const bench *b, cnn_error *err);
cnn_status bench_count(bench *b, candidate *list, int count, const vf_case *pc, cnn_error *err);
void bench_counters_print(const candidate *c);
void bench_counters_refused(const bench *b);
/* The data and the reference's results, made by every core before anything is timed. */
cnn_status bench_make_case(bench *b, const cnn_problem *problem, cnn_dir dir, vf_case *pc, cnn_error *err);
/* Each candidate of any problem, a line: what --impl takes. Some come more than once. */
cnn_status bench_list_candidates(bench *b, FILE *names, cnn_error *err);
/* cmd_bench.c: what the options say, without opening anything. */
cnn_status bench_read_options(bench *b, cnn_error *err);
/* processes.c: `bench --processes`; returns the exit status. */
int bench_processes(const cli_options *options, cnn_error *err);
/* report.c: the command that repeats one row; the lines of one problem, direction and type. */
void bench_repro(const bench *b, const candidate *c, const vf_case *pc, char line[REPRO_MAX]);
/* The command that repeats one that is wrong or failed; nothing of another. */
void bench_print_repeat(const bench *b, const candidate *c, const vf_case *pc);
/* find.c: --find: its table, below the heading. */
void bench_find_print(const bench *b, const candidate *list, int count, const vf_case *pc);
void bench_print(const bench *b, const candidate *list, int count, const vf_case *pc);
/* baseline.c: --save and --against. Their words; then, before and after a run: *options get the file that its
 * records go to; the status to end with. */
cnn_status bench_baseline_check(const cli_options *options, cnn_error *err);
cnn_status bench_baseline_begin(cli_options *options, bench_sums *sums, cnn_error *err);
int bench_baseline_end(const cli_options *options, bench_sums *sums, int result, cnn_error *err);
/* ranks.c: over ranks. Whether all could open what they need, on devices of their own: called by all. */
cnn_status bench_meet(const bench *b, cnn_status status, cnn_error *err);
/* What a rank does that times; the group in hand is done; rank 0, until all groups are. */
cnn_status bench_do_pieces(bench *b, cnn_status (*run_all)(bench *, cnn_error *), cnn_error *err);
void bench_group_done(bench *b);
cnn_status bench_give(bench *b, cnn_error *err);
/* grid.c. */
void bench_grid_join(bench_grid *to, const bench_grid *from); /* the figures of another process */
void bench_grid_add(bench *b, const candidate *list, int count, const vf_case *pc);
void bench_grid_print(const bench *b);

typedef struct ceiling_watch {
    run_watch *watch;
    bench_sums *sums;
    int64_t number; /* of the next one */
} ceiling_watch;

/* ceilings.c: implementations of the same kind of device share its ceilings (a run has one device of each): whether
 * list[index] is the first, whose session stands for all. */
bool cli_first_of_device(const cli_sessions *sessions, int index);
/* For peak_plan.enter, whose user is a ceiling_watch. */
bool cli_ceiling_enter(void *watch, const cnn_impl *impl, int index);
/* Those that figures are held to (b->peaks, for b->params), of the devices of all sessions: from the file --peaks, or
 * measured, those of the types, and then recorded; with --peaks none, none. */
cnn_status cli_ceilings(bench *b, cnn_error *err);

/* rank_peaks.c: what sums over ranks take, with several of them. */
typedef struct rank_peaks {
    const cli_options *options;
    const cli_sessions *sessions;
    record_sink *sink;
    bench_sums *sums;
    ranks *ranks;
} rank_peaks;
cnn_status cli_rank_peaks(const rank_peaks *p, cnn_error *err);

#endif
