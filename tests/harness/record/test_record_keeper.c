/* test_record_keeper.c: a run's records in the hands of the process that watches it: what the run sends is there at the
 * end, or an error is. */
#include "record_unit.h"

#include "harness/record/record_keeper.h"
#include "harness/record/record_object.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef void in_run(record_keeper *k, record_sink *sink);
typedef void in_watcher(void); /* when the second record is here */

static void send(record_sink *sink, int64_t value)
{
    cnn_error err;
    cnn_record *record = record_new("peak");
    record_int(record, "n", value);
    (void)record_write(sink, record, &err); /* what the other process says at the end counts */
}

static pid_t start_run(record_keeper *k, in_run *what)
{
    const watch_service service = record_keeper_service(k);
    mail_begin(service.mail);
    service.begin(service.user);
    const pid_t pid = fork();
    if (pid != 0) return pid;
    record_sink *sink;
    cnn_error err;
    record_keeper_begin(k, (const char *const[]){path}, 1);
    if (record_sink_keep(k, &(record_kept){.path = path}, &sink, &err) != CNN_OK) _exit(3);
    what(k, sink);
    record_sink_close(sink);
    _exit(0);
}

/* Serves a run that says that it ends with `status`. */
static cnn_status watch(record_keeper *k, in_run *run, in_watcher *meanwhile, int status, cnn_error *err)
{
    const watch_service service = record_keeper_service(k);
    const pid_t pid = start_run(k, run);
    int ended, requests = 0;
    while (waitpid(pid, &ended, WNOHANG) == 0) {
        mail_answer answer = {.status = CNN_OK};
        mail_wait(service.mail->box, 5);
        if (mail_take(service.mail) != MAIL_WHOLE) continue;
        if (++requests == 4 && meanwhile != NULL) meanwhile(); /* it was opened, and two records came */
        service.answer(service.user, service.mail->message, service.mail->length, &answer);
        mail_reply(service.mail, &answer);
    }
    return service.end(service.user, status, err);
}

static record_keeper *new_keeper(mail_box **box)
{
    record_keeper *k;
    cnn_error err;
    *box = mmap(NULL, sizeof **box, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(*box != MAP_FAILED);
    assert_int_equal(record_keeper_new(NULL, *box, &k, &err), CNN_OK);
    return k;
}

static cnn_status one_run(in_run *run, in_watcher *meanwhile, cnn_error *err)
{
    mail_box *box;
    record_keeper *k = new_keeper(&box);
    const cnn_status status = watch(k, run, meanwhile, 0, err);
    record_keeper_close(k);
    munmap(box, sizeof *box);
    return status;
}

static void three(record_keeper *k, record_sink *sink)
{
    for (int i = 1; i <= 3; i++) send(sink, i);
    record_keeper_end(k, 0);
}

static void dies(record_keeper *k, record_sink *sink)
{
    send(sink, 10);
    _exit(0);
}

static void is_open(record_keeper *k, record_sink *sink)
{
    struct stat own, other;
    if (stat(path, &own) != 0) _exit(4);
    for (int fd = 0; fd < 256; fd++)
        if (fstat(fd, &other) == 0 && other.st_ino == own.st_ino && other.st_dev == own.st_dev) _exit(5);
    three(k, sink);
}

static void records_arrive(void **state)
{
    cnn_error err;
    int bad;
    write_one("n", 100);
    assert_int_equal(one_run(is_open, NULL, &err), CNN_OK);
    const tally t = read_all(&bad);
    assert_true(t.count == 4 && t.sum == 106 && bad == 0);
}

/* What the first run wrote stays, and the second one has no descriptor of the file that the first one let be opened. */
static void a_run_goes_on_behind_one_that_died(void **state)
{
    mail_box *box;
    record_keeper *k = new_keeper(&box);
    cnn_error err;
    int bad;
    assert_int_equal(watch(k, dies, NULL, 0, &err), CNN_INTERNAL); /* it said nothing */
    assert_message(err, "did not say so");
    assert_int_equal(watch(k, is_open, NULL, 0, &err), CNN_OK);
    const tally t = read_all(&bad);
    assert_true(t.count == 4 && t.sum == 16 && bad == 0);
    record_keeper_close(k);
    munmap(box, sizeof *box);
}

static void says_otherwise(record_keeper *k, record_sink *sink) { record_keeper_end(k, 1); }

static void the_status_must_be_the_one_that_was_said(void **state)
{
    cnn_error err;
    assert_int_equal(one_run(says_otherwise, NULL, &err), CNN_INTERNAL);
    assert_message(err, "did not say so");
}

static void cut(void) { assert_int_equal(truncate(path, 5), 0); }
static void add(void) { append_text("{\"kind\":\"peak\",\"n\":1000}\n"); }
static void change(void)
{
    const int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "{\"kind\":\"peek\"", 14, 0), 14);
    close(fd);
}
static void replace(void)
{
    assert_int_equal(unlink(path), 0);
    append_text("");
}
static void removed(void) { assert_int_equal(unlink(path), 0); }

static void what_others_do_to_the_file_is_seen(void **state)
{
    static const struct {
        in_watcher *what;
        const char *word;
    } rows[] = {{cut, "cut it off"},
                {add, "did not write"},
                {change, "other bytes"},
                {replace, "another file"},
                {removed, "another file"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cnn_error err;
        append_text("");
        assert_int_equal(truncate(path, 0), 0);
        assert_int_equal(one_run(three, rows[i].what, &err), CNN_IO);
        assert_message(err, rows[i].word);
        assert_message(err, path);
    }
    append_text(""); /* for the next test to remove */
}

static void writes_words(record_keeper *k, record_sink *sink)
{
    cnn_error err;
    static const char *const lines[] = {"1 cases: 0 FAILED 1 PASSED\n",
                                        "{\"kind\":\"praise\"}\n",
                                        "[1]\n",
                                        "\n",
                                        "{\"kind\":\"peak\"}",
                                        "{\"kind\":\"peak\"}\n{\"kind\":\"peak\"}\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (record_keeper_write(k, &(kept_sink){.number = 0}, true, lines[i], strlen(lines[i]), &err) == CNN_OK)
            _exit(4);
    if (record_keeper_write(k, &(kept_sink){.number = 7}, true, "{\"kind\":\"peak\"}\n", 16, &err) == CNN_OK) _exit(4);
    record_keeper_end(k, 0);
}

static void only_records_are_written(void **state)
{
    cnn_error err;
    char text[64];
    assert_int_equal(one_run(writes_words, NULL, &err), CNN_INTERNAL);
    assert_message(err, "in the place of a record");
    read_text(text, sizeof text);
    assert_string_equal(text, "");
}

static void loses_one(record_keeper *k, record_sink *sink)
{
    send(sink, 1);
    const watch_service service = record_keeper_service(k);
    service.begin(service.user); /* its count is 0 again */
    send(sink, 2);
    record_keeper_end(k, 0);
}

static void counts_must_agree(void **state)
{
    cnn_error err;
    assert_int_equal(one_run(loses_one, NULL, &err), CNN_INTERNAL);
    assert_message(err, "made 1 records, and 2 came");
}

/* A file that the run itself goes on to rename is let go of; others it may not. */
static void releases(record_keeper *k, record_sink *sink)
{
    cnn_error err;
    three(k, sink);
    if (record_keeper_release(k, path, &err) != CNN_OK || unlink(path) != 0) _exit(4);
}

static void a_file_that_was_let_go_of_may_change(void **state)
{
    cnn_error err;
    assert_int_equal(one_run(releases, NULL, &err), CNN_OK);
    assert_int_equal(access(path, F_OK), -1);
    append_text("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(records_arrive),
        WITH_FILE(a_run_goes_on_behind_one_that_died),
        WITH_FILE(the_status_must_be_the_one_that_was_said),
        WITH_FILE(what_others_do_to_the_file_is_seen),
        WITH_FILE(only_records_are_written),
        WITH_FILE(counts_must_agree),
        WITH_FILE(a_file_that_was_let_go_of_may_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
