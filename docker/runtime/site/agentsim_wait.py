"""An interpreter that waits for its program, with the framework loaded.

It was started as `python agent.py` in a sandbox of its own, before there is an agent.py. This happens while the interpreter
makes itself ready, ahead of everything that belongs to a program: the work directory is not searched for modules yet.
AGENTSIM_WAIT is the number of a socket to the holder. What is said there, one message each:

    ready   from here: all is loaded
    go      from there, with the session's variables behind it, each after a NUL: the program is in the work directory
    taken   from here: from now on whatever happens is the program's doing

Then the socket is closed and the interpreter goes on as if nothing had been: it finds agent.py and runs it. What the
framework does besides being loaded, it does when the program imports it. Where the program or its variables could
notice that modules were loaded before they were there, the interpreter starts itself anew instead.
"""
import importlib
import os
import sys
from importlib.machinery import ModuleSpec

VARIABLE = "AGENTSIM_WAIT"
MESSAGE_MAX = 1 << 18
FRAMEWORK = "baf"

# What programs of the compiler load before they listen, and what only most of them need
FIRST = (
    "baf.core.agent",
    "baf.core.session",
    "baf.library.transition.events.base_events",
    "baf.nlp.intent_classifier.intent_classifier_configuration",
    "pkgutil",
    "unicodedata",
    "yaml",
)

# Variables that are read by the interpreter or by libraries in C, at their start
EARLY = ("PYTHON", "LD_", "GLIBC_", "MALLOC_", "OPENBLAS_", "OMP_", "OPENSSL_", "SSL_", "LC_", "LANG", "TZ", "AGENTSIM_")


class Notes:
    """What loading looked at, which a program may change."""

    def __init__(self):
        self.missing = set()  # modules that were asked for and are not installed
        self.variables = set()
        self.all_variables = False
        self.files = []  # log files, not opened yet
        self.made = {}  # variables that the framework sets

    def find_spec(self, name, path=None, target=None):
        self.missing.add(name)

    def read(self, key):
        self.variables.add(key)
        return self.encode(key)

    def list(self, key):
        self.all_variables = True
        return self.decode(key)

    def log_file(self, handler, filename, mode="a", encoding=None, delay=False, errors=None):
        self.begin_log(handler, filename, mode, encoding, True, errors)
        if not delay:
            self.files.append((handler, filename))

    def __enter__(self):
        import logging

        self.before = dict(os.environ._data)
        self.encode, self.decode = os.environ.encodekey, os.environ.decodekey
        self.begin_log = begin = logging.FileHandler.__init__
        os.environ.encodekey, os.environ.decodekey = self.read, self.list
        logging.FileHandler.__init__ = lambda *args, **named: self.log_file(*args, **named)
        sys.meta_path.append(self)
        self.restore = lambda: setattr(logging.FileHandler, "__init__", begin)
        return self

    def __exit__(self, *_):
        self.restore()
        sys.meta_path.remove(self)
        os.environ.encodekey, os.environ.decodekey = self.encode, self.decode
        self.made = {name: value for name, value in os.environ._data.items() if self.before.get(name) != value}
        for name in self.made:
            if name in self.before:
                os.environb[name] = self.before[name]
            else:
                del os.environb[name]


class Framework:
    """Gives the framework's modules to the program that imports them."""

    def __init__(self, notes):
        self.notes = notes
        self.modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == FRAMEWORK}
        for name in self.modules:
            del sys.modules[name]

    def find_spec(self, name, path=None, target=None):
        if name != FRAMEWORK:
            return None
        sys.meta_path.remove(self)
        for handler, filename in self.notes.files:
            handler.baseFilename = os.path.abspath(filename)
            handler.stream, handler.delay = handler._open(), False
        os.environb.update(self.notes.made)
        sys.modules.update(self.modules)
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        self.spec = self.modules[FRAMEWORK].__spec__
        return self.modules[FRAMEWORK]

    def exec_module(self, module):
        module.__spec__ = self.spec


def notices(notes, loaded, variables):
    """Could the program that is there now have met other modules, files or values?"""
    names = {name.partition(".")[0] for name in (*loaded, *notes.missing)}
    if any(entry.partition(".")[0] in names for entry in os.listdir()):
        return True
    if any(os.path.lexists(filename) for _, filename in notes.files):
        return True
    return any(notes.all_variables or name in notes.variables or name.startswith(EARLY) for name in variables)


def go(message):
    """The session's variables, by now part of the environment."""
    word, *pairs = message.split(b"\0")
    if word != b"go":
        os._exit(1)
    for pair in pairs:
        name, _, value = pair.partition(b"=")
        os.environb[name] = value
    return [os.fsdecode(pair.partition(b"=")[0]) for pair in pairs]


def load():
    with Notes() as notes:
        for name in FIRST:
            importlib.import_module(name)
    loaded = tuple(sys.modules)
    sys.meta_path.insert(0, Framework(notes))
    return notes, loaded


def wait():
    channel = int(os.environ.pop(VARIABLE))
    os.set_inheritable(channel, False)
    try:
        notes, loaded = load()
        os.write(channel, b"ready")
        variables = go(os.read(channel, MESSAGE_MAX))
        os.write(channel, b"taken")
    except BaseException:  # whoever goes on from here runs the program, which the holder would start once more
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os.close(channel)
    if notices(notes, loaded, variables):
        os.execv(sys.orig_argv[0], sys.orig_argv)
    if "logging" in loaded:
        import logging
        import time

        logging._startTime = time.time()
