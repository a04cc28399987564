/* test_record_file.c: a file of records: nothing that went wrong before or during a run spoils the others in it. */
#include "record_unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void a_torn_line_spoils_no_other(void **state)
{
    int bad;
    write_one("n", 1);
    append_text("{\"kind\":\"peak\",\"n\":10"); /* a run killed in mid-write */
    write_one("n", 100);
    tally t = read_all(&bad);
    assert_int_equal(t.count, 2);
    assert_true(t.sum == 101);
    assert_int_equal(bad, 0);
    for (int i = 0; i < 6000; i++)
        append_text(i == 0 ? "{\"kind\":\"peak\",\"n\":[" : "1,"); /* longer than a part read */
    cnn_error err;
    record_sink *sink;
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    assert_int_equal(record_sink_cut(sink), 20 + 2 * 5999);
    record_sink_close(sink);
    append_text("{\"kind\":\"peak\",\"n\":1000}"); /* whole, but for its newline */
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    assert_int_equal(record_sink_cut(sink), 0);
    record_sink_close(sink);
    write_one("n", 10000);
    t = read_all(&bad);
    assert_true(t.count == 4 && t.sum == 11101 && bad == 0);
}

/* What fits of a record is taken back: the file stays whole, and goes on when there is room. */
static void a_full_disk_leaves_whole_records(void **state)
{
    const struct rlimit little = {40, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
    cnn_error err;
    record_sink *sink;
    int bad;
    write_one("n", 1); /* 22 bytes */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    cnn_record *record = record_new("peak");
    record_int(record, "n", 123456789);
    assert_int_equal(record_write(sink, record, &err), CNN_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 22);
    record = record_new("peak");
    record_int(record, "n", 2);
    assert_int_equal(record_write(sink, record, &err), CNN_OK);
    record_sink_close(sink);
    assert_true(read_all(&bad).sum == 3 && bad == 0);
}

static void lines_that_are_no_records_are_counted(void **state)
{
    int bad;
    append_text("\n[1,2]\n{\"n\":5}\n{\"kind\":\"peak\",\"n\":7} trailing\nnull\n");
    append_text("{\"kind\":\"peak\",\"n\":9}"); /* whole, though its newline is missing */
    tally t = read_all(&bad);
    assert_int_equal(t.count, 1);
    assert_true(t.sum == 9);
    assert_int_equal(bad, 4);
}

static void zeros_of_a_crashed_disk_are_one_bad_line(void **state)
{
    static const char zeros[64];
    int bad;
    write_one("n", 1);
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(fd, zeros, sizeof zeros), sizeof zeros);
    close(fd);
    assert_true(read_all(&bad).sum == 1);
    assert_int_equal(bad, 1);
    write_one("n", 2); /* they are cut off like any other half a record */
    assert_true(read_all(&bad).sum == 3);
    assert_int_equal(bad, 0);
}

static void a_full_disk_is_an_error(void **state)
{
    cnn_error err;
    record_sink *sink;
    assert_int_equal(record_sink_open("/dev/full", NULL, &sink, &err), CNN_OK);
    assert_int_equal(record_write(sink, record_new("peak"), &err), CNN_IO);
    assert_non_null(strstr(err.message, "/dev/full"));
    assert_non_null(strstr(err.message, "No space left on device"));
    record_sink_close(sink);
}

static void an_unwritable_path_is_an_error_at_once(void **state)
{
    cnn_error err;
    record_sink *sink;
    int bad;
    assert_int_equal(record_sink_open("/nonexistent/a.jsonl", NULL, &sink, &err), CNN_IO);
    assert_non_null(strstr(err.message, "/nonexistent/a.jsonl"));
    assert_null(sink);
    assert_int_equal(record_sink_open("/tmp", NULL, &sink, &err), CNN_IO);
    assert_int_equal(record_read("/nonexistent/a.jsonl", count_record, NULL, &bad, &err), CNN_IO);
    assert_int_equal(record_read("/tmp", count_record, NULL, &bad, &err), CNN_IO);
}

/* A writer killed at an arbitrary moment: every line but perhaps the last is a whole record. */
static void a_kill_leaves_whole_records(void **state)
{
    struct stat info = {0};
    int bad, code;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        for (int64_t i = 0;; i++) write_one("n", i);
    while (stat(path, &info) == 0 && info.st_size < 2000) usleep(1000);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &code, 0), child);
    int before = read_all(&bad).count;
    assert_true(bad <= 1);
    write_one("n", 0);
    assert_int_equal(read_all(&bad).count, before + 1);
}

/* What stands in the file, and whether records may be appended. */
static void only_records_are_appended_to(void **state)
{
    static const struct {
        const char *text;
        cnn_status status;
    } rows[] = {{"", CNN_OK},
                {"\n\n", CNN_OK},
                {"{\"kind\":\"env\"}\nwhatever\n", CNN_OK},
                {"{ \"cores\": 2, \"kind\": \"env\" }\r\n", CNN_OK},
                {"{\"ki", CNN_OK},                                /* a kill came early */
                {"{\"kind\":\"en\n{\"kind\":\"env\"}\n", CNN_OK}, /* and a later run went on */
                {"# benchcnn\n", CNN_BAD_FORMAT},
                {"\n# benchcnn\n", CNN_BAD_FORMAT},
                {"{\"name\":\"package\"}\n", CNN_BAD_FORMAT},
                {"\177ELF\2\1\1", CNN_BAD_FORMAT}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[128];
        record_sink *sink;
        cnn_error err;
        assert_int_equal(truncate(path, 0), 0);
        append_text(rows[i].text);
        assert_int_equal(record_sink_open(path, NULL, &sink, &err), rows[i].status);
        record_sink_close(sink);
        if (rows[i].status == CNN_OK) continue;
        assert_non_null(strstr(err.message, path));
        read_text(text, sizeof text);
        assert_string_equal(text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(a_torn_line_spoils_no_other),
        WITH_FILE(a_full_disk_leaves_whole_records),
        WITH_FILE(lines_that_are_no_records_are_counted),
        WITH_FILE(zeros_of_a_crashed_disk_are_one_bad_line),
        WITH_FILE(only_records_are_appended_to),
        WITH_FILE(a_full_disk_is_an_error),
        WITH_FILE(an_unwritable_path_is_an_error_at_once),
        WITH_FILE(a_kill_leaves_whole_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
