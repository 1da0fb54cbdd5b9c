// Tabs as the ARIA pattern has them: arrows move, Home and End jump.

import { byId } from "./dom.js";

/** `onShow(id)` is called with the id of the panel that becomes visible. */
export function makeTabs(bar, onShow) {
  const tabs = [...bar.querySelectorAll("[role=tab]")];
  const choose = (chosen) => {
    for (const tab of tabs) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
    onShow(chosen.getAttribute("aria-controls"));
  };
  bar.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab)
      choose(tab);
  });
  bar.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (at < 0 || to === undefined)
      return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    next.focus();
    choose(next);
  });
}
