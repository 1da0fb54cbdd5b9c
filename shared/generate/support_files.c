#include "shared/generate/support_files.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/base/path.h"
#include "shared/diagram/check.h"
#include "shared/diagram/map.h"
#include "shared/diagram/text.h"
#include "shared/generate/stems.h"
#include "shared/gui/module.h"
#include "shared/python/names.h"

/* ---- tools.py
 * ---------------------------------------------------------------------------------------------------
 */

size_t tools_lines(const char *code, size_t first, size_t *ret_last)
{
    size_t len = strlen(code), lines = 0, i;

    for (i = 0; i < len; i++)
        lines += code[i] == '\n';
    if (!len || code[len - 1] != '\n')
        lines++;
    *ret_last = first + lines - 1;
    return first + lines + 1; /* a blank line stands between */
}

static int add_tools(const struct model *m, struct bundle *b, struct err *err)
{
    auto_buf struct buf text;
    size_t i;

    buf_init(&text, SIZE_MAX / 2);
    if (!m->tools_len)
        return 0;
    for (i = 0; i < m->tools_len; i++) {
        const char *code = m->tools[i].code;
        size_t len = strlen(code);

        if (i)
            buf_add_char(&text, '\n');
        buf_add(&text, code, len);
        if (!len || code[len - 1] != '\n')
            buf_add_char(&text, '\n');
    }
    if (buf_failed(&text))
        return err_nomem(err);
    return bundle_add(b, "tools.py", text.data, text.len, err);
}

/* ---- unique stems
 * -------------------------------------------------------------------------------------------------
 */

/* Names that a folder beside the program cannot have, in lower case. */
static int take_files(const struct model *m, struct stems *s)
{
    static const char *const files[] = { "agent.py",    "agent_model.py", "application.log",
                                         "config.yaml", "guis",           "readme.txt",
                                         "skills",      "tools.py",       "user_profiles.json",
                                         "vector_store" };
    auto_free char *program = program_path(m, false);
    size_t i;

    if (!program || stems_reserve(s, program) < 0)
        return -1;
    for (i = 0; i < ARRAY_LEN(files); i++)
        if (stems_reserve(s, files[i]) < 0)
            return -1;
    return 0;
}

/* Stems of the names that name_at() gives, until NULL. */
static int unique_stems(const struct model *m, const char *(*name_at)(const struct model *m, size_t i), bool folders,
                        struct str_list *ret, struct err *err)
{
    struct str_list list = { 0 };
    struct stems s;
    const char *name;
    int result;

    stems_init(&s);
    result = folders ? take_files(m, &s) : 0;
    while (result == 0 && (name = name_at(m, list.len)))
        result = stems_add(&s, name, folders, &list);
    stems_release(&s);
    if (result < 0) {
        str_list_release(&list);
        return err_nomem(err);
    }
    *ret = list;
    return 0;
}

static const char *skill_name(const struct model *m, size_t i)
{
    return i < m->skills_len ? m->skills[i].name : NULL;
}

int skill_stems(const struct model *m, struct str_list *ret, struct err *err)
{
    return unique_stems(m, skill_name, false, ret, err);
}

static const char *rag_name(const struct model *m, size_t i)
{
    return i < m->rags_len ? m->rags[i].name : NULL;
}

int rag_folders(const struct model *m, struct str_list *ret, struct err *err)
{
    return unique_stems(m, rag_name, true, ret, err);
}

/* Names one file whatever the file system, and nothing outside of its folder. */
static bool is_safe_as_is(const char *name)
{
    const char *s;

    for (s = name; (unsigned char)*s >= 0x20 && *s != 0x7f && *s != '/' && *s != '\\'; s++)
        ;
    return !*s && *name && *name != '.' && s - name <= PATH_STEM_MAX;
}

int rag_stores(const struct model *m, struct str_list *ret, struct err *err)
{
    struct str_list list = { 0 };
    struct stems s;
    int result = 0;

    stems_init(&s);
    while (result == 0 && list.len < m->rags_len) {
        auto_free char *lower = text_lower(m->rags[list.len].name);

        result = !lower                 ? -1
                 : is_safe_as_is(lower) ? stems_add_as_is(&s, lower, &list)
                                        : stems_add(&s, lower, true, &list);
    }
    stems_release(&s);
    if (result < 0) {
        str_list_release(&list);
        return err_nomem(err);
    }
    *ret = list;
    return 0;
}

/* ---- skills
 * ------------------------------------------------------------------------------------------------------
 */

static int add_skills(const struct model *m, struct bundle *b, struct err *err)
{
    struct str_list stems = { 0 };
    size_t i;
    int result = 0;

    if (skill_stems(m, &stems, err) < 0)
        return -1;
    for (i = 0; i < stems.len && result == 0; i++) {
        const char *content = m->skills[i].content ? m->skills[i].content : "";
        auto_buf struct buf path;

        buf_init(&path, 1000);
        if (buf_add_fmt(&path, "skills/%s.md", stems.items[i]) < 0)
            result = err_nomem(err);
        else
            result = bundle_add(b, path.data, content, strlen(content), err);
    }
    str_list_release(&stems);
    return result;
}

/* ---- GUIs
 * -------------------------------------------------------------------------------------------------------
 */

void gui_modules_free(const struct model *m, char **modules)
{
    size_t i;

    for (i = 0; modules && i < m->guis_len; i++)
        mem_free(modules[i]);
    mem_free(modules);
}

/* The first reply that shows each GUI, NULL for GUIs that none shows; by the GUI's index. The caller frees *ret. */
static int find_replies(const struct model *m, const struct action ***ret)
{
    const struct action **replies = mem_zalloc(m->guis_len, sizeof(*replies));
    size_t i, j, k;

    for (i = 0; replies && i < m->states_len; i++) {
        const struct action_list *lists[] = { &m->states[i].body, &m->states[i].fallback };

        for (j = 0; j < ARRAY_LEN(lists); j++)
            for (k = 0; k < lists[j]->len; k++) {
                const struct action *a = &lists[j]->items[k];

                if (a->kind == ACTION_GUI && a->gui != MODEL_NONE && !replies[a->gui])
                    replies[a->gui] = a;
            }
    }
    *ret = replies;
    return replies ? 0 : -1;
}

static int name_modules(const struct model *m, const struct action *const *replies, struct names *names, char **modules,
                        struct err *err)
{
    size_t i;

    if (names_reserve(names, "__init__", err) < 0)
        return -1;
    for (i = 0; i < m->guis_len; i++) {
        const char *name;

        if (!replies[i])
            continue;
        name = names_make(names, m->guis[i].gui_id, err);
        if (!name)
            return -1;
        modules[i] = mem_strdup(name);
        if (!modules[i])
            return err_nomem(err);
    }
    return 0;
}

int gui_modules(const struct model *m, char ***ret, struct err *err)
{
    char **modules = mem_zalloc(m->guis_len, sizeof(*modules));
    auto_free const struct action **replies = NULL;
    struct names names;
    int result;

    if (!modules)
        return err_nomem(err);
    names_init(&names);
    result = find_replies(m, &replies) < 0 ? err_nomem(err) : name_modules(m, replies, &names, modules, err);
    names_release(&names);
    if (result < 0) {
        gui_modules_free(m, modules);
        return -1;
    }
    *ret = modules;
    return 0;
}

static int add_gui(const struct gui *g, const char *width, const char *module, struct bundle *b, struct err *err)
{
    auto_free char *text = NULL;
    auto_buf struct buf path;

    buf_init(&path, 1000);
    if (gui_module_text(g, width, &text, err) < 0)
        return -1;
    if (buf_add_fmt(&path, "guis/%s.py", module) < 0)
        return err_nomem(err);
    return bundle_add(b, path.data, text, strlen(text), err);
}

static int add_guis(const struct model *m, struct bundle *b, struct err *err)
{
    auto_free const struct action **replies = NULL;
    char **modules = NULL;
    bool any = false;
    size_t i;
    int result = 0;

    if (find_replies(m, &replies) < 0)
        return err_nomem(err);
    if (gui_modules(m, &modules, err) < 0)
        return -1;
    for (i = 0; i < m->guis_len && result == 0; i++) {
        if (!modules[i])
            continue;
        if (!any)
            result = bundle_add(b, "guis/__init__.py", "", 0, err);
        any = true;
        if (result == 0)
            result = add_gui(&m->guis[i], replies[i]->width, modules[i], b, err);
    }
    gui_modules_free(m, modules);
    return result;
}

static int by_path(const void *a, const void *b)
{
    const struct bundle_file *one = a, *two = b;

    return strcmp(one->path, two->path);
}

static void sort_from(struct bundle *b, size_t first)
{
    if (b->files_len > first)
        qsort(b->files + first, b->files_len - first, sizeof(*b->files), by_path);
}

int support_files_add(const struct model *m, struct bundle *b, struct err *err)
{
    size_t first;

    if (add_tools(m, b, err) < 0)
        return -1;
    first = b->files_len;
    if (add_skills(m, b, err) < 0)
        return -1;
    sort_from(b, first);
    first = b->files_len;
    if (add_guis(m, b, err) < 0)
        return -1;
    sort_from(b, first);
    return 0;
}

/* ---- downloads
 * --------------------------------------------------------------------------------------------------
 */

static int add_readme(const struct model *m, const char *program, struct bundle *b, struct err *err)
{
    auto_buf struct buf text;

    buf_init(&text, SIZE_MAX / 2);
    buf_add_fmt(&text,
                "An agent for the BESSER Agentic Framework\n"
                "\n"
                "It needs Python 3.11 and the framework:\n"
                "\n"
                "    pip install 'besser-agentic-framework[all]==4.5.3'\n"
                "\n"
                "Start it in this folder:\n"
                "\n"
                "    python %s\n"
                "\n"
                "Settings are in config.yaml. API keys of language models belong below nlp, one "
                "per provider,\n"
                "in place of YOUR-API-KEY%s.\n"
                "\n"
                "The framework is documented at https://besser-agentic-framework.readthedocs.io\n",
                program, m->llms_len ? "" : "; this agent uses none");
    if (m->settings.texts_stay)
        buf_add_fmt(&text,
                    "\n"
                    "All texts are as drawn. These settings ask for other ones, and nothing was rewritten or "
                    "translated:\n"
                    "%s\n",
                    m->settings.texts_stay);
    if (buf_failed(&text))
        return err_nomem(err);
    return bundle_add(b, "readme.txt", text.data, text.len, err);
}

/* What the framework's user interface lets a user choose from. */
static int add_user_profiles(const struct model *m, struct bundle *b, struct err *err)
{
    auto_buf struct buf text;
    size_t i;

    buf_init(&text, SIZE_MAX / 2);
    if (!m->profiles_len)
        return 0;
    for (i = 0; i < m->profiles_len; i++) {
        const char *name = m->profiles[i].name;

        buf_add_str(&text, i ? ",\n  {\n    \"name\": " : "[\n  {\n    \"name\": ");
        buf_add_json_str(&text, name, strlen(name));
        buf_add_str(&text, ",\n    \"user_profile\": ");
        value_write(value_get(&m->settings.personalization.items[i], "user_profile"), 4, &text);
        buf_add_str(&text, "\n  }");
    }
    buf_add_str(&text, "\n]\n");
    if (buf_failed(&text))
        return err_nomem(err);
    return bundle_add(b, "user_profiles.json", text.data, text.len, err);
}

int download_files_add(const struct model *m, const char *program, struct bundle *b, struct err *err)
{
    static const char note[] = "Put the PDF files that the agent answers from into this folder.\n";
    struct str_list folders = { 0 };
    size_t i;
    int result;

    if (add_readme(m, program, b, err) < 0 || add_user_profiles(m, b, err) < 0 || rag_folders(m, &folders, err) < 0)
        return -1;
    for (i = 0, result = 0; i < folders.len && result == 0; i++) {
        auto_buf struct buf path;

        buf_init(&path, 1000);
        if (buf_add_fmt(&path, "%s/README.txt", folders.items[i]) < 0)
            result = err_nomem(err);
        else
            result = bundle_add(b, path.data, note, sizeof(note) - 1, err);
    }
    str_list_release(&folders);
    return result;
}
