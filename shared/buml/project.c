#include "shared/buml/project.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "shared/base/mem.h"
#include "shared/buml/read.h"
#include "shared/diagram/text.h"

void buml_agents_release(struct buml_agents *a)
{
    size_t i;

    if (!a)
        return;
    for (i = 0; i < a->len; i++) {
        mem_free(a->items[i].title);
        model_release(&a->items[i].model);
    }
    mem_free(a->items);
    buml_project_release(&a->project);
    *a = (struct buml_agents){ 0 };
}

/* ---- what a file is -----------------------------------------------------------------------------------------------
 */

static bool has_word(const char *text, size_t len, const char *word)
{
    size_t n = strlen(word), i;

    for (i = 0; i + n <= len; i++)
        if (tolower((unsigned char)text[i]) == word[0] && strncasecmp(text + i, word, n) == 0)
            return true;
    return false;
}

static bool has_any(const struct buml_upload *u, const char *const *words)
{
    for (; *words; words++)
        if (has_word(u->text, u->len, *words))
            return true;
    return false;
}

static bool is_project(const struct buml_upload *u)
{
    static const char *const words[] = { "project(", "def create_project", NULL };

    return has_any(u, words);
}

static bool is_agent(const struct buml_upload *u)
{
    static const char *const words[] = { "agent(",        ".new_intent(",
                                         ".new_state(",   "when_intent_matched",
                                         "session.reply", NULL };

    return has_any(u, words);
}

static const struct kind {
    const char *variable, *diagram;
    const char *words[7];
} kinds[] = {
    { "domain_model", "ClassDiagram", { "domainmodel(", ".create_class(", ".add_attribute(", ".create_association" } },
    { "object_model", "ObjectDiagram", { "objectmodel(" } },
    { "user_model", "UserDiagram", { NULL } },
    { "user_object_model", "UserDiagram", { NULL } },
    { "gui_model",
      "GUINoCodeDiagram",
      { "guimodel(", ".new_screen(", ".new_module(", "viewcomponent", "viewcontainer" } },
    { "quantum_model", "QuantumCircuitDiagram", { "quantumcircuit(" } },
    { "sm", "StateMachineDiagram", { "statemachine(", "when_event_go_to", ".add_transition", ".new_body" } },
    { "nn_model", "NNDiagram", { ".add_layer(", ".add_tensor_op(", ".add_sub_nn(", ".add_configuration(" } },
    { "bpmn_model", "BPMNDiagram", { "bpmnmodel(", ".add_process(", ".add_flow_node(", ".add_sequence_flow(" } },
    { "component_model", "ComponentDiagram", { "componentmodel(", ".add_component(", "agenticedge(" } },
    { "deployment_model", "DeploymentDiagram", { "deploymentmodel(", "deploymentrelation(", "communicationpath(" } },
};

static int refuse_kind(const struct buml_upload *u, struct err *err)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(kinds); i++)
        if (has_any(u, kinds[i].words))
            return err_set(err, ERR_BAD_REQUEST, 0, "The file holds a %s; only agent diagrams can be imported here",
                           kinds[i].diagram);
    return err_set(err, ERR_BAD_REQUEST, 0, "The file holds no agent: nothing in it makes one, its states or intents");
}

/* ---- models=[...] -------------------------------------------------------------------------------------------------
 */

/* "agent_2" is one of the agents: a number behind the name does not count. */
static bool is_variable(const char *name, const char *base)
{
    size_t n = strlen(base);

    if (strncmp(name, base, n) != 0)
        return false;
    return !name[n] || (name[n] == '_' && name[n + 1] && !name[n + 1 + strspn(name + n + 1, "0123456789")]);
}

static bool names_agents(const struct buml_project *p)
{
    size_t i;

    for (i = 0; i < p->models.len; i++)
        if (is_variable(p->models.items[i], "agent"))
            return true;
    return false;
}

/* Projects with diagrams of other kinds are not ours. */
static int check_models(const struct buml_project *p, struct err *err)
{
    char found[400] = "";
    size_t i, k, n = 0;

    for (k = 0; k < ARRAY_LEN(kinds); k++)
        for (i = 0; i < p->models.len; i++)
            if (is_variable(p->models.items[i], kinds[k].variable) && !strstr(found, kinds[k].diagram))
                n += (size_t)snprintf(found + n, sizeof(found) - n, "%s%s", n ? ", " : "", kinds[k].diagram);
    if (!n)
        return 0;
    return err_set(err, ERR_BAD_REQUEST, 0,
                   "The project holds diagrams of other kinds (%s); only agent diagrams can be imported here", found);
}

/* ---- sections -----------------------------------------------------------------------------------------------------
 */

struct header {
    int line;
    bool agent;
    const char *title; /* borrowed, not ended */
    size_t title_len;
    long number; /* 0: none */
};

static size_t skip_blanks(const char *s, size_t at, size_t len)
{
    while (at < len && (s[at] == ' ' || s[at] == '\t'))
        at++;
    return at;
}

static bool take_word(const char *s, size_t *at, size_t len, const char *word)
{
    size_t n = strlen(word);

    if (len - *at < n || strncasecmp(s + *at, word, n) != 0)
        return false;
    *at = skip_blanks(s, *at + n, len);
    return true;
}

/* [<n>][: "<title>"] # */
static bool read_rest(const char *s, size_t at, size_t len, struct header *ret)
{
    while (at < len && isdigit((unsigned char)s[at]) && ret->number < 100000)
        ret->number = ret->number * 10 + (s[at++] - '0');
    at = skip_blanks(s, at, len);
    if (take_word(s, &at, len, ":")) {
        const char *end;

        if (at == len || s[at] != '"')
            return false;
        ret->title = s + ++at;
        end = memchr(ret->title, '"', len - at);
        if (!end)
            return false;
        ret->title_len = (size_t)(end - ret->title);
        at = skip_blanks(s, at + ret->title_len + 1, len);
    }
    return at < len && s[at] == '#';
}

/* # <KEYWORD> MODEL ... #, or # PROJECT DEFINITION # */
static bool read_header(const char *s, size_t len, struct header *ret)
{
    static const char *const words[] = { "STRUCTURAL",    "OBJECT", "AGENT", "GUI",       "QUANTUM",
                                         "STATE MACHINE", "NN",     "BPMN",  "COMPONENT", "DEPLOYMENT" };
    size_t at = 0, i;

    if (!take_word(s, &at, len, "#"))
        return false;
    if (take_word(s, &at, len, "PROJECT DEFINITION"))
        return true;
    for (i = 0; i < ARRAY_LEN(words); i++)
        if (take_word(s, &at, len, words[i])) {
            ret->agent = strcmp(words[i], "AGENT") == 0;
            return take_word(s, &at, len, "MODEL") && read_rest(s, at, len, ret);
        }
    return false;
}

static size_t line_len(const struct buml_file *f, size_t line)
{
    size_t start = f->lines[line - 1], end = line < f->lines_len ? f->lines[line] : f->len;

    while (end > start && (f->text[end - 1] == '\n' || f->text[end - 1] == '\r'))
        end--;
    return end - start;
}

struct headers {
    struct header *items;
    size_t len, cap;
};

static int add_header(struct headers *h, const struct header *one, struct err *err)
{
    void *array = h->items;

    if (mem_grow(&array, h->len, &h->cap, sizeof(*h->items)) < 0)
        return err_nomem(err);
    h->items = array;
    h->items[h->len++] = *one;
    return 0;
}

/* Comments between the top-level statements; what looks like one inside of a text is none. */
static int find_headers(const struct buml_file *f, struct headers *h, struct err *err)
{
    const struct node_list *body = node_list(f->tree.module, PART_BODY);
    size_t line, at = 0;

    for (line = 1; line <= f->lines_len; line++) {
        struct header one = { .line = (int)line };

        while (at < body->len && body->items[at]->end_line < (int)line)
            at++;
        if (at < body->len && body->items[at]->line < (int)line)
            continue;
        if (read_header(f->text + f->lines[line - 1], line_len(f, line), &one) && add_header(h, &one, err) < 0)
            return -1;
    }
    return 0;
}

static bool has_statements(const struct buml_file *f, int from, int to)
{
    const struct node_list *body = node_list(f->tree.module, PART_BODY);
    size_t i;

    for (i = 0; i < body->len; i++)
        if (body->items[i]->line >= from && body->items[i]->line <= to)
            return true;
    return false;
}

/* ---- agents -------------------------------------------------------------------------------------------------------
 */

struct reading {
    const struct buml_file *file;
    struct python_parser *parser;
    struct buml_agents *agents;
    struct findings *f;
    struct err *err;
};

static int add_agent(struct reading *r, int from, int to, const struct header *header)
{
    struct buml_agents *a = r->agents;
    struct buml_agent one = { .number = header ? header->number : 0 };
    void *array = a->items;
    char text[400] = "";

    if (header && header->title_len)
        snprintf(text, sizeof(text), "%.*s", header->title_len < 300 ? (int)header->title_len : 300, header->title);
    if (mem_grow(&array, a->len, &a->cap, sizeof(*a->items)) < 0)
        return err_nomem(r->err);
    a->items = array;
    if (*text && !(one.title = mem_strdup(text)))
        return err_nomem(r->err);
    if (buml_file_read(r->file, from, to, r->parser, &one.model, r->f, r->err) < 0) {
        mem_free(one.title);
        return -1;
    }
    a->items[a->len++] = one;
    return 0;
}

/* A header without statements names the section that comes next: files of the reference have two of them. */
static int read_sections(struct reading *r, const struct headers *h)
{
    const struct header *named = NULL;
    size_t i;

    for (i = 0; i < h->len; i++) {
        int from = h->items[i].line + 1;
        int to = i + 1 < h->len ? h->items[i + 1].line - 1 : (int)r->file->lines_len;

        if (!h->items[i].agent)
            continue;
        if (!has_statements(r->file, from, to)) {
            named = &h->items[i];
            continue;
        }
        if (add_agent(r, from, to, named && !h->items[i].title_len && !h->items[i].number ? named : &h->items[i]) < 0)
            return -1;
        named = NULL;
    }
    return 0;
}

static int read_project(struct reading *r, struct headers *h)
{
    int from = 1;
    size_t i;

    if (find_headers(r->file, h, r->err) < 0)
        return -1;
    for (i = 0; i < h->len; i++) /* the definition follows the last header */
        from = h->items[i].line;
    if (buml_file_project(r->file, from, (int)r->file->lines_len, &r->agents->project, r->err) < 0)
        return -1;
    if (!r->agents->project.found && from > 1 &&
        buml_file_project(r->file, 1, (int)r->file->lines_len, &r->agents->project, r->err) < 0)
        return -1;
    if (check_models(&r->agents->project, r->err) < 0)
        return -1;
    return names_agents(&r->agents->project) ? read_sections(r, h) : 0;
}

static int read_file(struct reading *r, const struct buml_upload *upload)
{
    struct headers h = { 0 };
    int rc = is_project(upload) ? read_project(r, &h) : 0;

    mem_free(h.items);
    if (rc < 0 || r->agents->len)
        return rc;
    if (!is_agent(upload))
        return refuse_kind(upload, r->err);
    r->agents->whole = true;
    return add_agent(r, 1, (int)r->file->lines_len, NULL);
}

int buml_agents_read(const struct buml_upload *upload, struct python_parser *parser, struct buml_agents *ret,
                     struct findings *f, struct err *err)
{
    struct buml_agents agents = { 0 };
    struct buml_file file;
    struct reading r = { &file, parser, &agents, f, err };
    int rc;

    if (buml_file_open(upload->text, upload->len, parser, &file, err) < 0)
        return -1;
    rc = read_file(&r, upload);
    buml_file_close(&file);
    if (rc < 0) {
        buml_agents_release(&agents);
        return -1;
    }
    *ret = agents;
    return 0;
}
