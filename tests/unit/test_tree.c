#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/base/io.h"
#include "shared/base/mem.h"
#include "shared/ipc/frame.h"
#include "shared/ipc/hold.h"
#include "shared/ipc/wire.h"
#include "supervisor/holder/beneath.h"
#include "supervisor/holder/tree.h"
#include "supervisor/launcher/remove_tree.h"
#include "tests/support/oom.h"

struct place {
    char path[64];
    int root;
    int sock[2];
    struct tree tree;
};

static void put(int root, const char *path, const char *text)
{
    auto_fd int fd = beneath_append(root, path);

    assert_true(fd >= 0);
    assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
}

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    snprintf(p->path, sizeof(p->path), "/tmp/agentsim-tree-XXXXXX");
    if (!mkdtemp(p->path) || (p->root = open(p->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->sock) < 0)
        return -1;
    put(p->root, "b/two", "22");
    put(p->root, "a", "1");
    put(p->root, "tmp/hidden", "x");
    put(p->root, "b/tmp/shown", "333");
    if (symlinkat("/etc/passwd", p->root, "link") < 0 || mkfifoat(p->root, "fifo", 0600) < 0)
        return -1;
    p->tree = (struct tree){ .root = p->root, .sock = p->sock[0], .owner = getuid() };
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct place *p = *state;
    int r = remove_tree(p->root) < 0 || rmdir(p->path) < 0 ? -1 : 0;

    close(p->root);
    close(p->sock[0]);
    close(p->sock[1]);
    free(p);
    return r;
}

/* Next message as text: "D path", "F path size [content]", "= data", "$ truncated", "! kind". */
static void expect(struct place *p, const char *text)
{
    auto_buf struct buf payload, got;
    struct wire_in in;
    uint16_t type;
    size_t len;
    uint8_t kind;

    buf_init(&payload, HOLD_MAX_PAYLOAD);
    buf_init(&got, 10000);
    assert_int_equal(frame_recv(p->sock[1], &type, &payload, NULL, NULL), 1);
    wire_start(&in, payload.data, payload.len);
    if (type == HOLD_ENTRY) {
        kind = wire_get_u8(&in);
        buf_add_fmt(&got, "%c %s ", kind == HOLD_ENTRY_DIR ? 'D' : 'F',
                    (const char *)wire_get_bytes(&in, HOLD_PATH_MAX, &len));
        buf_add_fmt(&got, "%u", (unsigned)wire_get_u64(&in));
        if (wire_get_u8(&in))
            buf_add_char(&got, ' ');
        buf_add_str(&got, wire_get_bytes(&in, 1000, &len));
    } else if (type == HOLD_DATA) {
        buf_add_fmt(&got, "= %s", (const char *)wire_get_bytes(&in, HOLD_CHUNK, &len));
    } else if (type == HOLD_LAST) {
        buf_add_fmt(&got, "$ %u", wire_get_u8(&in));
    } else if (type == HOLD_FAILED) {
        buf_add_fmt(&got, "! %u", wire_get_u32(&in));
        wire_get_u32(&in);
        wire_get_str(&in, HOLD_TEXT_MAX);
    }
    assert_int_equal(wire_end(&in), 0);
    assert_string_equal(got.data, text);
}

static void a_listing_is_sorted_and_shows_small_contents(void **state)
{
    struct place *p = *state;

    assert_int_equal(tree_list(&p->tree, 2, NULL), 0);
    expect(p, "F a 1 1");
    expect(p, "D b 0");
    expect(p, "D b/tmp 0"); /* only the one at the top is ours */
    expect(p, "F b/tmp/shown 3");
    expect(p, "F b/two 2 22");
    expect(p, "$ 0");
}

static void an_archive_has_all_contents(void **state)
{
    struct place *p = *state;

    assert_int_equal(tree_walk(&p->tree, NULL), 0);
    expect(p, "F a 1");
    expect(p, "= 1");
    expect(p, "D b 0");
    expect(p, "D b/tmp 0");
    expect(p, "F b/tmp/shown 3");
    expect(p, "= 333");
    expect(p, "F b/two 2");
    expect(p, "= 22");
    expect(p, "$ 0");
}

static void one_file_is_read_or_not_found(void **state)
{
    static const char *const missing[] = { "",    "nothing",    "b",    "link",       "fifo",
                                           "tmp", "tmp/hidden", "../x", "/etc/passwd" };
    struct place *p = *state;
    size_t i;

    assert_int_equal(tree_read(&p->tree, "b/two", NULL), 0);
    expect(p, "F b/two 2");
    expect(p, "= 22");
    expect(p, "$ 0");
    for (i = 0; i < ARRAY_LEN(missing); i++) {
        assert_int_equal(tree_read(&p->tree, missing[i], NULL), 0);
        expect(p, "! 5");
    }
    assert_int_equal(ERR_NOT_FOUND, 5);
}

static void files_of_others_are_not_shown(void **state)
{
    struct place *p = *state;

    p->tree.owner++;
    assert_int_equal(tree_list(&p->tree, 100, NULL), 0);
    expect(p, "D b 0");
    expect(p, "D b/tmp 0");
    expect(p, "$ 0");
}

static void a_peer_that_has_gone_ends_the_answer(void **state)
{
    struct place *p = *state;
    struct err err = { 0 };

    shutdown(p->sock[1], SHUT_RDWR);
    assert_int_equal(tree_walk(&p->tree, &err), -1);
    assert_int_equal(err.kind, ERR_UNAVAILABLE);
}

static void short_memory_ends_the_answer(void **state)
{
    struct place *p = *state;

    io_set_nonblock(p->sock[1], true);
    OOM_SWEEP({
        char drop[4096];
        int r = tree_list(&p->tree, 100, NULL);

        assert_int_equal(r < 0, oom_hit());
        while (read(p->sock[1], drop, sizeof(drop)) > 0)
            ;
    });
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_listing_is_sorted_and_shows_small_contents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_archive_has_all_contents, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_file_is_read_or_not_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_of_others_are_not_shown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_peer_that_has_gone_ends_the_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(short_memory_ends_the_answer, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
