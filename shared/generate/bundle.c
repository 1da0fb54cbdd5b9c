#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/diagram/check.h"
#include "shared/generate/generate.h"
#include "shared/generate/support_files.h"

void bundle_release(struct bundle *b)
{
    size_t i;

    if (!b)
        return;
    for (i = 0; i < b->files_len; i++) {
        mem_free(b->files[i].path);
        mem_free(b->files[i].content);
    }
    mem_free(b->files);
    str_list_release(&b->directories);
    *b = (struct bundle){ 0 };
}

int bundle_add(struct bundle *b, const char *path, const char *content, size_t size, struct err *err)
{
    struct bundle_file made = { .size = size };
    void *array = b->files;

    if (path_check(path, strlen(path)) < 0)
        return err_set(err, ERR_INTERNAL, 0, "\"%s\" is no path inside a bundle", path);
    if (mem_grow(&array, b->files_len, &b->files_cap, sizeof(*b->files)) < 0)
        return err_nomem(err);
    b->files = array;
    made.path = mem_strdup(path);
    made.content = mem_dup(content, size);
    if (!made.path || !made.content) {
        mem_free(made.path);
        mem_free(made.content);
        return err_nomem(err);
    }
    b->files[b->files_len++] = made;
    return 0;
}

const struct bundle_file *bundle_find(const struct bundle *b, const char *path)
{
    size_t i;

    for (i = 0; i < b->files_len; i++)
        if (strcmp(b->files[i].path, path) == 0)
            return &b->files[i];
    return NULL;
}

/* "agent.py", or "<stem>.py" in a download; the caller frees. */
static char *program_path(const struct model *m, const struct generate_options *o)
{
    auto_free char *stem = o->session ? mem_strdup("agent") : path_stem(m->name ? m->name : "");
    auto_buf struct buf path;

    buf_init(&path, 1000);
    if (!stem)
        return NULL;
    buf_add_str(&path, stem);
    buf_add_str(&path, ".py");
    return buf_steal(&path, NULL);
}

static int add_directories(const struct model *m, struct bundle *b, struct err *err)
{
    size_t i;

    for (i = 0; i < m->workspaces_len; i++) {
        auto_free char *path = NULL;

        if (path_normalise(m->workspaces[i].path ? m->workspaces[i].path : "", &path, err) < 0)
            return err_wrap(err, "workspace \"%s\"", m->workspaces[i].name);
        if (str_list_add(&b->directories, path) < 0)
            return err_nomem(err);
    }
    return 0;
}

static int fill(const struct model *m, const struct generate_options *o, struct bundle *b, struct err *err)
{
    auto_free char *path = program_path(m, o), *program = NULL, *config = NULL;

    if (!path)
        return err_nomem(err);
    if (generate_program(m, o, &program, err) < 0 || bundle_add(b, path, program, strlen(program), err) < 0)
        return -1;
    if (generate_config_yaml(m, o, &config, err) < 0 || bundle_add(b, "config.yaml", config, strlen(config), err) < 0)
        return -1;
    if (support_files_add(m, b, err) < 0)
        return -1;
    return o->session ? add_directories(m, b, err) : download_files_add(m, path, b, err);
}

int generate_bundle(const struct model *m, const struct generate_options *o, struct bundle *ret, struct err *err)
{
    struct bundle b = { 0 };

    if (fill(m, o, &b, err) < 0) {
        bundle_release(&b);
        return -1;
    }
    *ret = b;
    return 0;
}
