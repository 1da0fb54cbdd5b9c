#include <ctype.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/diagram/check.h"
#include "shared/diagram/text.h"
#include "shared/generate/program.h"
#include "shared/generate/support_files.h"

/* Reasoning states use all tools, skills and workspaces of the agent. */

/* NULL for a text that is blank. */
static int unless_blank(const char *text, const char **ret, struct err *err)
{
    auto_free char *trimmed = text ? text_trim(text) : NULL;

    if (text && !trimmed)
        return err_nomem(err);
    *ret = trimmed && *trimmed ? text : NULL;
    return 0;
}

static int write_tools(struct program *p)
{
    const struct model *m = p->model;
    size_t i, first = 1, next, last;

    if (m->tools_len)
        code_heading(&p->code, "Tools");
    for (i = 0; i < m->tools_len; i++, first = next) {
        const char *description = NULL;

        if (unless_blank(m->tools[i].description, &description, p->err) < 0)
            return -1;
        next = tools_lines(m->tools[i].code, first, &last);
        code_line(&p->code, "@load_tool(%s, %s, %d, %d)", m->tools[i].name, description, (int64_t)first, (int64_t)last);
    }
    return 0;
}

static int write_skills(struct program *p)
{
    const struct model *m = p->model;
    struct code_writer *w = &p->code;
    struct str_list stems = { 0 };
    size_t i;

    if (skill_stems(m, &stems, p->err) < 0)
        return -1;
    if (m->skills_len)
        code_heading(w, "Skills");
    for (i = 0; i < m->skills_len; i++) {
        code_call(w, "@agent.new_skill");
        code_arg(w, "@os.path.join(@here, 'skills', '%n.md')", stems.items[i]);
        code_arg(w, "name=%s", m->skills[i].name);
        if (m->skills[i].description && *m->skills[i].description)
            code_arg(w, "description=%s", m->skills[i].description);
        code_call_end(w, "");
    }
    str_list_release(&stems);
    return 0;
}

/* Whether a path means a folder below the one the agent is started in. Others are their owner's to make. */
static bool is_below(const char *path)
{
    bool drive = isalpha((unsigned char)path[0]) && path[1] == ':';

    return *path && !strchr("/\\~", *path) && !drive;
}

/* In a session a workspace lies inside the agent's folder, whatever was drawn [V10], and the session makes it. A
 * download makes it itself: the framework ends when a workspace is not there. */
static int write_workspace(struct program *p, const struct workspace *s)
{
    struct code_writer *w = &p->code;
    const char *path = s->path ? s->path : "";
    auto_free char *inside = NULL;
    struct err err;

    if (path_normalise(path, &inside, &err) < 0 && (p->options->session || err.kind != ERR_BAD_REQUEST))
        return err_set(p->err, err.kind, 0, "%s", err.msg);
    if (!p->options->session && inside && is_below(path))
        code_line(w, "@os.makedirs(%s, exist_ok=%b)", path, true);
    code_call(w, "@agent.new_workspace");
    code_arg(w, "name=%s", s->name);
    code_arg(w, "path=%s", p->options->session ? inside : s->path);
    if (s->description && *s->description)
        code_arg(w, "description=%s", s->description);
    code_arg(w, "writable=%b", s->writable);
    code_arg(w, "max_read_bytes=%d", s->max_read_bytes);
    code_call_end(w, "");
    return 0;
}

int program_write_reasoning(struct program *p)
{
    size_t i;

    if (write_tools(p) < 0 || write_skills(p) < 0)
        return -1;
    if (p->model->workspaces_len)
        code_heading(&p->code, "Workspaces");
    for (i = 0; i < p->model->workspaces_len; i++)
        if (write_workspace(p, &p->model->workspaces[i]) < 0)
            return -1;
    return 0;
}
