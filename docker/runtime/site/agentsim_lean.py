"""Starts the agent framework without what a test session does not use.

Importing `baf.core.agent` as its authors made it costs about 2 s of processor time and 200 MB:
it loads a web user interface, clients of Telegram, GitHub and GitLab, an HTTP server, plotting,
computer vision, date parsing, two database layers and a natural language toolkit, whatever the
agent does. With this module those parts are loaded when something of them is used for the first
time, which for most agents is never.

The import statements *in the modules of the table LATE*, and no others, are answered with
stand-ins for the listed names. A stand-in that is called, asked for an attribute or compared
with loads the real thing, hands over to it, and gives it its place in the module. All other
code, the agent's own included, imports real modules only. Nothing is taken away:
`agent.use_telegram_platform()` works, it only loads late.

A few modules of packages get a last touch when they were loaded (AFTERWARDS), and one, whose
requirements are not installed, is another one altogether (INSTEAD).

AGENTSIM_FULL_IMPORT=1 in the environment turns the table LATE off.
"""
import builtins
import importlib
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader

# importing module -> {imported module: names that come late}; WHOLE is `import x` (as y)
WHOLE = ()
LATE = {
    "baf.core.agent": {
        "baf.db.db_handler": ("DBHandler",),
        "baf.db.monitoring_db": ("MonitoringDB",),
        "baf.platforms.a2a.a2a_platform": ("A2APlatform",),
        "baf.platforms.github.github_platform": ("GitHubPlatform",),
        "baf.platforms.gitlab.gitlab_platform": ("GitLabPlatform",),
        "baf.platforms.telegram.telegram_platform": ("TelegramPlatform",),
        "yaml": WHOLE,
    },
    "baf.core.entity.entity": {"baf.nlp.preprocessing.text_preprocessing": ("process_text",)},
    "baf.core.intent.intent": {"baf.nlp.preprocessing.text_preprocessing": ("process_text",)},
    "baf.core.session": {"pandas": ("DataFrame",), "websocket": ("WebSocketApp",)},
    "baf.nlp.rag.rag": {
        "langchain.retrievers": ("EnsembleRetriever",),
        "langchain_community.document_loaders": ("PyPDFLoader",),
        "langchain_community.retrievers": ("BM25Retriever",),
        "langchain_core.documents.base": ("Document",),
        "langchain_core.vectorstores.base": ("VectorStore", "VectorStoreRetriever"),
        "langchain_text_splitters.base": ("TextSplitter",),
    },
    "baf.nlp.ner.simple_ner": {
        "baf.nlp.ner.base.datetime": ("ner_datetime",),
        "baf.nlp.ner.base.number": ("ner_number",),
    },
    "baf.nlp.preprocessing.pipelines": {"nltk": WHOLE},
    "baf.nlp.preprocessing.text_preprocessing": {"nltk": ("word_tokenize",)},
    "baf.platforms.websocket.websocket_platform": {
        "baf.platforms.websocket.streamlit_ui": ("streamlit_ui",),
        "cv2": WHOLE,
        "librosa": WHOLE,
        "numpy": WHOLE,
        "pandas": ("DataFrame",),
        "plotly": WHOLE,
    },
}

# The few things that the framework needs of a package that is not installed
OURS = {"librosa": "agentsim_speed"}


class Late:
    """Stands for a module (no name) or for one name of it, until it is used."""

    def __init__(self, holder, source, *names):
        self.__dict__.update(_holder=holder, _source=source, _names=names)

    def _real(self):
        if "_found" not in self.__dict__:
            found = importlib.import_module(self._source)
            for name in self._names:
                found = named(found, name)
            self.__dict__["_found"] = found
            for bound, value in list(self._holder.items()):
                if value is self:
                    self._holder[bound] = found
        return self.__dict__["_found"]

    def __repr__(self):
        return f"<late {'.'.join((self._source, *self._names))}>"

    def __getattr__(self, name):
        return getattr(self._real(), name)

    def __setattr__(self, name, value):
        setattr(self._real(), name, value)

    def __call__(self, *args, **kwargs):
        return self._real()(*args, **kwargs)

    # What is asked of a class. While its module is not loaded it has no instances.
    @property
    def __class__(self):
        return type(self._real())

    def __instancecheck__(self, instance):
        return self._source in sys.modules and isinstance(instance, self._real())

    def __subclasscheck__(self, subclass):
        return self._source in sys.modules and issubclass(subclass, self._real())

    def __mro_entries__(self, bases):
        return (self._real(),)

    def __or__(self, other):
        return self._real() | other

    def __ror__(self, other):
        return other | self._real()

    # What is asked of a collection
    def __contains__(self, item):
        return item in self._real()

    def __iter__(self):
        return iter(self._real())


class Names:
    """What `from x import a, b` takes its names from: stand-ins, or the real ones of x."""

    def __init__(self, source, late):
        self.__dict__.update(late, _source=source)

    def __getattr__(self, name):
        return named(importlib.import_module(self._source), name)


class Tokenizers:
    """Stands for nltk in the one module that asks it for data while it is being imported.

    That module goes to the network when the data are missing. It is told that they are there;
    whoever really tokenizes hears from nltk itself if they are not.
    """

    class data:
        @staticmethod
        def find(resource_name):
            return resource_name

    class SnowballStemmer:
        languages = Late({}, "nltk", "SnowballStemmer", "languages")


class Properties:
    """Stands for yaml in the module that reads config.yaml: the parser in C takes a tenth of the time."""

    @staticmethod
    def safe_load(stream):
        import yaml

        return yaml.load(stream, getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    def __getattr__(self, name):
        return getattr(importlib.import_module("yaml"), name)


# What some modules of the table get in place of a whole module
FOR_THEM = {"nltk": Tokenizers, "yaml": Properties()}


def named(module, name):
    """Attribute or submodule, as `from module import name` finds it."""
    try:
        return getattr(module, name)
    except AttributeError:
        return importlib.import_module(f"{module.__name__}.{name}")


def late_import(holder, table):
    """The __import__ for the module whose namespace is `holder`."""

    def import_(name, globals=None, locals=None, fromlist=(), level=0):
        late = table.get(name) if level == 0 else None
        if late is None:
            return builtins.__import__(name, globals, locals, fromlist, level)
        if late is not WHOLE:
            return Names(name, {each: Late(holder, name, each) for each in late})
        if name in FOR_THEM:
            return FOR_THEM[name]
        return Late(holder, OURS.get(name, name))

    return import_


class LateLoader(SourceFileLoader):
    """Runs a module of the table with an __import__ of its own."""

    def exec_module(self, module):
        holder = module.__dict__
        own = dict(vars(builtins), __import__=late_import(holder, LATE[module.__name__]))
        holder["__builtins__"] = own
        super().exec_module(module)
        holder["__builtins__"] = vars(builtins)


def trust_files_of_root(pathsec):
    """nltk's guard of its data files refuses files that are neither root's nor the user's own. In
    a user namespace without root, as a session has, root's files show as nobody's: the question
    has no answer there, and the mounts are read-only anyway."""
    if not root_is_mapped():
        pathsec.ENFORCE = False


def root_is_mapped():
    try:
        with open("/proc/self/uid_map", encoding="ascii") as lines:
            return any(int(line.split()[0]) == 0 for line in lines)
    except (OSError, ValueError):
        return True


def say_nothing_of_successors(deprecation):
    """The generated program uses the classes that BAF's own documents name. That langchain would
    rather see others is no news for who tests an agent."""
    import warnings

    warnings.simplefilter("ignore", deprecation.LangChainDeprecationWarning)
    warnings.simplefilter("ignore", deprecation.LangChainPendingDeprecationWarning)
    deprecation.surface_langchain_deprecation_warnings = lambda: None


def keep_threads_few(_chromadb):
    """Each store starts a runtime with a thread per processor, and a session may have only so
    many. Read when the first store is made."""
    os.environ.setdefault("TOKIO_WORKER_THREADS", "2")
    os.environ.setdefault("RAYON_NUM_THREADS", "2")


def have_encodings(_tiktoken):
    """The encoding of OpenAI's embeddings is part of the runtime; else it is fetched at first use."""
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", os.path.join(sys.prefix, "tiktoken_cache"))


def tell_of_exits(module):
    """`exit()` in a body, condition or tool raises no Exception, which is all that these modules look for: it would end the
    session's thread without a word, and nobody would answer any more. They take it for a fault like any other."""
    module.Exception = BaseException


def read_scores(classifier):
    """Models give scores as texts, too. One that is no number at all would lose the message, as it is compared with others
    where nobody looks for faults."""
    read = classifier.LLMIntentClassifier.default_json_to_intent_classifier_predictions

    def predictions(self, message, response_json):
        found = read(self, message, response_json)
        for each in found:
            each.score = as_score(each.score)
        return found

    classifier.LLMIntentClassifier.default_json_to_intent_classifier_predictions = predictions


def as_score(value):
    """0.9, "0.9" and "90 %" are the same; what says nothing of the kind is 0."""
    try:
        percent = isinstance(value, str) and value.rstrip().endswith("%")
        score = float(value.rstrip().removesuffix("%")) / 100 if percent else float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return 0.0 if score != score else score


AFTERWARDS = {
    "baf.core.state": tell_of_exits,
    "baf.core.transition.transition": tell_of_exits,
    "baf.nlp.intent_classifier.llm_intent_classifier": read_scores,
    "baf.reasoning.tool": tell_of_exits,
    "chromadb": keep_threads_few,
    "langchain_core._api.deprecation": say_nothing_of_successors,
    "nltk.pathsec": trust_files_of_root,
    "tiktoken": have_encodings,
}


class AfterLoader(SourceFileLoader):
    """Loads a module as always, then does what AFTERWARDS says."""

    def exec_module(self, module):
        super().exec_module(module)
        AFTERWARDS[module.__name__](module)


# module -> the file beside this one that is loaded in its place
INSTEAD = {"chromadb.telemetry.opentelemetry": "agentsim_no_traces.py"}


def instead(name):
    origin = os.path.join(os.path.dirname(__file__), INSTEAD[name])
    spec = ModuleSpec(name, SourceFileLoader(name, origin), origin=origin)
    spec.has_location = True
    return spec


class Finder:
    """Finds the modules above, and gives them their loaders."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in INSTEAD:
            return instead(name)
        if name in LATE:
            loader = LateLoader
        elif name in AFTERWARDS:
            loader = AfterLoader
        else:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = loader(name, spec.origin)
        return spec


def install():
    if Finder in sys.meta_path:
        return
    if os.environ.get("AGENTSIM_FULL_IMPORT", "") not in ("", "0"):
        LATE.clear()
    sys.meta_path.insert(0, Finder)
