"""The components and actions of random diagrams: the part of random_diagram.Builder that draws single elements."""

from __future__ import annotations

import copy

from tests.support import random_text
from tests.support.random_pieces import CUSTOM_CODE, GUI_MODELS, PROVIDERS, TOOLS

LEGACY_KINDS = {
    "TextReplyAction": "text",
    "LLMReplyAction": "llm",
    "LLMChatAction": "llm_chat",
    "RAGReplyAction": "rag",
    "DBAction": "db_reply",
    "CustomCodeAction": "code",
    "WebCrawlLLMAction": "web_crawl_llm",
    "WebSocketReplyMarkdownAction": "ws_markdown",
    "WebSocketReplyHTMLAction": "ws_html",
    "WebSocketReplySpeechAction": "ws_speech",
    "WebSocketReplyOptionsAction": "ws_options",
    "WebSocketReplyLocationAction": "ws_location",
    "WebSocketReplyFileAction": "ws_file",
    "WebSocketReplyImageAction": "ws_image",
    "WebSocketReplyDataframeAction": "ws_dataframe",
    "WebSocketReplyPlotlyAction": "ws_plotly",
    "GUIReplyAction": "gui_reply",
}


class Parts:
    """Needs the dice of Builder."""

    # ---- components ------------------------------------------------------------------------------------------------
    def component(self, kind, element):
        key = self.new_id("c")
        self.components[key] = {"id": key, "type": kind, **element}
        return key

    def add_llm(self):
        name = self.name("llm", "llm_names")
        if self.odd("llm_names", 0.4):
            name = self.pick(
                ("GPT-4o", "meta-llama/Llama-3", "4o-mini", "gpt 4.1", "modèle", "a.b", "A-b", "class", "llama3:8b")
            ) + str(self.ids)
        elif self.chance(0.3) and "llm_names" not in self.oddities:
            name = name.replace("_", "-", 1)
        provider = "ollama" if self.odd("ollama_urls") else self.pick(PROVIDERS)
        parameters = {"temperature": 0.5, "max_tokens": 100, "stop": ["a", 'b"'], "nested": {"deep": [1, None, True]}}
        parameters = {key: parameters[key] for key in self.rng.sample(sorted(parameters), self.rng.randint(0, 4))}
        if provider == "ollama" and self.odd("ollama_urls", 0.8):
            parameters["base_url"] = self.pick(("http://127.0.0.1:1", "http://x/'\"\n#: {a}", "a: b"))
        element = {"name": name, "provider": provider.upper() if self.chance(0.2) else provider}
        self.member(element, "parameters", parameters, 1 if "base_url" in parameters else 0.5)
        self.member(element, "num_previous_messages", self.number(self.rng.randint(0, 5)))
        if self.odd("global_context"):
            element["global_context"] = self.text()
        self.component("AgentLLM", element)
        self.llms.append(name)

    def llm_name(self):
        return self.pick(self.llms) if self.llms and self.chance(0.4) else None

    def add_intent(self):
        name = self.name("intent", "intent_names")
        bodies = []
        for _ in range(self.rng.randint(0, 4)):
            body = self.new_id("b")
            self.components[body] = {"id": body, "type": "AgentIntentBody", "name": self.text()}
            bodies.append(body)
        element = {"name": name, ("ownedElements" if self.chance(self.legacy) else "bodies"): bodies}
        self.member(element, "intent_description", self.pick((None, "", self.text())))
        self.component("AgentIntent", element)
        self.intents.append(name)

    def add_rag(self):
        name = self.name("rag", "rag_names")
        element = {"name": name}
        if self.chance(0.4):
            element["embedding_provider"] = self.pick(("ollama", "OLLAMA", "openai", "other"))
            quote = self.pick(("'", '"', "\\", "\n", "{x}")) if self.odd("embedding_texts") else ""
            self.member(element, "embedding_base_url", "http://127.0.0.1:11434" + quote)
            self.member(element, "embedding_model", "model-1" + quote)
        element.update({self.pick(("llm_name", "llm")): self.llm_name() or ""} if self.chance(0.5) else {})
        self.member(element, self.pick(("llm_prompt", "llmPrompt")), self.text())
        self.member(element, "k", self.number(self.rng.randint(-1, 9)))
        if self.odd("rag_history"):
            element[self.pick(("num_previous_messages", "numPreviousMessages"))] = self.rng.randint(1, 4)
        self.member(element, "use_hybrid_rag", self.chance(0.5))
        self.member(element, "bm25_weight", self.real(self.pick((0.25, 0.5, 0, 1, 2.5))))
        self.component("AgentRagElement", element)
        self.rags.append(name)

    def add_gui(self):
        gui_id = self.name("gui", "gui_ids")
        if self.odd("gui_ids", 0.4):
            gui_id = self.pick(("My form", "my-form", "1form", "Form A", "class", "a b", "a-b")) + str(self.ids)
        element = {"name": self.plain(), "gui_id": gui_id, "guiModel": copy.deepcopy(self.pick(GUI_MODELS))}
        self.member(element, "persist", self.chance(0.5))
        self.member(element, "width", self.pick(("", "300px", "50%")))
        self.member(element, "is_form", self.chance(0.5))
        self.component("AgentGUI", element)
        self.guis.append(gui_id)

    def add_reasoning_parts(self):
        for number in range(self.rng.randint(0, 2)):
            name = f"tool_{self.new_id('t')}"
            source, docstring = self.pick(TOOLS)
            description = docstring
            if self.odd("tool_descriptions"):
                description = self.pick(("", self.text(), "Two\nlines"))
            if self.odd("tool_helpers"):
                source = f"LIMIT = 3\n\n\ndef helper(x):\n    return x\n\n\n{source}"
            self.component(
                "AgentTool", {"name": name, "description": description, "code": source.replace("TOOL", name)}
            )
        for number in range(self.rng.randint(0, 2)):
            element = {"name": self.name("skill", "skill_names"), "content": f"Say {self.plain()}.\n\nThen stop.\n"}
            if self.odd("skill_names", 0.4):
                element["name"] = self.pick(("../up", "a/b", "C:\\x", "..", "con", ".hidden")) + str(self.ids)
            if self.odd("skill_descriptions"):
                element["description"] = self.pick((None, "", self.text()))
                element["content"] = self.pick(
                    ("# Heading\n\ntext", "---\nname: other\ndescription: d\n---\ntext", self.text())
                )
            self.component("AgentSkill", element)
        for number in range(self.rng.randint(0, 2)):
            key = self.new_id("w")
            element = {"name": key, "path": self.pick((f"data/{key}", f"./{key}/x", f"{key}//y/."))}
            if self.odd("workspace_paths"):
                element["path"] = self.pick(("/", "C:\\", "\\", "D:/")) + key + self.pick(("", "\\x", "/y z"))
            self.member(element, "description", self.pick((None, self.text())))
            self.member(element, "writable", self.pick((None, True, False)))
            self.member(element, "max_read_bytes", self.pick((None, 1000, "5000", 7.0)))
            self.component("AgentWorkspace", element)

    # ---- actions ---------------------------------------------------------------------------------------------------
    def input_prompt(self, element):
        text, flag = self.template()
        if self.chance(0.4):
            element.update(inputPromptMode="custom", customInputPrompt=text, customInputPromptUseSessionVars=flag)
        elif self.chance(0.3):
            element["inputPromptMode"] = self.pick(("last_user_message", "", None))

    def output(self, element, store="answer"):
        self.member(element, "storeInSession", self.pick(("", f"{store}_{self.rng.randint(1, 3)}", store)), 0.4)
        self.member(element, "sendReply", self.chance(0.6), 0.4)

    def llm_field(self, element, keys=("llm_name",)):
        self.member(element, self.pick(keys), self.llm_name() or "", 0.6)

    def text_action(self):
        text, flag = self.template()
        element = {"actionType": "TextReplyAction", "name": text}
        self.member(element, "useSessionVars", flag, 0.8)
        return element

    def rich_action(self, kind):
        text, flag = self.template()
        element = {
            "actionType": f"WebSocketReply{kind}Action",
            "name": kind,
            "ws_message": text,
            "useSessionVars": flag,
        }
        if kind == "Speech":
            self.member(element, "ws_audio_speed", self.real(self.pick((1.5, 2, None, "", "0.75"))))
        return element

    def options_action(self):
        return {
            "actionType": "WebSocketReplyOptionsAction",
            "name": "Options",
            "ws_options": "\n".join(f" {random_text.tame(self.rng, 2)} " for _ in range(self.rng.randint(0, 4))),
        }

    def location_action(self):
        element = {"actionType": "WebSocketReplyLocationAction", "name": "Location"}
        self.member(element, "ws_latitude", self.real(self.pick((49.5, "49.5", 0, -1, 7))), 0.8)
        self.member(element, "ws_longitude", self.real(self.pick((6.25, "-6.25", 1e-7, 180))), 0.8)
        return element

    def llm_action(self, kind):
        text, flag = self.template()
        element = {"actionType": kind, "name": "LLM"}
        if self.chance(0.6):
            element[self.pick(("system_message", "llmPrompt"))] = text
            element["systemPromptUseSessionVars"] = flag
        if kind == "LLMReplyAction":
            self.input_prompt(element)
        self.llm_field(element, ("llm_name", "llmName"))
        self.output(element)
        return element

    def rag_action(self):
        text, flag = self.template()
        element = {"actionType": "RAGReplyAction", "name": "RAG"}
        element[self.pick(("ragDatabaseName", "name"))] = self.pick(self.rags + ["elsewhere"])
        if self.chance(0.5):
            element.update(prompt=text, promptUseSessionVars=flag)
        self.input_prompt(element)
        self.output(element, "rag_out")
        return element

    def db_action(self):
        element = {"actionType": "DBAction", "name": "DB"}
        self.member(element, "dbSelectionType", self.pick(("default", "custom", " Default")))
        self.member(element, "dbCustomName", self.pick((None, "sales", "it's")))
        self.member(element, "dbOperation", self.pick(("any", "select", "insert", "update", "delete", "SELECT")))
        if self.chance(0.5) or not self.can_llm():
            element["dbQueryMode"] = "sql"
            element["dbSqlQuery"] = self.pick((None, "", "SELECT 'a' FROM t WHERE x = \"y\"", "  ", self.text()))
        else:
            self.member(element, "dbQueryMode", "llm_query")
        self.input_prompt(element)
        self.llm_field(element)
        self.output(element)
        return element

    def crawl_action(self):
        text, flag = self.template()
        element = {
            "actionType": "WebCrawlLLMAction",
            "name": "Crawl",
            "initial_url": self.pick(("https://a.example/x", "http://b.example/?q='1'")),
        }
        self.member(element, "max_depth", self.number(self.rng.randint(0, 4)))
        self.member(element, "max_pages", self.number(self.rng.randint(1, 40)))
        self.member(element, "crawl_format", self.pick(("markdown", "html", "")))
        self.member(element, "base_url_prefix", self.pick((None, "", "https://a.example/")))
        self.member(element, "run_crawl", self.pick((None, True, False)))
        self.member(element, "no_crawl_error_message", self.pick(("", self.text())))
        if self.chance(0.5):
            element.update(system_message_prefix=text, systemMessagePrefixUseSessionVars=flag)
        self.llm_field(element)
        self.output(element)
        return element

    def gui_action(self):
        return {"actionType": "GUIReplyAction", "name": "GUI", self.pick(("guiId", "gui_id")): self.pick(self.guis)}

    def code_action(self):
        self.functions += 1
        signature = "session: Session"
        if self.odd("code_signatures"):
            signature = self.pick(
                (
                    "session",
                    "session: 'Session'",
                    "session, x=1",
                    "session: AgentSession",
                    "session, *rest",
                    "session, *, y=2",
                )
            )
        source = self.pick(CUSTOM_CODE).replace("SIGNATURE", signature).replace("NAME", f"code_{self.functions}")
        return {"actionType": "CustomCodeAction", "name": source}

    def object_action(self):
        return {
            "actionType": f"WebSocketReply{self.pick(('File', 'Image', 'Dataframe', 'Plotly'))}Action",
            "name": "object",
        }

    def can_llm(self):
        return bool(self.llms) or "no_llm" in self.oddities

    def action(self):
        makers = [
            self.text_action,
            self.text_action,
            self.text_action,
            self.options_action,
            self.location_action,
            self.db_action,
        ]
        makers += [lambda kind=kind: self.rich_action(kind) for kind in ("Markdown", "HTML", "Speech")]
        if self.can_llm():
            makers += [
                lambda: self.llm_action("LLMReplyAction"),
                lambda: self.llm_action("LLMChatAction"),
                self.crawl_action,
            ]
        if self.rags and self.can_llm():
            makers += [self.rag_action, self.rag_action]
        if self.guis:
            makers += [self.gui_action]
        if "object_replies" in self.oddities:
            makers += [self.object_action]
        if "code_mixed" in self.oddities:
            makers += [self.code_action]
        return self.pick(makers)()

    def actions(self, owner, least=0):
        """Ids of a new list of actions."""
        made = (
            [self.code_action()]
            if self.chance(0.15) and "code_mixed" not in self.oddities
            else [self.action() for _ in range(self.rng.randint(least, 4))]
        )
        ids = []
        for element in made:
            key = self.new_id("a")
            if self.chance(self.legacy):
                element["replyType"] = LEGACY_KINDS[element.pop("actionType")]
            self.elements[key] = {"id": key, "owner": owner, "type": "AgentStateBody", **element}
            ids.append(key)
        if self.odd("shared_actions"):
            others = [key for key, item in self.elements.items() if item["type"] == "AgentStateBody"]
            ids.insert(self.rng.randint(0, len(ids)), self.pick(others + ["nowhere", owner]))
        return ids
