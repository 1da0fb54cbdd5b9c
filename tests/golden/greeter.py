import operator
import re
import unicodedata

from baf.core.agent import Agent
from baf.core.session import Session
from baf.exceptions.logger import logger
from baf.nlp.intent_classifier.intent_classifier_configuration import (
    LLMIntentClassifierConfiguration,
)


def message_of(session):
    """The message to answer; empty on connecting and for events that carry none."""
    message = getattr(session.event, 'message', None)
    return '' if message is None else message


def variable(session, name):
    """A session variable. Accented letters may be one character or two."""
    value = session.get(name)
    if value is None and not name.isascii():
        for key, other in list(session.get_dictionary().items()):
            if unicodedata.normalize('NFC', str(key)) == name:
                return other
    return value


def fill(session, text):
    """The text with session variables in place of {name}, the message for {user_message}."""
    def shown(match):
        name = unicodedata.normalize('NFC', match[1])
        if not re.fullmatch(r'\w+', name):
            return match[0]
        value = message_of(session) if name == 'user_message' else variable(session, name)
        return '' if value is None else str(value)

    return re.sub(r'\{([^{}]+)\}', shown, text)


def compared_as_text(value, other):
    """The text forms of two values of different types; true and True are the same."""
    texts = str(value), str(other)
    if isinstance(value, bool) or isinstance(other, bool):
        return [text.lower() for text in texts]
    return texts


def comparison(operation):
    """The operation, false for unset variables and for values that cannot be compared."""
    def compare(value, target):
        if value is None:
            return False
        numbers = isinstance(value, (int, float)) and isinstance(target, (int, float))
        try:
            if not numbers and target is not None and type(value) is not type(target):
                value, target = compared_as_text(value, target)
            return bool(operation(value, target))
        except Exception:
            return False

    compare.__name__ = operation.__name__
    return compare


agent = Agent('Front_desk')
agent.load_properties('config.yaml')
platform = agent.use_websocket_platform(use_ui=False)

# Recognition of intents
ic_config = LLMIntentClassifierConfiguration(
    llm_name='',
    parameters={},
    use_intent_descriptions=True,
    use_training_sentences=True,
    use_entity_descriptions=False,
    use_entity_synonyms=False,
)
logger.warning('There is no LLM to recognise intents with')
agent.set_default_ic_config(ic_config)

# Intents
intent_ask_hours = agent.new_intent('ask_hours', [
    'when are you open',
    'opening hours',
], description='When is it open?')
intent_ask_where = agent.new_intent('ask_where', [])

# States
state_greeting = agent.new_state('greeting', initial=True)
state_hours = agent.new_state('hours')
state_where = agent.new_state('where')
state_1st_floor = agent.new_state('1st.floor')

# What each state does, and where it leads


def body_greeting(session: Session):
    session.reply(fill(session, 'Hello {name}!'))
    platform.reply_options(session, [
        'Opening hours',
        'Where are you?',
    ])


def fallback_greeting(session: Session):
    session.reply(fill(session, 'I didn\x27t catch \x22{user_message}\x22.'))


state_greeting.set_body(body_greeting)
state_greeting.set_fallback_body(fallback_greeting)
state_greeting.when_intent_matched(intent_ask_hours).go_to(state_hours)
state_greeting.when_intent_matched(intent_ask_where).go_to(state_where)
state_greeting.when_variable_matches_operation('floor', comparison(operator.ge), 1).go_to(state_1st_floor)


def body_hours(session: Session):
    platform.reply_markdown(session, '| day | hours |\n|--|--|\n| Mo\u2013Fr | 9 to 17 |')


state_hours.set_body(body_hours)
state_hours.when_no_intent_matched().go_to(state_greeting)


def body_where(session: Session):
    platform.reply_location(session, 49.5, 5.94)


state_where.set_body(body_where)
state_where.when_file_received(['application/pdf', 'image/png']).go_to(state_greeting)


def body_1st_floor(session: Session):
    platform.reply_html(session, '<b>Upstairs</b>')


state_1st_floor.set_body(body_1st_floor)
state_1st_floor.go_to(state_greeting)

if __name__ == '__main__':
    agent.run()
