/* test_mail.c: what a run says reaches the process that watches it whole; what others write where it speaks does not.
 */
#include "harness/process/mail.h"
#include "tests/unit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG = 3 * MAIL_PART + 5 };

static mail_box *new_box(void)
{
    mail_box *box = mmap(NULL, sizeof *box, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(box != MAP_FAILED);
    return box;
}

static mail begin(void)
{
    mail m;
    cnn_error err;
    assert_int_equal(mail_open(&m, new_box(), &err), CNN_OK);
    mail_begin(&m);
    return m;
}

static void end(mail *m)
{
    munmap(m->box, sizeof *m->box);
    mail_close(m);
}

static mail_state next(mail *m)
{
    mail_state state;
    do {
        mail_wait(m->box, 1000);
        state = mail_take(m);
    } while (state == MAIL_NONE || state == MAIL_PARTLY);
    return state;
}

/* In a child: says "short", then LONG letters; each answer must be of that message. */
static pid_t start_run(mail *m)
{
    const pid_t pid = fork();
    if (pid != 0) return pid;
    mail_answer answer;
    char *text = malloc(LONG);
    for (int i = 0; text != NULL && i < LONG; i++) text[i] = (char)('a' + i % 26);
    mail_ask(m, "short", 5, &answer);
    const bool first = answer.status == CNN_OK && answer.numbers[0] == 5 && strcmp(answer.text, "heard") == 0;
    if (text != NULL) mail_ask(m, text, LONG, &answer);
    free(text);
    _exit(first && answer.status == CNN_IO && answer.numbers[0] == LONG ? 0 : 1);
}

static void messages_and_answers(void **state)
{
    mail m = begin();
    int status;
    const pid_t pid = start_run(&m);
    assert_int_equal(next(&m), MAIL_WHOLE);
    assert_int_equal(m.length, 5);
    assert_string_equal(m.message, "short");
    mail_reply(&m, &(mail_answer){.status = CNN_OK, .numbers = {5}, .text = "heard"});
    assert_int_equal(next(&m), MAIL_WHOLE);
    assert_int_equal(m.length, LONG);
    for (int i = 0; i < LONG; i++) assert_int_equal(m.message[i], 'a' + i % 26);
    mail_reply(&m, &(mail_answer){.status = CNN_IO, .numbers = {LONG}});
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(mail_take(&m), MAIL_NONE);
    end(&m);
}

static void put(mail *m, uint64_t number, const char *text)
{
    m->box->part.number = number;
    m->box->part.length = (uint32_t)strlen(text);
    memcpy(m->box->part.bytes, text, strlen(text));
    atomic_store(&m->box->full, true);
}

static void what_others_write_is_no_message(void **state)
{
    mail m = begin();
    put(&m, 0, "PASSED"); /* without a tag */
    assert_int_equal(mail_take(&m), MAIL_FORGED);
    m.box->part.length = UINT32_MAX;
    assert_int_equal(mail_take(&m), MAIL_FORGED);

    mail_begin(&m); /* a message of the run, once more, and with other letters or another number */
    const pid_t pid = start_run(&m);
    assert_int_equal(next(&m), MAIL_WHOLE);
    assert_int_equal(mail_take(&m), MAIL_FORGED);
    put(&m, 1, "short");
    assert_int_equal(mail_take(&m), MAIL_FORGED);
    m.number = 0;
    m.length = 0;
    put(&m, 0, "shirt");
    assert_int_equal(mail_take(&m), MAIL_FORGED);
    put(&m, 0, "short");
    assert_int_equal(mail_take(&m), MAIL_WHOLE);
    m.number = 0;
    m.length = 0;
    const hash_key of_this_run = m.key;
    m.key = hash_new_key();
    assert_int_equal(mail_take(&m), MAIL_FORGED);
    m.key = of_this_run;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    end(&m);
}

/* A run that died in the middle of a message: the next one is heard from its beginning. */
static void half_a_message_is_forgotten(void **state)
{
    mail m = begin();
    int status;
    put(&m, 0, "half");
    m.message = malloc(64);
    m.room = 64;
    m.length = 4;
    mail_begin(&m);
    const pid_t pid = start_run(&m);
    assert_int_equal(next(&m), MAIL_WHOLE);
    assert_string_equal(m.message, "short");
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_and_answers),
        cmocka_unit_test(what_others_write_is_no_message),
        cmocka_unit_test(half_a_message_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
