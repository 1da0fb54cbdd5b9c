#include "shared/generate/program.h"

#include <string.h>

#include "shared/base/mem.h"
#include "shared/diagram/check.h"
#include "shared/generate/support_files.h"

static void program_init(struct program *p, const struct model *m, const struct generate_options *o, struct err *err)
{
    *p = (struct program){ .model = m, .options = o, .err = err };
    names_init(&p->names);
    map_init(&p->llm_index);
    map_init(&p->rag_index);
    map_init(&p->gui_index);
}

static void program_release(struct program *p)
{
    str_list_release(&p->rag_folders);
    str_list_release(&p->rag_stores);
    gui_modules_free(p->model, p->gui_modules);
    mem_free(p->llms);
    mem_free(p->rags);
    mem_free(p->guis);
    mem_free(p->intents);
    mem_free(p->states);
    map_release(&p->llm_index);
    map_release(&p->rag_index);
    map_release(&p->gui_index);
    names_release(&p->names);
    code_release(&p->code);
    mem_free(p->prefix);
    mem_free(p->default_llm);
}

static int choose_names(struct program *p)
{
    if (program_choose_prefix(p) < 0)
        return -1;
    code_init(&p->code, p->prefix);
    p->code.use = program_use;
    p->code.context = p;
    if (p->model->llms_len && !(p->default_llm = program_fixed_name(p, "default_llm")))
        return -1;
    return program_name_objects(p);
}

/* Everything from the agent down, in the order of section 7.2. */
static int write_main_part(struct program *p)
{
    struct code_writer *w = &p->code;

    if (p->guards_name)
        code_text(w, "@main = __name__ == '__main__'");
    if (program_write_agent(p) < 0 || program_write_reasoning(p) < 0 || program_write_intents(p) < 0 ||
        program_write_states(p) < 0 || program_publish_names(p) < 0 || program_write_conditions(p) < 0 ||
        program_write_behaviour(p) < 0 || program_write_routes(p) < 0)
        return -1;
    code_gap(w, p->user_code ? 2 : 1);
    code_text(w, p->guards_name ? "if @main:" : "if __name__ == '__main__':");
    code_open(w);
    code_text(w, "@agent.run()");
    code_close(w);
    return 0;
}

/* Imports and helpers go above what uses them. */
static int assemble(struct program *p, char **ret)
{
    struct code_writer helpers, all;
    char *text = NULL;

    code_init(&helpers, p->prefix);
    code_init(&all, p->prefix);
    program_write_helpers(p, &helpers);
    program_write_imports(p, &all);
    if (helpers.out.len) {
        buf_add_str(&all.out, p->helpers == 1 ? "\n" : "\n\n");
        buf_add(&all.out, helpers.out.data, helpers.out.len);
        buf_add_str(&all.out, p->helpers == 1 ? "" : "\n");
    }
    buf_add_char(&all.out, '\n');
    if (p->code.out.len)
        buf_add(&all.out, p->code.out.data, p->code.out.len);
    if (!code_failed(&helpers) && !code_failed(&all) && !code_failed(&p->code))
        text = buf_steal(&all.out, NULL);
    code_release(&helpers);
    code_release(&all);
    if (!text)
        return err_nomem(p->err);
    *ret = text;
    return 0;
}

int generate_program(const struct model *m, const struct generate_options *o, char **ret, struct err *err)
{
    struct program p;
    int result;

    program_init(&p, m, o, err);
    program_decide_speech(&p);
    result = choose_names(&p);
    if (result == 0)
        result = write_main_part(&p);
    if (result == 0)
        result = assemble(&p, ret);
    program_release(&p);
    return result;
}
