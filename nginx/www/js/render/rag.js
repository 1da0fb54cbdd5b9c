import { counted, el, unfold } from "../dom.js";
import { isObject, pretty, valueOf } from "../json.js";

const MAX_SOURCES = 50;

/** An answer from documents, with the passages it came from. */
export function rag(message) {
  const value = valueOf(message);
  if (!isObject(value))
    throw new TypeError("an answer is an object");
  const sources = Array.isArray(value.docs) ? value.docs.filter(isObject) : [];
  return el("div", { class: "rag", testid: "rag" },
    el("div", { class: "text" }, String(value.answer ?? "")),
    el("p", { class: "hint" }, `${value.llm_name ? `${value.llm_name}, ` : ""}${counted(sources.length, "source")}`),
    sources.slice(0, MAX_SOURCES).map((source, index) => unfold(sourceName(source, index), () =>
      el("div", {}, el("div", { class: "text quoted" }, String(source.content ?? "")),
        source.metadata ? el("pre", {}, pretty(source.metadata)) : null))));
}

function sourceName(source, index) {
  const metadata = isObject(source.metadata) ? source.metadata : {};
  const page = metadata.page !== undefined ? `, page ${metadata.page}` : "";
  return metadata.source ? `${metadata.source}${page}` : `Source ${index + 1}${page}`;
}
