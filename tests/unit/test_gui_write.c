#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/gui/emit.h"
#include "shared/gui/read.h"
#include "shared/gui/write.h"
#include "tests/support/diagram.h"
#include "tests/support/gui.h"
#include "tests/support/oom.h"

static char *text_of(const struct gui_object *model)
{
    struct err err = { 0 };
    auto_buf struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    if (gui_emit(model, 0, &out, &err) < 0)
        fail_msg("%s", err.msg);
    return buf_steal(&out, NULL);
}

static void show_difference(const char *name, const char *one, const char *two)
{
    size_t i = 0, from;

    while (one[i] && one[i] == two[i])
        i++;
    from = i > 150 ? i - 150 : 0;
    print_error("%s: %.400s\n--- became\n%.400s\n", name, one + from, two + from);
}

/* Read, written and read again: the same text. */
static bool survives(const char *name, const struct value *design)
{
    struct gui_object *first = NULL, *second = NULL;
    struct value written = { 0 };
    struct err err = { 0 };
    bool same = false;

    if (gui_read(design, &first, &err) < 0)
        return true; /* nobody can have it */
    if (gui_write(first, &written, &err) < 0 || gui_read(&written, &second, &err) < 0)
        fail_msg("%s: %s", name, err.msg);
    {
        auto_free char *one = text_of(first), *two = text_of(second);

        same = strcmp(one, two) == 0;
        if (!same)
            show_difference(name, one, two);
    }
    value_release(&written);
    gui_object_free(first);
    gui_object_free(second);
    return same;
}

static void designs_of_all_fixtures_survive(void **state)
{
    DIR *dir = opendir("tests/fixtures/diagrams");
    size_t tried = 0, lost = 0, i;
    struct dirent *e;

    (void)state;
    assert_non_null(dir);
    while ((e = readdir(dir))) {
        struct read_result r;
        char path[512];

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "tests/fixtures/diagrams/%s", e->d_name);
        read_file_at(path, NULL, &r);
        for (i = 0; r.rc == 0 && i < r.model.guis_len; i++, tried++)
            lost += !survives(e->d_name, &r.model.guis[i].design);
        read_result_release(&r);
    }
    closedir(dir);
    assert_true(tried > 10);
    assert_int_equal(lost, 0);
}

#define PAGE(components) "{'pages':[{'id':'p','name':'Home','frames':[{'component':{'components':[" components "]}}]}]}"

static void odd_designs_survive(void **state)
{
    static const char *const designs[] = {
        "{'title':'Shop'}",
        "{'title':'','pages':[]}",
        "{'title':'a b','styles':[{'selectors':[{'name':'a'},'b'],'state':'hover','style':{'color':'red'}}]}",
        "{'styles':[{'selectors':['#x'],'state':'hover','style':{'color':'red','top':'1px'}},"
        "{'selectors':['c'],'style':{'a':'url(x;y)','b':'c'},'mediaText':'(max-width: 9px)','atRuleType':'media'},"
        "{'selectors':['d'],'style':{'a':'b'},'mediaText':'(max-width: 9px)','atRuleType':'media'},"
        "{'selectorsAdd':'body > *','style':{'a':'b'}},"
        "{'selectors':[],'atRuleType':'font-face','singleAtRule':true,'style':{'font-family':'x'}}]}",
        PAGE("{'type':'text','content':'hi'},{'type':'textnode','content':'x'},{'tagName':'div'}"),
        PAGE("{'type':'wrapper','components':[{'type':'text'},{'type':'text'},{'type':'image','src':'a.png'}]}"),
        PAGE("{'type':'tab','components':[{'type':'text'}]},{'type':'tabs'},{'type':'row'},{'tagName':'x-y'}"),
        PAGE("{'tagName':'nav','components':[{'type':'textnode','content':'x'},{'tagName':'a','components':[]}]}"),
        PAGE("{'tagName':'ul','components':[{'tagName':'li','components':[{'type':'link','attributes':{'href':'#'}}]}]"
             "}"),
        PAGE("{'type':'button','attributes':{'id':'b','action-type':'navigate','target-screen':'p'}}"),
        PAGE("{'type':'button','action-type':'create','entity-class':'Order','attributes':{'data-param-x':'1'}}"),
        PAGE("{'type':'button','action-type':'run-method','instance-source':'s','confirmation-required':true}"),
        PAGE("{'type':'button','target-screen':'page:p','content':'Go'}"),
        PAGE("{'tagName':'input','attributes':{'type':'email','required':'','min':'1','pattern':'a+'}}"),
        PAGE("{'type':'gui-input-rating','data-gui-type':'Rating','max-stars':7,'input-label':'Stars'}"),
        PAGE("{'type':'select','select-options':'a, b','multiple-files':'yes','max-length':5,'default-checked':'1'}"),
        PAGE("{'type':'form','components':[{'tagName':'label','components':[{'type':'textnode','content':'Name'}]},"
             "{'tagName':'input'},{'tagName':'div','components':[{'tagName':'textarea','input-label':'More'}]},"
             "{'tagName':'button','components':[{'type':'textnode','content':'Send'}]}]}"),
        PAGE("{'type':'gui-alert','alert-severity':'error','alert-title':'T','content':'c','alert-dismissible':1}"),
        PAGE("{'type':'list','attributes':{'data-source':'a b','fields':'x, +y: int','label-field':'x'}}"),
        PAGE("{'tagName':'iframe','src':'x'},{'type':'video','tagName':'iframe','attributes':{'data-src':'y'}}"),
        PAGE(
            "{'type':'line-chart','attributes':{'chart-title':'T','series':[{'name':'a','color':'red'}],'dot-size':9}},"
            "{'type':'pie-chart','attributes':{'legend-position':'top','chart-color':'#fff'}},{'type':'bar-chart'}"),
        PAGE("{'type':'table','attributes':{'columns':[{'columnType':'expression','label':'l','expression':'1'}]}},"
             "{'type':'metric-card'},{'type':'map','attributes':{'map-latitude':'1.5','map-layers':[{'type':'points'}]}"
             "},"
             "{'type':'agent-component','attributes':{'agent-name':'a'}}"),
        PAGE(
            "{'tagName':'div','classes':[{'name':'a'},'b'],'style':{'display':'grid','gap':'1px','z-index':'3',"
            "'position':'absolute','text-align':'center','width':'5em','unknown':'x'}},"
            "{'tagName':'div','style':{'unknown':'x'}},{'tagName':'div','attributes':{'style':'color: red; flex: 1'}}"),
        "{'pages':[{'id':'p','name':'My Page','attributes':{'screen-size':'Small','dpi':96},'frames':["
        "{'component':{'name':'One','style':{'color':'red'}}},{'component':{'attributes':{'id':'two'}}},{}]},"
        "{'frames':[{'component':{}}]}]}",
    };
    size_t i, lost = 0;

    (void)state;
    for (i = 0; i < ARRAY_LEN(designs); i++) {
        struct value design = test_design(designs[i]);

        lost += !survives(designs[i], &design);
        value_release(&design);
    }
    assert_int_equal(lost, 0);
}

/* A text has its screens by name, and only a flag says which of them is shown first. */
static void the_main_page_comes_first(void **state)
{
    struct gui_object *model = test_gui("{'pages':[{'id':'z','name':'Z','frames':[{}]},{'id':'a','name':'A','frames':"
                                        "[{}]}]}");
    struct gui_object **screens = model->parts[0]->parts, *main = screens[0];
    struct value written = { .kind = VALUE_NULL };
    const struct value *pages;
    struct err err = { 0 };

    (void)state;
    screens[0] = screens[1];
    screens[1] = main;
    assert_int_equal(gui_write(model, &written, &err), 0);
    pages = value_get(&written, "pages");
    assert_int_equal(pages->len, 2);
    assert_string_equal(value_get(&pages->items[0], "id")->string, "z");
    assert_string_equal(value_get(&pages->items[1], "id")->string, "a");
    value_release(&written);
    gui_object_free(model);
}

static void a_gui_that_nobody_designed_stays_so(void **state)
{
    struct value none = { .kind = VALUE_NULL }, written = { .kind = VALUE_BOOL };
    struct gui_object *model = NULL;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(gui_read(&none, &model, &err), 0);
    assert_int_equal(gui_write(model, &written, &err), 0);
    assert_int_equal(written.kind, VALUE_NULL);
    gui_object_free(model);
}

static void short_memory_is_an_error(void **state)
{
    struct gui_object *model = test_gui(PAGE("{'type':'form','components':[{'tagName':'input','input-label':'x'}]},"
                                             "{'type':'wrapper','components':[{'type':'text'},{'type':'map'}]},"
                                             "{'tagName':'div','classes':['a'],'style':{'color':'red'}}"));

    (void)state;
    OOM_SWEEP({
        struct value written = { .kind = VALUE_BOOL };
        struct err err = { 0 };

        if (gui_write(model, &written, &err) < 0)
            assert_int_equal(written.kind, VALUE_BOOL);
        else
            value_release(&written);
    });
    gui_object_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(designs_of_all_fixtures_survive), cmocka_unit_test(odd_designs_survive),
        cmocka_unit_test(the_main_page_comes_first),       cmocka_unit_test(a_gui_that_nobody_designed_stays_so),
        cmocka_unit_test(short_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
