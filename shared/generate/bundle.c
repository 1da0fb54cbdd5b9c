#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/diagram/check.h"
#include "shared/diagram/map.h"
#include "shared/generate/generate.h"
#include "shared/generate/module_names.h"
#include "shared/generate/support_files.h"
#include "shared/python/parser.h"

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

static int add_file(struct bundle *b, const char *path, char *steal_content, size_t size, struct err *err)
{
    auto_free char *content = steal_content, *name = mem_strdup(path);
    void *array = b->files;

    if (path_check(path, strlen(path)) < 0)
        return err_set(err, ERR_INTERNAL, 0, "\"%s\" is no path inside a bundle", path);
    if (!content || !name || mem_grow(&array, b->files_len, &b->files_cap, sizeof(*b->files)) < 0)
        return err_nomem(err);
    b->files = array;
    b->files[b->files_len++] =
        (struct bundle_file){ .path = steal_ptr(name), .content = steal_ptr(content), .size = size };
    return 0;
}

int bundle_add(struct bundle *b, const char *path, const char *content, size_t size, struct err *err)
{
    return add_file(b, path, mem_dup(content, size), size, err);
}

/* Frees the text on failure, too. */
static int take(struct bundle *b, const char *path, char *steal_text, struct err *err)
{
    return add_file(b, path, steal_text, strlen(steal_text), err);
}

const struct bundle_file *bundle_find(const struct bundle *b, const char *path)
{
    size_t i;

    for (i = 0; i < b->files_len; i++)
        if (strcmp(b->files[i].path, path) == 0)
            return &b->files[i];
    return NULL;
}

char *program_path(const struct model *m, bool session)
{
    auto_free char *stem = session ? mem_strdup("agent") : path_stem(m->name ? m->name : "");
    auto_buf struct buf path;

    buf_init(&path, 1000);
    if (!stem)
        return NULL;
    buf_add_str(&path, stem);
    if (!session && module_name_is_taken(stem)) /* calendar.py would be imported by the framework */
        buf_add_str(&path, "_agent");
    buf_add_str(&path, ".py");
    return buf_steal(&path, NULL);
}

/* A directory that is a file of the bundle, or lies below one, cannot be made. */
static int check_directory(const struct map *files, const char *path, struct err *err)
{
    const char *slash = path;

    do {
        slash = strchr(slash + 1, '/');
        if (map_get(files, path, slash ? (size_t)(slash - path) : strlen(path)) != MAP_NONE)
            return err_set(err, ERR_BAD_REQUEST, 0, "the path \"%s\" is that of a file of the agent", path);
    } while (slash);
    return 0;
}

static int add_directory(const struct workspace *w, const struct map *files, struct bundle *b, struct err *err)
{
    auto_free char *path = NULL;

    if (path_normalise(w->path ? w->path : "", &path, err) < 0 || check_directory(files, path, err) < 0)
        return err_wrap(err, "workspace \"%s\"", w->name);
    return str_list_add(&b->directories, path) < 0 ? err_nomem(err) : 0;
}

static int add_directories(const struct model *m, struct bundle *b, struct err *err)
{
    struct map files;
    size_t i;
    int result = 0;

    map_init(&files);
    for (i = 0; i < b->files_len && result == 0; i++)
        if (map_put(&files, b->files[i].path, strlen(b->files[i].path), i, NULL) < 0)
            result = err_nomem(err);
    for (i = 0; i < m->workspaces_len && result == 0; i++)
        result = add_directory(&m->workspaces[i], &files, b, err);
    map_release(&files);
    return result;
}

/* A session writes into the file, whatever is asked for here: one that cannot be written into has no session. */
static int check_config(const struct model *m, const struct generate_options *o, struct err *err)
{
    struct generate_options session = *o;
    auto_free char *config = NULL;

    if (!o->session || o->host || !m->config_yaml)
        return 0;
    session.host = "127.0.0.1";
    return generate_config_yaml(m, &session, &config, err);
}

static int add_config(const struct model *m, const struct generate_options *o, struct bundle *b, struct err *err)
{
    auto_free char *config = NULL;

    if (o->verdict && !m->config_yaml)
        return 0; /* nothing of the diagram's to find fault with */
    if (check_config(m, o, err) < 0 || generate_config_yaml(m, o, &config, err) < 0)
        return -1;
    return bundle_add(b, "config.yaml", config, strlen(config), err);
}

static int fill(const struct model *m, const struct generate_options *o, struct bundle *b, struct err *err)
{
    auto_free char *path = program_path(m, o->session);
    char *program = NULL;

    if (!path)
        return err_nomem(err);
    if (generate_program(m, o, &program, err) < 0 || take(b, path, program, err) < 0)
        return -1;
    if (b->files[0].size > PYTHON_SOURCE_MAX)
        return 0; /* refused whatever comes with it, which can be as much again */
    if (add_config(m, o, b, err) < 0 || support_files_add(m, b, err) < 0)
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
