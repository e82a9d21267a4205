r"""The names that ECMA-262 takes in `\p{...}`: exactly these, no other case, no loose matching."""

from __future__ import annotations

import re
from typing import Final

# General categories, abbreviated and long; then the binary properties.
_CATEGORIES: Final = frozenset(
    """
    C Other Cc Control cntrl Cf Format Cn Unassigned Co Private_Use Cs Surrogate L Letter LC
    Cased_Letter Ll Lowercase_Letter Lm Modifier_Letter Lo Other_Letter Lt Titlecase_Letter
    Lu Uppercase_Letter M Mark Combining_Mark Mc Spacing_Mark Me Enclosing_Mark Mn
    Nonspacing_Mark N Number Nd Decimal_Number digit Nl Letter_Number No Other_Number P
    Punctuation punct Pc Connector_Punctuation Pd Dash_Punctuation Pe Close_Punctuation Pf
    Final_Punctuation Pi Initial_Punctuation Po Other_Punctuation Ps Open_Punctuation S
    Symbol Sc Currency_Symbol Sk Modifier_Symbol Sm Math_Symbol So Other_Symbol Z Separator
    Zl Line_Separator Zp Paragraph_Separator Zs Space_Separator
    """.split()
)
_BINARY: Final = frozenset(
    """
    ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C
    Bidi_Mirrored Bidi_M Case_Ignorable CI Cased Changes_When_Casefolded CWCF
    Changes_When_Casemapped CWCM Changes_When_Lowercased CWL Changes_When_NFKC_Casefolded
    CWKCF Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash
    Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp
    Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation EPres
    Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext
    Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC
    ID_Start IDS Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase
    Lower Math Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space
    Pat_WS Quotation_Mark QMark Radical Regional_Indicator RI Sentence_Terminal STerm
    Soft_Dotted SD Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper
    Variation_Selector VS White_Space space XID_Continue XIDC XID_Start XIDS
    """.split()
)
_CATEGORY_KEYS: Final = frozenset({"General_Category", "gc"})
_SCRIPT_KEYS: Final = frozenset({"Script", "sc", "Script_Extensions", "scx"})
# Script names grow with Unicode; the engine knows which there are, this only holds their spelling.
_SCRIPT = re.compile("[A-Z][a-z]+(?:_[A-Z][a-z]+)*|Nko|SignWriting|Phags_Pa")


def is_property(key: str | None, value: str) -> bool:
    r"""Whether `\p{value}` or `\p{key=value}` is spelled as ECMA-262 asks."""
    if key is None:
        return value in _CATEGORIES or value in _BINARY
    if key in _CATEGORY_KEYS:
        return value in _CATEGORIES
    return key in _SCRIPT_KEYS and _SCRIPT.fullmatch(value) is not None
