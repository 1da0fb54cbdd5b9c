"""A request, looked at by the tests: its elements, actions, texts, transitions, wherever its layout has them."""

from __future__ import annotations

import functools

ACTION_OF_REPLY = {
    "text": "TextReplyAction",
    "llm": "LLMReplyAction",
    "llm_chat": "LLMChatAction",
    "rag": "RAGReplyAction",
    "db_reply": "DBAction",
    "code": "CustomCodeAction",
    "web_crawl_llm": "WebCrawlLLMAction",
    "ws_speech": "WebSocketReplySpeechAction",
    "ws_location": "WebSocketReplyLocationAction",
    "ws_file": "WebSocketReplyFileAction",
    "ws_image": "WebSocketReplyImageAction",
    "ws_dataframe": "WebSocketReplyDataframeAction",
    "ws_plotly": "WebSocketReplyPlotlyAction",
    "ws_html": "WebSocketReplyHTMLAction",
    "ws_markdown": "WebSocketReplyMarkdownAction",
    "ws_options": "WebSocketReplyOptionsAction",
    "gui_reply": "GUIReplyAction",
}


class View:
    """A request, looked at from the side of the rows below."""

    def __init__(self, request):
        model = request.get("model") or {}
        self.request = request
        self.config = request.get("config") or {}
        self.elements = {
            **(model.get("elements") or {}),
            **(request.get("agentComponents") or {}),
            **(model.get("components") or {}),
        }
        self.relationships = list((model.get("relationships") or {}).values())

    def of_type(self, *types):
        return [element for element in self.elements.values() if element.get("type") in types]

    def names(self, *types):
        return [element.get("name") or "" for element in self.of_type(*types)]

    @functools.cached_property
    def actions(self):
        return [element for element in self.elements.values() if self.kind(element)]

    @staticmethod
    def kind(element):
        return element.get("actionType") or ACTION_OF_REPLY.get(element.get("replyType"))

    def actions_of(self, *kinds):
        return [action for action in self.actions if self.kind(action) in kinds]

    @functools.cached_property
    def bodies(self):
        """Lists of the actions of every body and fallback body."""
        found = []
        for state in self.of_type("AgentState", "AgentReasoningState"):
            for key in ("actions", "bodies", "fallbackActions", "fallbackBodies"):
                found.append([self.elements[item] for item in state.get(key) or () if item in self.elements])
        return found

    @functools.cached_property
    def texts(self):
        """Every text a person typed, but program code and the settings."""
        found = []
        for element in self.elements.values():
            code = self.kind(element) == "CustomCodeAction" or element.get("type") == "AgentTool"
            found += [
                value
                for key, value in element.items()
                if isinstance(value, str)
                and key not in ("id", "type", "owner", "ws_options", "content")
                and not (code and key in ("name", "code"))
            ]
        return found

    @functools.cached_property
    def templates(self):
        """Texts whose placeholders count."""
        flags = {
            "useSessionVars": ("name", "ws_message"),
            "systemPromptUseSessionVars": ("system_message", "llmPrompt"),
            "promptUseSessionVars": ("prompt",),
            "systemMessagePrefixUseSessionVars": ("system_message_prefix",),
            "customInputPromptUseSessionVars": ("customInputPrompt",),
        }
        return [
            action[key]
            for action in self.actions
            for flag, keys in flags.items()
            if action.get(flag)
            for key in keys
            if isinstance(action.get(key), str)
        ]

    @functools.cached_property
    def arcs(self):
        """(relationship, its block predefined or custom, or itself)."""
        return [
            (arc, arc.get("custom") or arc.get("predefined") or arc)
            for arc in self.relationships
            if arc.get("type") != "Link"
        ]

    @functools.cached_property
    def conditions(self):
        lists = (
            block.get("condition", block.get("customConditions"))
            for arc, block in self.arcs
            if arc.get("transitionType") == "custom"
        )
        return [items for items in lists if isinstance(items, list)]

    def values(self, *keys):
        return [element[key] for element in self.elements.values() for key in keys if key in element]
