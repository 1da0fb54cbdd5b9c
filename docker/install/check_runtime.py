"""Run by a new runtime before it is put in force: does it start the framework?"""
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
