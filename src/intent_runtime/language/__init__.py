"""Language tags: BCP 47 against the IANA subtag registry (contract section 4)."""

from intent_runtime.language.tags import LanguageTagError, canonical_tag

__all__ = ["LanguageTagError", "canonical_tag"]
