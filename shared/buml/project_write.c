#include "shared/buml/project_write.h"

#include <stdio.h>
#include <string.h>

#include "shared/base/mem.h"
#include "shared/buml/export.h"
#include "shared/buml/write.h"
#include "shared/diagram/text.h"
#include "shared/json/json.h"
#include "shared/python/emit.h"

#define AGENT_TYPE "AgentDiagram"
#define PROJECT_TEXT_MAX (4 * (size_t)BUML_TEXT_MAX)

/* ---- what there is to write ---------------------------------------------------------------------------------------
 */

static bool holds(const cJSON *model, const char *key)
{
    const cJSON *v = json_get(model, key);

    return v && v->child;
}

/* Each kind of diagram keeps its content under another name. */
static bool has_content(const cJSON *diagram)
{
    static const char *const keys[] = { "elements", "components", "relationships", "nodes", "pages", "cols" };
    const cJSON *model = json_get(diagram, "model");
    size_t i;

    for (i = 0; i < ARRAY_LEN(keys); i++)
        if (holds(model, keys[i]))
            return true;
    return false;
}

/* The diagrams of a kind: a list of them, one alone in old projects. */
static const cJSON *first_of(const cJSON *kind)
{
    return cJSON_IsArray(kind) ? kind->child : cJSON_IsObject(kind) ? kind : NULL;
}

static const cJSON *next_of(const cJSON *kind, const cJSON *diagram)
{
    return cJSON_IsArray(kind) ? diagram->next : NULL;
}

static const char *type_of(const cJSON *kind, const cJSON *diagram)
{
    const cJSON *type = json_get(json_get(diagram, "model"), "type");

    return cJSON_IsString(type) ? type->valuestring : kind->string;
}

/* Names every kind that is not ours once. */
static int refuse_others(const cJSON *diagrams, struct err *err)
{
    auto_buf struct buf names;
    const cJSON *kind, *d;

    buf_init(&names, SIZE_MAX / 2);
    cJSON_ArrayForEach(kind, diagrams)
    {
        for (d = first_of(kind); d; d = next_of(kind, d)) {
            const char *type = type_of(kind, d);

            if (!has_content(d) || strcmp(type, AGENT_TYPE) == 0)
                continue;
            buf_add_fmt(&names, "%s\"%s\"", names.len ? ", " : "", SHOWN(type));
            break;
        }
    }
    if (buf_failed(&names))
        return err_nomem(err);
    if (!names.len)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, 0,
                   "The project holds diagrams of type %.300s, which are not exported here; those of type "
                   "\"" AGENT_TYPE "\" are",
                   names.data);
}

static size_t count(const cJSON *diagrams)
{
    const cJSON *kind, *d;
    size_t n = 0;

    cJSON_ArrayForEach(kind, diagrams)
    {
        for (d = first_of(kind); d; d = next_of(kind, d))
            n += has_content(d);
    }
    return n;
}

/* ---- sections -----------------------------------------------------------------------------------------------------
 */

struct project_writer {
    struct python_parser *parser;
    struct buf *out;
    struct findings *f;
    struct err *err;
    size_t agents, written;
};

/* A name that cannot end the comment or its quotes. */
static bool is_plain(const char *name)
{
    for (; *name; name++)
        if (*name < 0x20 || *name > 0x7e || *name == '"' || *name == '#')
            return false;
    return true;
}

static void add_header(struct project_writer *p, const char *name, struct buf *out)
{
    if (p->written)
        buf_add_str(out, "\n\n");
    else
        buf_add_str(out, BUML_VERSION_COMMENT);
    if (is_plain(name) && strlen(name) <= 200)
        buf_add_fmt(out, "# AGENT MODEL %zu: \"%s\" #\n", p->written + 1, name);
    else
        buf_add_fmt(out, "# AGENT MODEL %zu #\n", p->written + 1);
}

static int write_section(struct project_writer *p, const struct model *m)
{
    struct buml_section section = { .variable = "agent" };
    auto_buf struct buf header;
    char variable[32];

    buf_init(&header, SIZE_MAX / 2);
    if (p->agents > 1) {
        snprintf(variable, sizeof(variable), "agent_%zu", p->written + 1);
        add_header(p, m->name, &header);
        section = (struct buml_section){ variable, header.data };
    }
    if (buf_failed(&header))
        return err_nomem(p->err);
    p->written++;
    if (buml_write_section(m, &section, p->out, p->err) < 0)
        return -1;
    if (p->out->len > PROJECT_TEXT_MAX)
        return err_set(p->err, ERR_BAD_REQUEST, 0, "The B-UML text of the project is longer than %zu MiB",
                       PROJECT_TEXT_MAX >> 20);
    return 0;
}

static int write_diagram(struct project_writer *p, const cJSON *diagram, size_t number)
{
    const cJSON *title = json_get(diagram, "title");
    struct findings part;
    char who[2 * SHOWN_MAX + 40];
    struct model m;
    int rc;

    snprintf(who, sizeof(who), "Agent diagram %zu (\"%s\")", number + 1,
             cJSON_IsString(title) ? SHOWN(title->valuestring) : "");
    findings_init(&part);
    rc = buml_export_model(diagram, p->parser, &m, &part, p->err);
    if (rc == 0) {
        rc = write_section(p, &m);
        model_release(&m);
    }
    if (rc < 0 && p->err->kind == ERR_BAD_REQUEST)
        err_wrap(p->err, "%s", who);
    findings_adopt(p->f, &part, who, NULL, NULL);
    findings_release(&part);
    return rc;
}

static int write_diagrams(struct project_writer *p, const cJSON *diagrams)
{
    const cJSON *kind, *d;
    size_t number;

    cJSON_ArrayForEach(kind, diagrams)
    {
        for (number = 0, d = first_of(kind); d; d = next_of(kind, d), number++)
            if (has_content(d) && write_diagram(p, d, number) < 0)
                return -1;
    }
    return 0;
}

/* ---- the project --------------------------------------------------------------------------------------------------
 */

static void add_text(struct buf *out, const cJSON *project, const char *key)
{
    const cJSON *v = json_get(project, key);

    py_str(out, cJSON_IsString(v) ? v->valuestring : "");
}

/* The metamodel takes no blanks and hyphens in names. */
static void add_name(struct buf *out, const cJSON *project)
{
    const cJSON *v = json_get(project, "name");
    auto_free char *name = mem_strdup(cJSON_IsString(v) && !text_is_blank(v->valuestring) ? v->valuestring : "Project");
    char *c;

    for (c = name; c && *c; c++)
        if (*c == ' ' || *c == '-')
            *c = '_';
    if (name)
        py_str(out, name);
    else
        out->failed = true;
}

static void write_definition(struct project_writer *p, const cJSON *project)
{
    struct buf *out = p->out;
    size_t i;

    if (!p->written)
        buf_add_str(out, BUML_VERSION_COMMENT);
    buf_add_str(out, "\n\n######################\n"
                     "# PROJECT DEFINITION #\n"
                     "######################\n\n"
                     "from besser.BUML.metamodel.project import Project\n"
                     "from besser.BUML.metamodel.structural import Metadata\n\n"
                     "metadata = Metadata(description=");
    add_text(out, project, "description");
    buf_add_str(out, ")\nproject = Project(\n    name=");
    add_name(out, project);
    buf_add_str(out, ",\n    models=[");
    for (i = 1; i <= p->written && p->agents > 1; i++)
        buf_add_fmt(out, "%sagent_%zu", i > 1 ? ", " : "", i);
    buf_add_str(out, p->agents == 1 ? "agent],\n    owner=" : "],\n    owner=");
    add_text(out, project, "owner");
    buf_add_str(out, ",\n    metadata=metadata,\n)\n");
}

int buml_write_project(const cJSON *project, struct python_parser *parser, struct buf *out, struct findings *f,
                       struct err *err)
{
    const cJSON *diagrams = json_get(project, "diagrams");
    struct project_writer p = { parser, out, f, err, count(diagrams), 0 };

    err_clear(err);
    if (refuse_others(diagrams, err) < 0)
        return -1;
    if (p.agents > BUML_PROJECT_AGENTS_MAX)
        return err_set(err, ERR_BAD_REQUEST, 0, "The project has %zu agent diagrams, %d are possible", p.agents,
                       BUML_PROJECT_AGENTS_MAX);
    if (write_diagrams(&p, diagrams) < 0)
        return -1;
    write_definition(&p, project);
    return buf_failed(out) ? err_nomem(err) : 0;
}
