/* Files that people write by hand, and what they mean: one row each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shared/base/buf.h"
#include "shared/base/mem.h"
#include "shared/buml/file.h"
#include "shared/buml/read.h"
#include "tests/support/diagram.h"
#include "tests/support/model_dump.h"
#include "tests/support/oom.h"

static int start(void **state)
{
    *state = test_parser();
    return 0;
}

static int end(void **state)
{
    python_parser_free(*state);
    return 0;
}

struct row {
    const char *file;     /* the statements */
    const char *means[5]; /* parts of the model's dump, ended by NULL */
    const char *warning;  /* part of the only warning; NULL: there is none */
};

#define AGENT "agent = Agent('A')\n"
#define STATE AGENT "s = agent.new_state('s', initial=True)\n"
#define TWO STATE "d = agent.new_state('d')\n"

/* ---- statements ---------------------------------------------------------------------------------------------------
 */

static const struct row agents[] = {
    { "a = Agent('Desk')\n", { "agent=\"Desk\"" }, NULL },
    { "Agent(name=\"Desk\")\n", { "agent=\"Desk\"" }, NULL },
    { "Agent('My Desk')\n", { "agent=\"My_Desk\"" }, NULL },
    { "from besser.BUML.metamodel.state_machine.agent import Agent as Made\nx = Made('Desk')\n", { "\"Desk\"" }, NULL },
    { "import besser.BUML.metamodel.state_machine.agent as sm\nx = sm.Agent('Desk')\n", { "\"Desk\"" }, NULL },
    { "import besser\nx = besser.BUML.metamodel.state_machine.agent.Agent('Desk')\n", { "\"Desk\"" }, NULL },
    { "from besser.BUML.metamodel.state_machine import agent as m\nx = m.Agent('Desk')\n", { "\"Desk\"" }, NULL },
    { "a: Agent = Agent('Desk')\n", { "agent=\"Desk\"" }, NULL },
    { "a = Agent('D', metadata=Metadata(description='helps'))\n", { "description=\"helps\"" }, NULL },
    { "a = Agent('D')\na.metadata = Metadata(description='helps')\n", { "description=\"helps\"" }, NULL },
    { "a = Agent('D')\nm = Metadata('helps')\na.metadata = m\n", { "description=\"helps\"" }, NULL },
    { "NAME = 'De' + 'sk'\na = Agent(NAME)\n", { "agent=\"Desk\"" }, NULL },
    { "a = b = Agent('D')\nb.new_state('s')\n", { "name=\"s\"" }, NULL },
    { "def create():\n    a = Agent('D')\n    a.new_state('s')\n    return a\nx = create()\nx.new_state('t')\n",
      { "name=\"s\"", "name=\"t\"" },
      NULL },
    { "def create():\n    a = Agent('D')\n    a.new_state('s')\n", { "agent=\"D\"", "name=\"s\"" }, NULL },
    { "if __name__ == '__main__':\n    a = Agent('D')\n    try:\n        a.new_state('s')\n    finally:\n        "
      "pass\n",
      { "agent=\"D\"", "name=\"s\"" },
      NULL },
    { "class Desk:\n    def __init__(self):\n        self.a = Agent('D')\n        self.s = self.a.new_state('s')\n"
      "        self.s.go_to(self.s)\n",
      { "agent=\"D\"", "name=\"s\"", "transition kind=5 target=0" },
      NULL },
    { "a = Agent('D')\nb = Agent('E')\n", { "agent=\"D\"" }, "Line 2: Agent: the file has an agent already" },
    { "a = Agent(make())\n", { "agent=-" }, "Line 1: Agent: name is something that only running" },
};

static const struct row literals[] = {
    { AGENT "agent.new_skill('k', '''a\n'b' \"c\"\n''')\n", { "content=\"a\\n'b' \\\"c\\\"\\n\"" }, NULL },
    { AGENT "agent.new_skill('k', 'a' \"b\"\n    'c')\n", { "content=\"abc\"" }, NULL },
    { AGENT "agent.new_skill('k', r'\\d')\n", { "content=\"\\\\d\"" }, NULL },
    { AGENT "agent.new_skill('k', u'\\u00e9\\n\\x41')\n", { "content=\"\xc3\xa9\\nA\"" }, NULL },
    { AGENT "agent.new_skill('k', ('a' + 'b') + ('c' + 'd'))\n", { "content=\"abcd\"" }, NULL },
    { AGENT "X = 'a'\nX += 'b'\nagent.new_skill('k', X)\n", { "content=\"ab\"" }, NULL },
    { AGENT "X = 'a'\nagent.new_skill('k', f'{X}b{3}')\n", { "content=\"ab3\"" }, NULL },
    { AGENT "agent.new_skill('k', f'{now()}')\n", { "skill name=\"k\"" }, "new_skill: content is something" },
    { AGENT "agent.new_skill('k', 'a\\x00b')\n",
      { "content=\"a\xef\xbf\xbd"
        "b\"" },
      "U+0000" },
    { AGENT "agent.new_skill('k', '\\ud800')\n", { "content=\"\xef\xbf\xbd\"" }, "half a character" },
    { AGENT "agent.new_skill('k', '  a '.strip())\n", { "content=\"a\"" }, NULL },
    { AGENT "D = {'t': 'a'}\nD['u'] = 'b'\nagent.new_skill('k', D['t'] + D['u'])\n", { "content=\"ab\"" }, NULL },
    { AGENT "L = ['a', 'b']\nagent.new_skill('k', L[-1])\n", { "content=\"b\"" }, NULL },
    { AGENT "a, b = 'x', 'y'\nagent.new_skill('k', b)\n", { "content=\"y\"" }, NULL },
    { AGENT "if (t := 'x'):\n    agent.new_skill('k', t)\n", { "content=\"x\"" }, NULL },
};

static const struct row intents[] = {
    { AGENT "i = agent.new_intent('hi', ['hello', \"hey\"])\n", { "intent name=\"hi\"", "=\"hello\" =\"hey\"" }, NULL },
    { AGENT "agent.new_intent('hi', ('hello',))\n", { "=\"hello\"" }, NULL },
    { AGENT "agent.new_intent(training_sentences=['hello'], name='hi')\n", { "name=\"hi\"", "=\"hello\"" }, NULL },
    { AGENT "agent.new_intent('hi', ['a'], description='greets')\n", { "description=\"greets\"" }, NULL },
    { AGENT "agent.new_intent('hi', ['a'], None, 'greets')\n", { "description=\"greets\"" }, NULL },
    { AGENT "S = ['a']\nS.append('b')\nS += ['c']\nagent.new_intent('hi', S + ['d'])\n",
      { "=\"a\" =\"b\" =\"c\" =\"d\"" },
      NULL },
    { AGENT "for n in ['x', 'y']:\n    agent.new_intent(n, [n + '!'])\n", { "=\"x!\"", "=\"y!\"" }, NULL },
    { AGENT "for n, s in {'x': ['1'], 'y': ['2']}.items():\n    agent.new_intent(n, s)\n",
      { "name=\"x\"", "name=\"y\"", "=\"2\"" },
      NULL },
    { AGENT "def add(name, *more):\n    return agent.new_intent(name, ['z'])\nadd('x')\nadd(name='y')\n",
      { "name=\"x\"", "name=\"y\"" },
      NULL },
    { AGENT "agent.add_intent(Intent('hi', ['a']))\n", { "intent name=\"hi\"" }, NULL },
    { AGENT "agent.new_intent('hi', ['a', 5])\n", { "=\"a\"]" }, "a training sentence is a whole number" },
    { AGENT "agent.new_intent(pick(), ['a'])\nagent.new_intent('ok', ['b'])\n",
      { "name=\"ok\"" },
      "Line 2: new_intent" },
    { AGENT "agent.new_intent('hi', ['a'])\nagent.new_intent('hi', ['b'])\n",
      { "=\"a\"]" },
      "Line 3: new_intent: there" },
    { AGENT "agent.new_intent('hi', ['a'], flavour=1)\n", { "name=\"hi\"" }, "no argument \"flavour\"" },
};

static const struct row parts[] = {
    { AGENT "agent.new_tool('f', 'd', 'def f():\\n  return 1')\n",
      { "tool name=\"f\" description=\"d\"", "code=\"def" },
      NULL },
    { AGENT "agent.new_tool(name='f', description='d', code='def f(): pass')\n", { "description=\"d\"" }, NULL },
    { AGENT "def f(x):\n    return x\nagent.new_tool(f, 'd')\n",
      { "name=\"f\"", "code=\"def f(x):\\n    return x\"" },
      NULL },
    { AGENT "agent.add_tool(Tool('f', 'd', 'def f(): pass'))\n", { "tool name=\"f\"" }, NULL },
    { AGENT "import json\nX = load()\ndef f():\n    return X\nagent.new_tool('f', 'd', 'X = load()\\ndef f():\\n    "
            "return X')\n",
      { "tool name=\"f\"" },
      NULL },
    { AGENT "agent.new_workspace('w', './w', 'd', False, 10)\n", { "writable=0 max_read_bytes=10" }, NULL },
    { AGENT "agent.new_workspace(name='w', path='w', description='d')\n",
      { "writable=1 max_read_bytes=200000" },
      NULL },
    { AGENT "agent.new_skill(name='k', content='c', description=None)\n", { "description=-" }, NULL },
    { AGENT "x = agent.new_llm('gpt', 'openai', {'temperature': -0.5, 'stop': ['a'], 'n': None})\n",
      { "llm provider=openai name=\"gpt\"", "\"temperature\":-0.5", "\"n\":null" },
      NULL },
    { AGENT "x = agent.new_llm(name='m', provider='Ollama', parameters={}, num_previous_messages=3)\n",
      { "provider=ollama name=\"m\" num_previous_messages=3" },
      NULL },
    { AGENT "x = LLMAnthropic(agent=agent, name='c', parameters={'k': 1})\n",
      { "provider=anthropic name=\"c\"" },
      NULL },
    { AGENT "LLMOpenAI(agent, 'g', {}, 2, 'ctx')\n", { "num_previous_messages=2 global_context=\"ctx\"" }, NULL },
    { AGENT "agent.new_llm('a')\nb = agent.new_llm('b')\nagent.set_default_llm('b')\n", { "default_llm=1" }, NULL },
    { AGENT "agent.new_llm('a')\nb = agent.new_llm('b')\nagent.set_default_llm(b)\n", { "default_llm=1" }, NULL },
    { AGENT "agent.new_llm('a')\nagent.new_llm('b')\n", { "default_llm=0" }, NULL },
    { AGENT "agent.new_llm('a', provider='nobody')\n", { "agent=\"A\"" }, "provider \"nobody\" is unknown" },
    { AGENT "opts = dict(temperature=1)\nopts.update({'top_p': 2})\nagent.new_llm('a', parameters={**opts, 'x': 3})\n",
      { "\"temperature\":1", "\"top_p\":2", "\"x\":3" },
      NULL },
    { AGENT
      "v = RAGVectorStore(embedding_provider='ollama', embedding_parameters={'base_url': 'http://h', 'model': 'e'})\n"
      "agent.new_rag('r', v, RAGTextSplitter('recursive_character', 1000, 100), '', k=2)\n",
      { "rag name=\"r\" ollama=1", "base_url=\"http://h\" embedding_model=\"e\"", " k=2" },
      NULL },
    { AGENT "agent.new_rag(name='r', vector_store=RAGVectorStore('openai'), splitter=RAGTextSplitter('x', 7, 1), "
            "llm_name='')\n",
      { "rag name=\"r\" ollama=0" },
      "chunk size" },
    { AGENT "kw = {'name': 'k', 'content': 'c'}\nagent.new_skill(**kw)\nargs = ['l', 'd']\nagent.new_skill(*args)\n",
      { "name=\"k\" content=\"c\"", "name=\"l\" content=\"d\"" },
      NULL },
    { AGENT "agent.add_property(ConfigProperty('a', 'b', 1))\n", { "agent=\"A\"" }, "add_property has no place" },
    { AGENT "p = agent.use_websocket_platform(use_ui=False)\n",
      { "agent=\"A\"" },
      "use_websocket_platform has no place" },
};

static const struct row states[] = {
    { AGENT "x = agent.new_state('s', initial=True)\n", { "state name=\"s\"", "initial=1" }, NULL },
    { AGENT "agent.new_state('s', True)\n", { "initial=1" }, NULL },
    { AGENT "greet = agent.new_state(initial=True)\n", { "state name=\"greet\"" }, NULL },
    { AGENT "agent.new_state('s')\nagent.new_state('t', initial=True)\n",
      { "state name=\"t\" description=- reasoning=0 initial=1",
        "state name=\"s\" description=- reasoning=0 initial=0" },
      NULL },
    { AGENT "agent.new_state('s')\nagent.new_state('t')\n",
      { "state name=\"s\" description=- reasoning=0 initial=1" },
      NULL },
    { STATE "s.metadata = Metadata(description='first')\n", { "description=\"first\"" }, NULL },
    { AGENT "r = agent.new_reasoning_state('r', None, True, 3, False)\n",
      { "reasoning=1 initial=1", "max_steps=3 task_planning=0" },
      NULL },
    { AGENT "m = agent.new_llm('g')\nr = agent.new_reasoning_state(name='r', llm=m, system_prompt='p')\n",
      { "llm_name=\"g\" llm=0", "system_prompt=\"p\"" },
      NULL },
    { AGENT "m = agent.new_llm('g')\nr = agent.new_reasoning_state(name='r', llm='g')\n", { "llm_name=\"g\"" }, NULL },
    { STATE "agent.new_state('s')\n", { "state name=\"s\"" }, "there is a state \"s\" already" },
    { AGENT "agent.new_state('my state')\n", { "name=\"my state\"" }, "must not contain spaces" },
};

static const struct row bodies[] = {
    { STATE "b = Body('b')\nb.add_action(AgentReply('hi'))\ns.set_body(b)\n",
      { "body TextReplyAction text=\"hi\"" },
      NULL },
    { STATE "b = Body('b')\ns.set_body(b)\nb.add_action(AgentReply(message='hi', use_session_vars=True))\n",
      { "text=\"hi\" use_session_vars=1" },
      NULL },
    { STATE "s.set_body(Body('b', actions=[AgentReply('1'), AgentReply('2')]))\n",
      { "text=\"1\"", "text=\"2\"" },
      NULL },
    { STATE "s.set_fallback_body(Body('b').add_action(AgentReply('f')))\n",
      { "fallback TextReplyAction text=\"f\"" },
      NULL },
    { STATE "b = Body('b')\nb.add_custom_code('def f(session):\\n  pass')\ns.set_body(b)\n",
      { "body CustomCodeAction text=\"def f(session):\\n  pass\"", "code_function=\"f\"" },
      NULL },
    { STATE "def f(session):\n    session.reply('a')\n    session.reply('b')\ns.set_body(f)\n",
      { "TextReplyAction text=\"a\"", "TextReplyAction text=\"b\"" },
      NULL },
    { STATE "llm = agent.new_llm('g')\ndef f(session):\n    "
            "session.reply(llm.predict(session.event.message))\ns.set_body(Body('b', f))\n",
      { "body LLMReplyAction", "llm_name=\"g\"" },
      NULL },
    { STATE "def f(session):\n    session.reply(str(1))\ns.set_body(Body('b', callable=f))\n",
      { "CustomCodeAction text=\"def f(session):\\n    session.reply(str(1))\"" },
      NULL },
    { STATE "def f(session):\n    session.reply('a')\nb = "
            "Body('b')\nb.add_action(CustomCodeAction(callable=f))\ns.set_body(b)\n",
      { "CustomCodeAction text=\"def f(session):\\n    session.reply('a')\"" },
      NULL },
    { STATE "@wraps\n@other(1)\ndef f(session):\n    pass  # done\n    # really\nc = CustomCodeAction(callable=f)\n"
            "b = Body('b', actions=[c])\ns.set_body(b)\n",
      { "text=\"@wraps\\n@other(1)\\ndef f(session):\\n    pass  # done\\n    # really\"" },
      NULL },
    { STATE "def f(session): x = 1\na = CustomCodeAction(callable=f)\ndef f(session): y = 2\nb = "
            "CustomCodeAction(callable=f)\n"
            "s.set_body(Body('b', actions=[a, b]))\n",
      { "text=\"def f(session): x = 1\"", "text=\"def f(session): y = 2\"" },
      NULL },
    { STATE "s.set_body(Body('b', actions=[CustomCodeAction(callable=f)]))\ndef f(session): x = 1\n",
      { "text=\"def f(session): x = 1\"" },
      NULL },
    { STATE "if True:\n    def f(session):\n        x = '''a\n  b'''\n    c = "
            "CustomCodeAction(callable=f)\ns.set_body(Body('b', actions=[c]))\n",
      { "text=\"def f(session):\\n    x = '''a\\n  b'''\"" },
      NULL },
    { STATE "s.set_body(Body('b', actions=[WebSocketReplyLocation(-1.5, longitude=+2)]))\n",
      { "latitude=-1.5 longitude=2" },
      NULL },
    { STATE "s.set_body(Body('b', actions=[WebSocketReplyOptions(['a', ' b ']), WebSocketReplySpeech('x', 1.5)]))\n",
      { "options=[ =\"a\" =\"b\"]", "audio_speed=1.5" },
      NULL },
    { STATE
      "s.set_body(Body('b', actions=[LLMReply('sys', None, 'custom', 'p', store_in_session='k', send_reply=False)]))\n",
      { "prompt=\"sys\"", "input_custom=1 input_prompt=\"p\"", "store_in_session=\"k\" send_reply=0" },
      NULL },
    { STATE
      "agent.new_rag('r', RAGVectorStore('openai'), None, '')\ns.set_body(Body('b', actions=[RAGReply('r', 'p')]))\n",
      { "RAGReplyAction text=\"r\"", "rag=0" },
      NULL },
    { STATE
      "s.set_body(Body('b', actions=[DBReply(db_query_mode='SQL', db_sql_query='select 1', db_operation='select')]))\n",
      { "db_sql=1", "db_operation=1 sql=\"select 1\"" },
      NULL },
    { STATE "s.set_body(Body('b', actions=[WebCrawlLLMReply('http://h', 3, run_crawl=False)]))\n",
      { "WebCrawlLLMAction text=\"http://h\"", "max_depth=3 max_pages=20", "run_crawl=0" },
      NULL },
    { STATE "s.set_body(Body('b', actions=[WebSocketReplyFile(), WebSocketReplyImage(), WebSocketReplyDataframe(), "
            "WebSocketReplyPlotly()]))\n",
      { "WebSocketReplyFileAction", "WebSocketReplyImageAction", "WebSocketReplyDataframeAction",
        "WebSocketReplyPlotlyAction" },
      NULL },
    { STATE "s.set_body(make())\n", { "has_body=0" }, "Line 3: set_body: the body is something" },
    { STATE "s.set_body(Body('b', actions=[DBReply(db_operation='drop')]))\n",
      { "db_operation=0" },
      "db_operation \"drop\" is unknown" },
    { STATE "s.set_body(Body('b', actions=[DummyEvent()]))\n", { "has_body=0" }, "DummyEvent is no action" },
};

static const struct row transitions[] = {
    { TWO "s.go_to(d)\n", { "transition kind=5 target=1" }, NULL },
    { TWO "i = agent.new_intent('i', ['x'])\ns.when_intent_matched(i).go_to(d)\n",
      { "kind=0 target=1 intent=0" },
      NULL },
    { TWO "i = agent.new_intent('i', ['x'])\nt = s.when_intent_matched(intent=i)\nt.go_to(dest=d)\n",
      { "kind=0 target=1" },
      NULL },
    { TWO "s.when_no_intent_matched().go_to(d)\n", { "kind=1 target=1" }, NULL },
    { TWO
      "import operator\ns.when_variable_matches_operation(var_name='x', operation=operator.ge, target=-3).go_to(d)\n",
      { "kind=2 target=1", "variable=\"x\" op=3 target_value=-3" },
      NULL },
    { TWO "from operator import eq as same\ns.when_variable_matches_operation('x', same, 'y').go_to(d)\n",
      { "op=2 target_value=\"y\"" },
      NULL },
    { TWO "s.when_file_received().go_to(d)\n", { "kind=3", "types=[]" }, NULL },
    { TWO "s.when_file_received('image/jpeg').go_to(d)\n", { "types=[ =\"image/jpeg\"]" }, NULL },
    { TWO "s.when_file_received(allowed_types=['pdf', 'text/csv']).go_to(d)\n",
      { "types=[ =\"application/pdf\" =\"text/csv\"]" },
      NULL },
    { TWO "s.when_form_submitted('f').go_to(d)\n", { "kind=4", "form_id=\"f\"" }, NULL },
    { TWO "s.when_form_submitted().go_to(d)\n", { "kind=4", "form_id=-" }, NULL },
    { TWO "s.when_event(ReceiveJSONEvent()).go_to(d)\n", { "kind=6", "event=2" }, NULL },
    { TWO "e = GUIEvent('g')\ns.when_event(e).go_to(d)\n", { "event=7 gui_id=\"g\"" }, NULL },
    { TWO "s.when_event(event=GUIEvent(message_id='g')).go_to(d)\n", { "event=7 gui_id=\"g\"" }, NULL },
    { TWO "s.when_event(ReceiveMessageEvent('')).go_to(d)\n", { "event=6" }, NULL },
    { TWO "def c(session):\n    return True\nk = Condition('c', callable=c)\ns.when_condition(k).go_to(d)\n",
      { "kind=6", "event=0 gui_id=- condition=\"def c(session):\\n    return True\"" },
      NULL },
    { TWO "def c(session): return 1\ns.when_event(WildcardEvent()).with_condition(Condition('c', c)).go_to(d)\n",
      { "event=5 gui_id=- condition=\"def c(session): return 1\"" },
      NULL },
    { TWO "k = Condition('c', source='def c(session): return "
          "2')\ns.when_condition(condition=k).with_condition(k).go_to(d)\n",
      { "condition=\"def c(session): return 2\" condition=\"def c(session): return 2\"" },
      NULL },
    { TWO "s.when_condition(Condition('big', lambda session: session.get('x') > 3)).go_to(d)\n",
      { "condition=\"def big(session):\\n    return (session.get('x') > 3)\"" },
      NULL },
    { TWO "s.when_condition(VariableOperationMatcher('x', operator.lt, 4)).go_to(d)\n",
      { "kind=2", "op=0 target_value=4" },
      NULL },
    { TWO "s.go_to('d')\n", { "kind=5 target=1" }, NULL },
    { TWO "(\n    s\n    .when_no_intent_matched()\n    .go_to(d)\n)\n", { "kind=1 target=1" }, NULL },
    { TWO "s.when_no_intent_matched().go_to(nowhere)\n", { "state name=\"d\"" }, "the destination is something" },
    { TWO "s.when_no_intent_matched()\n", { "state name=\"d\"" }, "leads nowhere" },
    { TWO "i = agent.new_intent('i', ['x'])\nk = Condition('c', lambda session: True)\n"
          "s.when_intent_matched(i).with_condition(k).go_to(d)\n",
      { "kind=6", "event=1" },
      "when_intent_matched beside other conditions" },
    { TWO "s.when_variable_matches_operation('x', lambda a, b: a, 1).go_to(d)\n",
      { "state name=\"d\"" },
      "unknown operator" },
};

#define SHOWN_IN(model) "agent.add_gui_model('g', " model ")\n"
#define ONE_SCREEN(element) \
    AGENT "e = " element "\np = Screen('p', 'page', {e}, is_main_page=True)\n" \
          "gui_model = GUIModel('G', '', '1.0', '1.0', {Module('M', {p})}, 'd')\n" SHOWN_IN("gui_model")

static const struct row guis[] = {
    { ONE_SCREEN("Text('t', 'words', 'd')"), { "content='words'", "is_main_page=True" }, NULL },
    { ONE_SCREEN("Text(content='words', description='d', name='t', component_id='x', tag_name='h1')"),
      { "content='words'", "component_id='x'", "tag_name='h1'" },
      NULL },
    { AGENT "from besser.BUML.metamodel.gui import Text as T, GUIModel as G, Module, Screen as S\n"
            "def build():\n    e = T('t', 'words', 'd')\n    p = S('p', '', set())\n    p.view_elements = {e}\n"
            "    return G('G', '', '1', '1', {Module('M', screens={p})}, '')\n" SHOWN_IN("build()"),
      { "content='words'" },
      NULL },
    { ONE_SCREEN("InputField('f', 'd', InputFieldType.Email, 'Mail', 'you@x', True)"),
      { "field_type=InputFieldType.Email", "placeholder='you@x'", "required=True" },
      NULL },
    { ONE_SCREEN("Map('m', 'Here', -1.5, +2, 7)\ne.layers = [MapLayer('l', MapLayerType.heatmap)]"),
      { "MapLayerType.heatmap" },
      NULL },
    { ONE_SCREEN("Button('b', 'd', 'Go', styling=Styling(size=Size(width='3px'), color=Color(opacity=0.5)))"),
      { "label='Go'", "width='3px'" },
      NULL },
    { AGENT
      "e = Text('t', 'w', 'd')\ntry:\n    e.data_binding = b\nexcept NameError:\n    pass\n"
      "p = Screen('p', '', set([e]))\nm = GUIModel('G', '', '1', '1', set(), '')\nm.modules = {Module('M', {p})}\n"
      "agent.add_gui_model(gui_model=m, gui_id='g')\n",
      { "content='w'" },
      NULL },
    { ONE_SCREEN("Text('t', 'w', 'd', blink=True)"), { "content='w'" }, "Line 2: GUI \"g\": Text has no \"blink\"" },
    { ONE_SCREEN("InputField('f', 'd', InputFieldType.Telepathy)"),
      { "InputField(" },
      "field_type of InputField is a member" },
    { ONE_SCREEN("make_it()"), { "name='p'" }, "view_elements of Screen is something" },
    { AGENT "agent.add_gui_model('g', make())\n", { "gui gui_id=\"g\"" }, "not a GUIModel" },
    { AGENT "agent.add_gui_model('g', None)\n", { "gui gui_id=\"g\"" }, NULL },
    { AGENT "def _agent_gui_0_x():\n    return 1\n", { "agent=\"A\"" }, "no add_gui_model() takes" },
    { AGENT "x = ViewContainer('c', 'd', set())\nx.view_elements = {x}\np = Screen('p', '', {x})\n" SHOWN_IN("x"),
      { "gui gui_id=\"g\"" },
      "not a GUIModel" },
};

static const struct row unregistered[] = {
    { TWO "i = Intent('i', ['x'])\ns.when_intent_matched(i).go_to(d)\nagent.add_intent(i)\n",
      { "kind=0 target=1 intent=0", "intent name=\"i\"" },
      NULL },
    { TWO "s.when_intent_matched(Intent('i')).go_to(d)\n", { "intent=-1", "intent_name=\"i\"" }, "intent \"i\"" },
    { TWO "agent.new_intent('i', ['x'])\ns.when_intent_matched('i').go_to(d)\n", { "kind=0 target=1 intent=0" }, NULL },
};

static const struct row others[] = {
    { AGENT "print('x')\n",
      { "agent=\"A\"" },
      "Line 2: this statement has no place in a diagram and is left out: print('x')" },
    { AGENT "agent.new_workspace('w', 'p', max_read_bytes=10000000000000000000000)\n",
      { "max_read_bytes=9223372036854775807" },
      "Line 2: new_workspace: max_read_bytes is beyond 64 bits; 9223372036854775807 is taken" },
    { AGENT "agent.new_workspace('w', 'p', 'd', max_read_bytes=9223372036854775807)\n",
      { "max_read_bytes=9223372036854775807" },
      NULL },
    { AGENT "def helper(x):\n    return x\n",
      { "agent=\"A\"" },
      "Line 2: the function helper() is no part of the agent" },
    { "# nothing here\n", { "agent=-" }, NULL },
    { "", { "agent=-" }, NULL },
    { "\xef\xbb\xbf" AGENT, { "agent=\"A\"" }, NULL },
    { "# -*- coding: latin-1 -*-\na = Agent('\xc3\xa9')\n", { "agent=\"\xc3\xa9\"" }, NULL },
    { "a = Agent('A')\r\nb = Body('b')\r\ndef f(session):\r\n    pass\r\nb.add_action(CustomCodeAction(callable=f))\r\n"
      "s = a.new_state('s')\r\ns.set_body(b)\r\n",
      { "text=\"def f(session):\\r\\n    pass\"" },
      NULL },
    { "a = Agent('A')\rs = a.new_state('s')\rdef f(session):\r\tpass\rs.set_body(f)\r",
      { "text=\"def f(session):\\r\\tpass\"" },
      NULL },
    { "a = Agent('A')\n\f\nif a:\n\ts = a.new_state('s')\n", { "state name=\"s\"" }, NULL },
    { AGENT "async def main():\n    async with x() as y:\n        agent.new_state('s')\n",
      { "state name=\"s\"" },
      NULL },
    { AGENT "match 1:\n    case 1:\n        agent.new_state('s')\n", { "state name=\"s\"" }, NULL },
    { AGENT "def f():\n    return f()\nf()\n", { "agent=\"A\"" }, "calls itself" },
    { AGENT "x = []\nx.append(x)\nagent.new_llm('g', parameters={'x': x})\n", { "llm" }, "nested more than" },
};

static void check_row(struct python_parser *p, const struct row *row)
{
    struct findings f;
    struct model m;
    struct err err = { 0 };
    char *dump;
    size_t i;

    findings_init(&f);
    if (buml_read(row->file, strlen(row->file), p, &m, &f, &err) < 0)
        fail_msg("%s: %s", row->file, err.msg);
    dump = model_dump(&m);
    for (i = 0; i < 5 && row->means[i]; i++)
        if (!strstr(dump, row->means[i]))
            fail_msg("%s\nlacks %s\nin %s", row->file, row->means[i], dump);
    for (i = 0; i < f.len && !row->warning; i++)
        fail_msg("%s\nwarns: %s", row->file, f.items[i].message);
    for (i = 0; i < f.len && row->warning && !strstr(f.items[i].message, row->warning); i++)
        ;
    if (row->warning && i == f.len)
        fail_msg("%s\ndoes not warn: %s (but %s)", row->file, row->warning, f.len ? f.items[0].message : "nothing");
    mem_free(dump);
    model_release(&m);
    findings_release(&f);
}

/* What they wait for is missing, not nothing: a transition that always goes would be another program. */
static void a_transition_without_its_condition_or_event_is_left_out(void **state)
{
    static const struct {
        const char *start, *warning;
    } rows[] = {
        { "when_condition()", "its condition is missing" },
        { "when_condition(c=1)", "its condition is missing" },
        { "when_event()", "its event is missing" },
        { "when_event(e=1)", "its event is missing" },
        { "when_condition(nothing)", "none of its conditions" },
        { "when_event(nothing)", "its event is not known" },
    };
    size_t i, n;

    for (i = 0; i < ARRAY_LEN(rows); i++) {
        struct findings f;
        struct model m;
        struct err err = { 0 };
        char file[300], *dump;

        snprintf(file, sizeof(file), "%ss.%s.go_to(d)\n", TWO, rows[i].start);
        findings_init(&f);
        if (buml_read(file, strlen(file), *state, &m, &f, &err) < 0)
            fail_msg("%s: %s", file, err.msg);
        for (n = 0; n < f.len && !strstr(f.items[n].message, rows[i].warning); n++)
            ;
        if (n == f.len)
            fail_msg("%s does not warn: %s", rows[i].start, rows[i].warning);
        dump = model_dump(&m);
        if (strstr(dump, "target="))
            fail_msg("%s goes: %s", rows[i].start, dump);
        mem_free(dump);
        model_release(&m);
        findings_release(&f);
    }
}

#define ROWS_TEST(name, rows) \
    static void name(void **state) \
    { \
        size_t i; \
\
        for (i = 0; i < ARRAY_LEN(rows); i++) \
            check_row(*state, &rows[i]); \
    }

ROWS_TEST(an_agent_may_be_made_in_many_ways, agents)
ROWS_TEST(texts_may_be_written_in_any_form, literals)
ROWS_TEST(intents_may_be_written_in_many_ways, intents)
ROWS_TEST(tools_llms_and_stores_may_be_written_in_many_ways, parts)
ROWS_TEST(states_may_be_written_in_many_ways, states)
ROWS_TEST(bodies_may_be_written_in_many_ways, bodies)
ROWS_TEST(transitions_may_be_written_in_many_ways, transitions)
ROWS_TEST(intents_may_be_known_by_name_alone, unregistered)
ROWS_TEST(guis_may_be_written_in_many_ways, guis)
ROWS_TEST(other_statements_do_no_harm, others)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_may_be_made_in_many_ways),
        cmocka_unit_test(texts_may_be_written_in_any_form),
        cmocka_unit_test(intents_may_be_written_in_many_ways),
        cmocka_unit_test(tools_llms_and_stores_may_be_written_in_many_ways),
        cmocka_unit_test(states_may_be_written_in_many_ways),
        cmocka_unit_test(bodies_may_be_written_in_many_ways),
        cmocka_unit_test(transitions_may_be_written_in_many_ways),
        cmocka_unit_test(a_transition_without_its_condition_or_event_is_left_out),
        cmocka_unit_test(intents_may_be_known_by_name_alone),
        cmocka_unit_test(guis_may_be_written_in_many_ways),
        cmocka_unit_test(other_statements_do_no_harm),
    };

    return cmocka_run_group_tests(tests, start, end);
}
