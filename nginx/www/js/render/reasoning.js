// What a reasoning agent does before it answers.

import { el, unfold } from "../dom.js";
import { isObject, pretty, valueOf } from "../json.js";

const KINDS = {
  reasoning_started: "Thinking",
  llm_tool_calls: "Calls tools",
  tool_result: "Tool answered",
  task_added: "Plans",
  task_completed: "Task done",
  task_skipped: "Task skipped",
  llm_text: "Says",
  pushback: "Goes on",
  max_steps: "Out of steps",
  reasoning_finished: "Done thinking",
};

export function reasoningStep(message) {
  const step = valueOf(message);
  if (!isObject(step))
    throw new TypeError("a step is an object");
  const failed = step.details?.is_error === true;
  const label = el("span", { class: "step-label" },
    el("span", { class: failed ? "tag failed" : "tag" }, KINDS[step.kind] ?? String(step.kind)),
    el("span", {}, String(step.summary ?? "")));
  return isObject(step.details) && Object.keys(step.details).length
    ? unfold(label, () => el("pre", {}, pretty(step.details, 20000)), { class: "step", testid: "step" })
    : el("div", { class: "step", testid: "step" }, label);
}

const MARKS = { pending: "○", in_progress: "◐", completed: "●", skipped: "⊘" };

export function taskList(message) {
  const tasks = valueOf(message);
  if (!Array.isArray(tasks))
    throw new TypeError("a task list is a list");
  return el("ul", { class: "tasks", testid: "tasks", "aria-label": "Tasks" }, tasks.filter(isObject).map((task) =>
    el("li", { "data-status": String(task.status) },
      el("span", { class: "mark", title: String(task.status) }, MARKS[task.status] ?? "○"),
      el("span", {}, String(task.description ?? "")),
      task.result ? el("span", { class: "hint" }, String(task.result)) : null)));
}
