"""Run by a new runtime before it is put in force: does it start the framework, and keep a store?"""
import os
import pathlib
import sys

from baf.core.agent import Agent
from baf.platforms.websocket.websocket_platform import WebSocketPlatform
from besser.BUML.metamodel.gui.graphical_ui import GUIModel
import nltk

assert Agent and WebSocketPlatform and GUIModel
nltk.data.find("tokenizers/punkt_tab/english/")
assert "pyarrow" not in sys.modules and "torch" not in sys.modules
assert pathlib.Path(nltk.data.find("tokenizers/punkt_tab")).is_relative_to(sys.prefix)

os.environ["http_proxy"] = os.environ["https_proxy"] = "http://127.0.0.1:9"  # nothing may be fetched
from langchain_community.embeddings import FakeEmbeddings
from langchain_community.vectorstores import Chroma
import tiktoken

store = Chroma(embedding_function=FakeEmbeddings(size=8), persist_directory="store")
store.add_texts(["kept"])
assert store.similarity_search("what", k=1)[0].page_content == "kept"
assert tiktoken.encoding_for_model("text-embedding-ada-002").encode("kept")
