#include <string.h>

#include "shared/base/mem.h"
#include "shared/generate/program.h"

/* Functions that a program gets when it uses them, ended by a line break. @ and ~ as in code_writer.h; a helper may use
 * those above it. */
/* clang-format off */
static const struct helper {
    const char *name, *text;
} helpers[] = {
    { "here",
        "@here = @os.path.dirname(@os.path.abspath(__file__))\n" },
    { "message_of",
        "def @message_of(session):\n"
        "    \"\"\"The message to answer; empty on connecting and for events that carry none.\"\"\"\n"
        "    message = ~getattr(session.event, 'message', None)\n"
        "    return '' if message is None else message\n" },
    { "variable",
        "def @variable(session, name):\n"
        "    \"\"\"A session variable. Accented letters may be one character or two.\"\"\"\n"
        "    value = session.get(name)\n"
        "    if value is None and not name.isascii():\n"
        "        for key, other in ~list(session.get_dictionary().items()):\n"
        "            if @unicodedata.normalize('NFC', ~str(key)) == name:\n"
        "                return other\n"
        "    return value\n" },
    { "fill",
        "def @fill(session, text):\n"
        "    \"\"\"The text with session variables in place of {name}, the message for {user_message}.\"\"\"\n"
        "    def shown(match):\n"
        "        name = @unicodedata.normalize('NFC', match[1])\n"
        "        if not @re.fullmatch(r'\\w+', name):\n"
        "            return match[0]\n"
        "        value = @message_of(session) if name == 'user_message' else @variable(session, name)\n"
        "        return '' if value is None else ~str(value)\n"
        "\n"
        "    return @re.sub(r'\\{([^{}]+)\\}', shown, text)\n" },
    { "compared_as_text",
        "def @compared_as_text(value, other):\n"
        "    \"\"\"The text forms of two values of different types; true and True are the same.\"\"\"\n"
        "    texts = ~str(value), ~str(other)\n"
        "    if ~isinstance(value, ~bool) or ~isinstance(other, ~bool):\n"
        "        return [text.lower() for text in texts]\n"
        "    return texts\n" },
    { "comparison",
        "def @comparison(operation):\n"
        "    \"\"\"The operation, false for unset variables and for values that cannot be compared.\"\"\"\n"
        "    def compare(value, target):\n"
        "        if value is None:\n"
        "            return False\n"
        "        numbers = ~isinstance(value, (~int, ~float)) and ~isinstance(target, (~int, ~float))\n"
        "        try:\n"
        "            if not numbers and target is not None and ~type(value) is not ~type(target):\n"
        "                value, target = @compared_as_text(value, target)\n"
        "            return ~bool(operation(value, target))\n"
        "        except ~Exception:\n"
        "            return False\n"
        "\n"
        "    compare.__name__ = operation.__name__\n"
        "    return compare\n" },
    { "from_gui",
        "def @from_gui(gui_id):\n"
        "    \"\"\"The condition that an event comes from that GUI.\"\"\"\n"
        "    def comes_from_gui(session):\n"
        "        return ~getattr(session.event, 'message_id', None) == gui_id\n"
        "\n"
        "    return comes_from_gui\n" },
    { "inputs_first",
        "def @inputs_first(receive):\n"
        "    \"\"\"Stores what a GUI event brings before its session hears of it; the framework does so afterwards.\"\"\"\n"
        "    def receive_event(event):\n"
        "        data, sender = ~getattr(event, 'event_data', None), ~getattr(event, 'message_id', None)\n"
        "        if data and ~isinstance(sender, ~str) and not event.is_broadcasted():\n"
        "            inputs = @agent.get_or_create_session(event.session_id, @platform).gui_inputs.get(sender)\n"
        "            action, name, value = data.get('action'), data.get('name'), data.get('value')\n"
        "            if inputs is not None and action == 'onSubmit' and ~isinstance(value, ~dict):\n"
        "                inputs.update(value)\n"
        "            elif inputs is not None and action == 'onChange' and ~isinstance(name, ~str):\n"
        "                inputs[name] = value\n"
        "        receive(event)\n"
        "\n"
        "    return receive_event\n" },
    { "all_of",
        "def @all_of(*conditions):\n"
        "    \"\"\"One condition that holds when all of them do.\"\"\"\n"
        "    def all_hold(session):\n"
        "        return ~all(condition(session) for condition in conditions)\n"
        "\n"
        "    all_hold.__name__ = ' and '.join(condition.__name__ for condition in conditions)\n"
        "    return all_hold\n" },
    { "result_text",
        "def @result_text(result):\n"
        "    \"\"\"What a database answered, as text.\"\"\"\n"
        "    if ~isinstance(result, (~dict, ~list)):\n"
        "        return @json.dumps(result, default=~str)\n"
        "    return ~str(result)\n" },
    { "reply_object",
        "def @reply_object(session, name):\n"
        "    \"\"\"What a file, image, table or plot reply sends: a session variable, else a global.\"\"\"\n"
        "    found = session.get(name)\n"
        "    if found is None:\n"
        "        found = ~globals().get(name)\n"
        "    if found is None:\n"
        "        @logger.warning('Nothing is sent: %s is not set', name)\n"
        "    return found\n" },
    { "load_documents",
        "def @load_documents(store, folder):\n"
        "    \"\"\"Fills a store from the PDF files of a folder. Without any, or any text, it stays empty.\"\"\"\n"
        "    if @os.path.isdir(folder):\n"
        "        try:\n"
        "            store.load_pdfs(folder)\n"
        "        except ~ValueError as error:\n"
        "            @logger.warning('No documents come from the folder %s: %s', folder, error)\n" },
    { "configuration_text",
        "def @configuration_text(profile):\n"
        "    \"\"\"What an LLM is told about the configuration that goes with a profile.\"\"\"\n"
        "    configuration = @agent.agent_configurations.get(profile)\n"
        "    return ('All your answers keep to this configuration, in JSON: their language, style, length and so on.\\n'\n"
        "            + @json.dumps(configuration, indent=2, ensure_ascii=False))\n" },
    { "profile_text",
        "def @profile_text(name):\n"
        "    \"\"\"What an LLM is told about a user of that profile.\"\"\"\n"
        "    for profile in @agent.user_profiles or ():\n"
        "        if profile.get('name') == name:\n"
        "            return ('Fit your answers to the user you talk to, who is, in JSON:\\n'\n"
        "                    + @json.dumps(profile.get('user_profile'), indent=2, ensure_ascii=False))\n"
        "    return ''\n" },
    { "return_to",
        "def @return_to(router, states, profiles):\n"
        "    \"\"\"Lets states go to the router when the user has another profile, one of these.\"\"\"\n"
        "    for state in states:\n"
        "        for profile in profiles:\n"
        "            state.when_variable_matches_operation('user_profile', @operator.eq, profile).go_to(router)\n" },
    { "own_module",
        "def @own_module(source, name):\n"
        "    \"\"\"A function of code that cannot stand among other code.\"\"\"\n"
        "    module = ~dict(~globals())\n"
        "    ~exec(~compile(source, name, 'exec', dont_inherit=True), module)\n"
        "    return module[name]\n" },
    { "load_tool",
        "def @load_tool(name, description, first, last):\n"
        "    \"\"\"Offers one tool: lines first to last of tools.py, run as a module of their own.\"\"\"\n"
        "    path = @os.path.join(@here, 'tools.py')\n"
        "    module = @types.ModuleType('tools_' + name)\n"
        "    module.__file__ = path\n"
        "    @sys.modules[module.__name__] = module\n"
        "    try:\n"
        "        with ~open(path, encoding='utf-8', newline='') as file:\n"
        "            lines = file.read().split('\\n')[first - 1:last]\n"
        "        source = '\\n' * (first - 1) + '\\n'.join(lines)\n"
        "        ~exec(~compile(source, path, 'exec', dont_inherit=True), module.__dict__)\n"
        "        function = module.__dict__.get(name)\n"
        "        if not ~callable(function):\n"
        "            own = [\n"
        "                item for item in module.__dict__.values()\n"
        "                if ~isinstance(item, @types.FunctionType) and item.__module__ == module.__name__]\n"
        "            function = ~next((item for item in own if not item.__name__.startswith('_')), own[0])\n"
        "        @agent.new_tool(function, name=name, description=description)\n"
        "    except (~Exception, ~SystemExit):\n"
        "        @logger.exception('The tool %s cannot be loaded', name)\n" },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(helpers) <= 64, "one bit each");

bool program_use_helper(struct program *p, const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(helpers); i++)
        if (program_is_name(helpers[i].name, name, len)) {
            p->helpers |= UINT64_C(1) << i;
            return true;
        }
    return false;
}

int program_reserve_helpers(struct program *p)
{
    size_t i;

    for (i = 0; i < ARRAY_LEN(helpers); i++)
        if (program_reserve(p, helpers[i].name) < 0)
            return -1;
    return 0;
}

/* Notes what the helper's lines use; helpers only use those above, so one walk upwards finds all.
 */
static void scan(struct program *p, const struct helper *h)
{
    struct code_writer w;

    code_init(&w, p->prefix);
    w.use = program_use;
    w.context = p;
    code_text(&w, h->text);
    if (code_failed(&w))
        p->code.out.failed = true;
    code_release(&w);
}

void program_write_helpers(struct program *p, struct code_writer *w)
{
    size_t i = ARRAY_LEN(helpers);

    while (i--)
        if (p->helpers >> i & 1)
            scan(p, &helpers[i]);
    for (i = 0; i < ARRAY_LEN(helpers); i++) {
        if (!(p->helpers >> i & 1))
            continue;
        code_gap(w, 2);
        code_text(w, helpers[i].text);
    }
}
