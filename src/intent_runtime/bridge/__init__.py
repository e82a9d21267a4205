"""The bridge for hosts whose own model generates (contract section 10)."""

from typing import TYPE_CHECKING

from intent_runtime.lazy import lazy_names

if TYPE_CHECKING:
    from intent_runtime.bridge.bridge import IntentBridge as IntentBridge
    from intent_runtime.bridge.bridge import create_intent_bridge as create_intent_bridge
    from intent_runtime.bridge.replies import BridgeReply as BridgeReply
    from intent_runtime.bridge.replies import ErrorReply as ErrorReply
    from intent_runtime.bridge.replies import ResultReply as ResultReply
    from intent_runtime.bridge.replies import TaskReply as TaskReply
    from intent_runtime.bridge.replies import read_tool_reply as read_tool_reply
    from intent_runtime.bridge.session import BridgeSession as BridgeSession

__all__ = [
    "BridgeReply",
    "BridgeSession",
    "ErrorReply",
    "IntentBridge",
    "ResultReply",
    "TaskReply",
    "create_intent_bridge",
    "read_tool_reply",
]

__getattr__ = lazy_names(
    __name__,
    {
        "BridgeReply": "replies",
        "BridgeSession": "session",
        "ErrorReply": "replies",
        "IntentBridge": "bridge",
        "ResultReply": "replies",
        "TaskReply": "replies",
        "create_intent_bridge": "bridge",
        "read_tool_reply": "replies",
    },
)
