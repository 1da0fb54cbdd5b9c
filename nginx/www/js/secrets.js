// Does a request hold a key, a password, a token? Then it is not kept: a browser may write its storage to a disk. Names
// tell (`api_key: x`), and shapes that keys have wherever they stand. Sentences about passwords hold none.
// No pattern may look far ahead from many places: a diagram is a megabyte of whatever somebody likes.

/* The end of a name: openai_api_key, dbPassword, HF_TOKEN_2; but not maxTokens or tokenizer. */
const NAME = "(?:(?:api|access|private|secret|signing)[_-]?keys?|secret|passw(?:or)?d|passphrase|credentials?|token(?!s))(?:_?\\d{1,3}|[_-]?value)?";
const SECRET_NAME = new RegExp(`${NAME}$`, "i");

/* In code and documents: name = "value", "name": "value", with the backslashes that JSON in JSON has. */
const QUOTED = new RegExp(`${NAME}(?!\\w)\\\\*["']?\\]?\\s*(?:[:=]|=>)\\s*[bru]?\\\\*(["'])((?:(?!\\1|\\\\).)+)`, "gi");

/* In YAML: the value is one word up to the end of the line, or of an entry of {a list, of: such}. */
const YAML = new RegExp(`(?:^|[{,])[ \\t]*(?:-[ \\t]+)?[\\w.-]{0,100}?${NAME}[ \\t]*:[ \\t]+([^\\s"'#,{}()]+)[ \\t]*(?=$|[#,}])`, "gim");

/* In environments and addresses: NAME=value without blanks. */
const ASSIGNED = new RegExp(`(?:^|[?&;]|\\bexport[ \\t]+)[\\w.-]{0,100}?${NAME}=([^\\s"'#&(){}]+)(?=$|[\\s#&])`, "gim");

/* `key` alone is a name of many things; what it names has to look like one. */
const KEY = /(?<![\w-])key\\*["']?\s*[:=]\s*\\*["'](?=[\w-]{0,100}\d)[\w-]{16}/i;

const LOGIN = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@"'<>]{0,200}:([^\s/@"'<>]{1,200})@/gi;

const SHAPES = [
  /\b(?:bearer|basic)\s+(?=[\w.~+/-]{0,100}\d)[\w.~+/-]{16}/i,
  /(?<![A-Za-z0-9])(?:sk|pk|rk)[-_](?=[\w-]{0,100}\d)[\w-]{16}/,
  /(?<![A-Za-z0-9])(?:hf|r8|gsk|ghp|gho|ghu|ghs|ghr|npm)_(?=\w{0,100}[\dA-Z])\w{16}/,
  /(?<![A-Za-z0-9])(?:github_pat_|glpat-|xai-|pplx-|xox[abeprs]-)(?=[\w-]{0,100}\d)[\w-]{16}/,
  /(?<![A-Za-z0-9])(?:AIza[\w-]{30}|(?:AKIA|ASIA)[A-Z0-9]{16}\b)/,
  /(?<![\w:])\d{8,10}:(?=[\w-]{0,34}[A-Z])[\w-]{35}(?![\w-])/, // a bot of Telegram
  /(?<![\w-])eyJ[\w-]{8,2000}\.eyJ[\w-]{8}/, // a signed token (JWT)
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/,
];

/* Not yet a value: YOUR-KEY, <key>, {key}, $KEY, ***; or a type, or nothing. */
const NO_VALUE = /^(?:your[-_ ].*|[<{$%*.].*|x+|null|none|true|false|undefined|~|str|int|string|bool|bytes|-?\d{1,3})?$/i;

/** Whether anything in a JSON value looks like a secret: its names, its texts, and the two together. */
export function holdsSecret(value, name = "") {
  if (typeof value === "string")
    return (SECRET_NAME.test(name) && isValue(value)) || textHoldsSecret(value);
  if (typeof value === "number")
    return SECRET_NAME.test(name) && isValue(String(value));
  if (typeof value !== "object" || value === null)
    return false;
  return Object.entries(value).some(([key, item]) =>
    textHoldsSecret(key) || holdsSecret(item, Array.isArray(value) ? name : key));
}

function textHoldsSecret(text) {
  return found(text, QUOTED, 2) || found(text, YAML, 1) || found(text, ASSIGNED, 1) || found(text, LOGIN, 1)
    || KEY.test(text) || SHAPES.some((shape) => shape.test(text));
}

function found(text, pattern, group) {
  for (const match of text.matchAll(pattern))
    if (isValue(match[group]))
      return true;
  return false;
}

const isValue = (text) => !NO_VALUE.test(text.trim());
