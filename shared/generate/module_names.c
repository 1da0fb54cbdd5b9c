#include "shared/generate/module_names.h"

#include <stdlib.h>
#include <string.h>

#include "shared/base/mem.h"

/* Sorted. sys.stdlib_module_names without private ones, and what agent-runtime.md section 6 lists. */
/* clang-format off */
static const char *const taken[] = {
    "abc", "agent_model", "aifc", "aiohttp", "anthropic", "antigravity", "argparse", "array", "ast", "asynchat",
    "asyncio", "asyncore", "atexit", "audioop", "baf", "base64", "bcrypt", "bdb", "besser", "binascii",
    "bisect", "bs4", "builtins", "bz2", "cProfile", "calendar", "cgi", "cgitb", "chromadb", "chunk", "cmath",
    "cmd", "code", "codecs", "codeop", "collections", "colorsys", "compileall", "concurrent", "configparser",
    "contextlib", "contextvars", "copy", "copyreg", "crypt", "csv", "ctypes", "curses", "cv2", "dataclasses",
    "dateparser", "datetime", "dbm", "decimal", "difflib", "dis", "distutils", "doctest", "email", "encodings",
    "ensurepip", "enum", "errno", "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions",
    "ftplib", "functools", "gc", "genericpath", "getopt", "getpass", "gettext", "gidgethub", "gidgetlab",
    "glob", "graphlib", "grp", "guis", "gzip", "hashlib", "heapq", "hmac", "html", "http", "httpx", "idlelib",
    "imaplib", "imghdr", "imp", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword",
    "langchain", "langchain_community", "langchain_core", "langchain_text_splitters", "lib2to3", "librosa",
    "linecache", "locale", "logging", "lzma", "mailbox", "mailcap", "markdownify", "marshal", "math",
    "mimetypes", "mmap", "modulefinder", "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nltk",
    "nntplib", "nt", "ntpath", "nturl2path", "numbers", "numpy", "opcode", "openai", "operator", "optparse",
    "os", "ossaudiodev", "pandas", "pathlib", "pdb", "personalized_agent_model", "pickle", "pickletools",
    "pipes", "pkgutil", "platform", "plistlib", "plotly", "poplib", "posix", "posixpath", "pprint", "profile",
    "pstats", "psycopg2", "pty", "pwd", "py_compile", "pyclbr", "pydantic", "pydoc", "pydoc_data", "pyexpat",
    "pypdf", "queue", "quopri", "random", "re", "readline", "replicate", "reprlib", "requests", "resource",
    "rlcompleter", "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal",
    "site", "six", "skills", "smtpd", "smtplib", "sndhdr", "snowballstemmer", "socket", "socketserver",
    "soundfile", "spwd", "sqlalchemy", "sqlite3", "sre_compile", "sre_constants", "sre_parse", "ssl", "stat",
    "statistics", "streamlit", "string", "stringprep", "struct", "subprocess", "sunau", "symtable", "sys",
    "sysconfig", "syslog", "tabnanny", "tarfile", "telegram", "telnetlib", "tempfile", "termios", "text_to_num",
    "textwrap", "this", "threading", "tiktoken", "time", "timeit", "tkinter", "token", "tokenize", "tomllib",
    "tools", "torch", "trace", "traceback", "tracemalloc", "transformers", "tty", "turtle", "turtledemo",
    "types", "typing", "unicodedata", "unittest", "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref",
    "webbrowser", "websocket", "websockets", "winreg", "winsound", "wsgiref", "xdrlib", "xml", "xmlrpc", "yaml",
    "zipapp", "zipfile", "zipimport", "zlib", "zoneinfo"
};
/* clang-format on */

static int compare(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

bool module_name_is_taken(const char *name)
{
    return bsearch(name, taken, ARRAY_LEN(taken), sizeof(taken[0]), compare);
}
