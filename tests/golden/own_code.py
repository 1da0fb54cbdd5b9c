import builtins as my_builtins
import json as my_json
import logging as my_logging
import operator as my_operator
import os as my_os
import re as my_re
import unicodedata as my_unicodedata

from baf.core.agent import Agent as my_Agent
from baf.core.session import Session as my_Session
from baf.library.transition.events.base_events import (
    DummyEvent as my_DummyEvent,
    GUIEvent as my_GUIEvent,
    ReceiveFileEvent as my_ReceiveFileEvent,
    ReceiveJSONEvent as my_ReceiveJSONEvent,
    ReceiveMessageEvent as my_ReceiveMessageEvent,
    ReceiveTextEvent as my_ReceiveTextEvent,
    WildcardEvent as my_WildcardEvent,
)
from baf.nlp.intent_classifier.intent_classifier_configuration import (
    LLMIntentClassifierConfiguration as my_LLMIntentClassifierConfiguration,
)


def my_message_of(session):
    """The message to answer; empty on connecting and for events that carry none."""
    message = my_builtins.getattr(session.event, 'message', None)
    return '' if message is None else message


def my_variable(session, name):
    """A session variable. Accented letters may be one character or two."""
    value = session.get(name)
    if value is None and not name.isascii():
        for key, other in my_builtins.list(session.get_dictionary().items()):
            if my_unicodedata.normalize('NFC', my_builtins.str(key)) == name:
                return other
    return value


def my_fill(session, text):
    """The text with session variables in place of {name}, the message for {user_message}."""
    def shown(match):
        name = my_unicodedata.normalize('NFC', match[1])
        if not my_re.fullmatch(r'\w+', name):
            return match[0]
        value = my_message_of(session) if name == 'user_message' else my_variable(session, name)
        return '' if value is None else my_builtins.str(value)

    return my_re.sub(r'\{([^{}]+)\}', shown, text)


def my_from_gui(gui_id):
    """The condition that an event comes from that GUI."""
    def comes_from_gui(session):
        return my_builtins.getattr(session.event, 'message_id', None) == gui_id

    return comes_from_gui


def my_all_of(*conditions):
    """One condition that holds when all of them do."""
    def all_hold(session):
        return my_builtins.all(condition(session) for condition in conditions)

    all_hold.__name__ = ' and '.join(condition.__name__ for condition in conditions)
    return all_hold


my_agent = my_Agent('Counter')
my_agent.load_properties('config.yaml')
my_platform = my_agent.use_websocket_platform(use_ui=False)

# Recognition of intents
my_ic_config = my_LLMIntentClassifierConfiguration(
    llm_name='',
    parameters={},
    use_intent_descriptions=True,
    use_training_sentences=True,
    use_entity_descriptions=False,
    use_entity_synonyms=False,
)
my_agent.set_default_ic_config(my_ic_config)

# States
my_state_count = my_agent.new_state('count', initial=True)
my_state_my_end = my_agent.new_state('my_end')

# Names for the code of the diagram; nothing else here reads them
agent = my_agent
platform = my_platform
ic_config = my_ic_config
json = my_json
logging = my_logging
operator = my_operator
os = my_os
Session = my_Session
AgentSession = my_Session
DummyEvent = my_DummyEvent
GUIEvent = my_GUIEvent
ReceiveFileEvent = my_ReceiveFileEvent
ReceiveJSONEvent = my_ReceiveJSONEvent
ReceiveMessageEvent = my_ReceiveMessageEvent
ReceiveTextEvent = my_ReceiveTextEvent
WildcardEvent = my_WildcardEvent
default_llm = None
count = my_state_count
my_end = my_state_my_end


def stop(session: AgentSession, params: dict):
    return (session.get('n') or 0) > limit()


def limit():
    return 3


my_condition_1_1_code = stop


def my_condition_1_1(session):
    return my_condition_1_1_code(session, {})


def short(session):
    return len(session.event.message) < 9


my_condition_1_2_code = short


def my_condition_1_2(session):
    return my_condition_1_2_code(session)


# What each state does, and where it leads


def str(session):
    n = (session.get('n') or 0) + 1
    session.set('n', n)
    session.reply(f'{n} so far')


my_code_count = str


def my_body_count(session: my_Session):
    session.reply('Counting.')
    my_code_count(session)
    session.reply(my_fill(session, 'Next? ({n})'))


my_state_count.set_body(my_body_count)
my_state_count.when_event(my_ReceiveTextEvent()).with_condition(my_all_of(my_condition_1_1, my_condition_1_2)).go_to(my_state_my_end)
my_state_count.when_event(my_GUIEvent(message_id='panel')).with_condition(my_from_gui('panel')).go_to(my_state_count)
my_state_count.when_event(my_WildcardEvent()).go_to(my_state_count)


def my_body_my_end(session: my_Session):
    session.reply('Enough.')


my_state_my_end.set_body(my_body_my_end)


if __name__ == '__main__':
    my_agent.run()
