import json
import os
import re
import sys
import types
import unicodedata

from baf.core.agent import Agent
from baf.core.session import Session
from baf.exceptions.logger import logger
from baf.library.state import new_reasoning_state
from baf.library.transition.events.base_events import ReceiveTextEvent
from baf.nlp.intent_classifier.intent_classifier_configuration import (
    LLMIntentClassifierConfiguration,
)
from baf.nlp.llm.llm_openai_api import LLMOpenAI
from baf.nlp.llm.llm_ollama import LLMOllama
from baf.nlp.rag.rag import HybridRAG
from baf.nlp.text2speech.openai_text2speech import OpenAIText2Speech
from langchain_community.embeddings import OllamaEmbeddings
from langchain_community.vectorstores import Chroma
from langchain_text_splitters import RecursiveCharacterTextSplitter


here = os.path.dirname(os.path.abspath(__file__))


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


def result_text(result):
    """What a database answered, as text."""
    if isinstance(result, (dict, list)):
        return json.dumps(result, default=str)
    return str(result)


def reply_object(session, name):
    """What a file, image, table or plot reply sends: a session variable, else a global."""
    found = session.get(name)
    if found is None:
        found = globals().get(name)
    if found is None:
        logger.warning('Nothing is sent: %s is not set', name)
    return found


def load_documents(store, folder):
    """Fills a store from the PDF files of a folder. Without any, or any text, it stays empty."""
    if os.path.isdir(folder):
        try:
            store.load_pdfs(folder)
        except ValueError as error:
            logger.warning('No documents come from the folder %s: %s', folder, error)


def load_tool(name, description, first, last):
    """Offers one tool: lines first to last of tools.py, run as a module of their own."""
    path = os.path.join(here, 'tools.py')
    module = types.ModuleType('tools_' + name)
    module.__file__ = path
    sys.modules[module.__name__] = module
    try:
        with open(path, encoding='utf-8', newline='') as file:
            lines = file.read().split('\n')[first - 1:last]
        source = '\n' * (first - 1) + '\n'.join(lines)
        exec(compile(source, path, 'exec', dont_inherit=True), module.__dict__)
        function = module.__dict__.get(name)
        if not callable(function):
            own = [
                item for item in module.__dict__.values()
                if isinstance(item, types.FunctionType) and item.__module__ == module.__name__]
            function = next((item for item in own if not item.__name__.startswith('_')), own[0])
        agent.new_tool(function, name=name, description=description)
    except (Exception, SystemExit):
        logger.exception('The tool %s cannot be loaded', name)


agent = Agent('Library')
agent.load_properties('config.yaml')
platform = agent.use_websocket_platform(use_ui=False)
tts = OpenAIText2Speech(agent=agent, model_name='gpt-4o-mini-tts')

# Document stores
rag_shelves = HybridRAG(
    agent=agent,
    vector_store=Chroma(
        embedding_function=OllamaEmbeddings(base_url='http://localhost:11434', model='nomic-embed-text'),
        persist_directory='vector_store/shelves',
    ),
    splitter=RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100),
    llm_name='small',
    llm_prompt=None,
    k=4,
    num_previous_messages=0,
    bm25_weight=0.6,
)
load_documents(rag_shelves, 'shelves')

# Recognition of intents
ic_config = LLMIntentClassifierConfiguration(
    llm_name='small',
    parameters={},
    use_intent_descriptions=True,
    use_training_sentences=True,
    use_entity_descriptions=False,
    use_entity_synonyms=False,
)
agent.set_default_ic_config(ic_config)

# Language models
llm_small = LLMOpenAI(
    agent=agent,
    name='small',
    parameters={'temperature': 0, 'stop': ['\n']},
    num_previous_messages=1,
)
llm_big_model_2 = LLMOllama(
    agent=agent,
    name='Big/Model-2',
    parameters={},
    global_context='Be brief.',
)
default_llm = llm_small
agent.use_db_handler()

# Tools
load_tool('due', 'When a book has to come back', 1, 5)
load_tool('fee', None, 7, 9)

# Skills
agent.new_skill(
    os.path.join(here, 'skills', '_tone.md'),
    name='../tone',
    description='How to answer',
)
agent.new_skill(os.path.join(here, 'skills', 'Tone.md'), name='Tone')
agent.new_skill(os.path.join(here, 'skills', 'tone_2.md'), name='tone')

# Workspaces
agent.new_workspace(
    name='notes',
    path='notes/new',
    description='Notes of readers',
    writable=False,
    max_read_bytes=200000,
)

# States
state_desk = agent.new_state('desk', initial=True)
state_research = new_reasoning_state(
    agent=agent,
    llm=default_llm,
    name='research',
    initial=False,
    max_steps=5,
    enable_task_planning=True,
    stream_steps=True,
    system_prompt='Think first.',
)

# What each state does, and where it leads


def body_desk(session: Session):
    spoken = []
    spoken.append('One moment.')
    session.reply(spoken[-1])
    answer = default_llm.predict(
        message=message_of(session),
        session=session,
        system_message=fill(session, 'You are a librarian. The reader is {name}.'),
    )
    session.set('advice', answer)
    session.reply(answer)
    platform.reply_speech(session, answer)
    llm_big_model_2.chat(session=session)
    answer = rag_shelves.run(fill(session, 'Where is {title}?'), session=session)
    session.set('place', answer.answer)
    platform.reply_rag(session, answer)
    answer = result_text(session.db_handler.select(db_name='db1', query='SELECT title\nFROM book'))
    session.set('books', answer)
    session.reply(answer)
    platform.reply_speech(session, answer)
    question = message_of(session)
    result = result_text(session.db_handler.query(db_name='loans', query=question, llm=default_llm))
    answer = default_llm.predict(
        message='Question: {}\nDatabase result: {}'.format(question, result),
        session=session,
        system_message='Answer the question from the database result in plain text, briefly. Do not mention the database, its tables, or how the result was found.',
    )
    if answer is None:
        answer = result
    session.reply(answer)
    platform.reply_speech(session, answer)
    pages = session.get('web_crawl_https://library.example/news')
    if pages is None:
        session.reply('No web crawl data is available yet.')
        return
    answer = default_llm.predict(
        message=message_of(session),
        session=session,
        system_message='Answer the user from the following web pages: ' + str(pages),
    )
    session.reply(answer)
    platform.reply_speech(session, answer)
    platform.reply_speech(session, ' '.join(spoken))


def fallback_desk(session: Session):
    found = reply_object(session, 'reply_image_arr')
    if found is not None:
        platform.reply_image(session, found)


state_desk.set_body(body_desk)
state_desk.set_fallback_body(fallback_desk)
state_desk.when_event(ReceiveTextEvent()).go_to(state_research)

if __name__ == '__main__':
    agent.run()
