/* test_record_lock.c: one command at a time appends to a file of records, but those that it hands its lock down to. */
#include "record_unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* The harness calls this one: a file system without locks is one where it fails so. */
static int refusal;
int flock(int fd, int operation)
{
    errno = refusal;
    return refusal != 0 ? -1 : (int)syscall(SYS_flock, fd, operation);
}

/* And this one, to wait for whom it refuses: how long, need not be tried each time. */
static int waits;
static bool hurry;
int nanosleep(const struct timespec *time, struct timespec *rest)
{
    waits++;
    return hurry ? 0 : (int)syscall(SYS_nanosleep, time, rest);
}

static record_sink *open_it(void)
{
    cnn_error err;
    record_sink *sink;
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_OK);
    return sink;
}

static void assert_refused(pid_t holder)
{
    char who[64];
    cnn_error err;
    record_sink *sink;
    waits = 0, hurry = true;
    assert_int_equal(record_sink_open(path, NULL, &sink, &err), CNN_IO);
    hurry = false;
    assert_null(sink);
    assert_true(waits > 10); /* a process that was killed takes a moment to be gone */
    assert_non_null(strstr(err.message, path));
    snprintf(who, sizeof who, "written by process %d:", (int)holder);
    if (access("/proc/locks", R_OK) == 0) assert_non_null(strstr(err.message, who));
}

/* A child that has the file open, until it is killed. */
static pid_t start_holder(void)
{
    int opened[2];
    char byte;
    assert_int_equal(pipe(opened), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)open_it();
        if (write(opened[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    assert_int_equal(read(opened[0], &byte, 1), 1);
    close(opened[0]);
    close(opened[1]);
    return child;
}

static void a_second_command_is_refused(void **state)
{
    int bad, code;
    const pid_t child = start_holder();
    append_text("{\"kind\":\"half"); /* the other one's line in mid-write: not for the refused one to cut off */
    assert_refused(child);
    char text[64];
    read_text(text, sizeof text);
    assert_string_equal(text, "{\"kind\":\"half");
    kill(child, SIGKILL);
    write_one("n", 1); /* no need to wait for the killed one first */
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(read_all(&bad).sum == 1 && bad == 0);
}

/* It is the children's, too, and stays locked until the last of them is gone. */
static void children_share_the_lock(void **state)
{
    cnn_error err;
    int code, bad;
    record_sink *sink = open_it();
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        cnn_record *record = record_new("peak");
        record_int(record, "n", 5);
        const cnn_status status = record_write(sink, record, &err);
        record_sink_close(sink); /* gives nothing away */
        _exit(status == CNN_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    assert_refused(getpid());
    record_sink_close(sink);
    assert_true(read_all(&bad).sum == 5);
    record_sink_close(open_it());
}

static void a_lock_can_be_handed_down(void **state)
{
    cnn_error err;
    record_sink *sink = open_it();
    assert_int_equal(record_sink_hand_down(sink, &err), CNN_OK);
    write_one("n", 1);
    write_one("n", 2);
    assert_int_equal(setenv("BENCHCNN_RECORD_LOCK", "0", 1), 0); /* anybody may write anything there */
    assert_refused(getpid());
    const int other = open("/dev/null", O_WRONLY), same = open(path, O_WRONLY);
    char text[16];
    snprintf(text, sizeof text, "%d", other);
    assert_int_equal(setenv("BENCHCNN_RECORD_LOCK", text, 1), 0);
    assert_refused(getpid());
    snprintf(text, sizeof text, "%d", same);
    assert_int_equal(setenv("BENCHCNN_RECORD_LOCK", text, 1), 0);
    assert_refused(getpid());
    unsetenv("BENCHCNN_RECORD_LOCK");
    close(other);
    close(same);
    record_sink_close(sink);
}

static void shared_files_are_not_locked(void **state)
{
    cnn_error err;
    record_sink *a, *b;
    assert_int_equal(record_sink_share(path, &a, &err), CNN_OK);
    assert_int_equal(record_sink_share(path, &b, &err), CNN_OK);
    write_one("n", 1);
    record_sink_close(a);
    record_sink_close(b);
}

static void where_there_are_no_locks_it_goes_on_and_says_so(void **state)
{
    const int codes[] = {ENOLCK, EOPNOTSUPP, ENOSYS};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        refusal = codes[i];
        record_sink *sink = open_it();
        refusal = 0;
        assert_int_equal(record_sink_unlocked(sink), codes[i]);
        record_sink_close(sink);
    }
    record_sink *sink = open_it();
    assert_int_equal(record_sink_unlocked(sink), 0);
    record_sink_close(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILE(a_second_command_is_refused),
        WITH_FILE(children_share_the_lock),
        WITH_FILE(a_lock_can_be_handed_down),
        WITH_FILE(shared_files_are_not_locked),
        WITH_FILE(where_there_are_no_locks_it_goes_on_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
