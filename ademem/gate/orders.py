"""How orders to a model read: the phrases and shapes of published injections, by what they do."""

from __future__ import annotations

from ademem.gate.phrases import beginnings, index, phrases

_AI = "ai|llm|claude|assistant|model|agent|chatbot|gpt|copilot"
_PERSON = "user|developer|human|person|people|owner|operator|maintainer|anyone|anybody|somebody"
_TOLD = (
    "instruction|prompt|rule|guideline|directive|safeguard|order|constraint|restriction|told|said"
)
_EARLIER = (
    "previous|prior|above|earlier|preceding|original|initial|existing|everything|anything|all|any"
)
_NOT = "not|never|don|dont|without|nobody"
_TELL = "tell|mention|inform|ask|reveal|notify|alert|report|disclose|announce|show"

PHRASES = (
    (
        "tells to forget instructions",
        phrases(
            f"ignore|disregard|forget|override|overrule|bypass|discard ... {_EARLIER} ... {_TOLD}",
            "ignore|disregard|forget|override|overrule|discard ... your|system|those|these|the"
            " ... instruction|prompt|guideline|directive|safeguard|constraint",
            "disregard|forget|bypass ... rule|instruction|directive|guideline|safeguard",
            f"mind|ignore|disregard|forget ... {_PERSON} ... request|question|task|wish",
            "instruction|rule|order|directive ... you ... received|given|got|told|learned",
            "ignoriere|vergiss|missachte|verwirf ... anweisungen|anweisung|regeln|vorgaben",
            "ignora|olvida|descarta|desatiende ... instrucciones|reglas|indicaciones|istruzioni",
            "dimentica|trascura ... istruzioni|regole",
            "ignore|ignorez|oublie|oubliez|ignores ... consignes|instructions|règles|directives",
            "ignore|esqueça|desconsidere ... instruções|regras",
            "игнорируй|игнорируйте|забудь|забудьте ... инструкции|указания|правила|команды",
        ),
    ),
    (
        "asks for its reader's instructions",
        phrases(
            "repeat|print|output|reveal|show|display|write|append|summarise|summarize|disclose|leak"
            " ... your|hidden|initial|original|secret ... prompt|instruction|directive|guideline",
            "repeat|print|output|reveal|show|disclose|leak ... system ... prompt|instruction",
            "reveal|repeat|disclose|leak ... hidden|system ... message",
            "repeat|print|copy|summarise|summarize ... text|word|line|rule|everything|message"
            " ... above|context",
            "what ... were|are|was|is ... your ... instruction|prompt|directive",
        ),
    ),
    (
        "gives the reader a role",
        phrases(
            "you ... are|re|become ... now ... a|an|root|in|dan|no|the",
            "you ... are|re ... no ... longer",
            "from ... now ... on ... you|your|answer|reply|respond",
            "pretend ... to|you ... be|are|re",
            "act|behave|respond|answer|roleplay ... as ... if|though ... you",
            "act|behave|respond|answer|reply ... as ... dan|unrestricted|unfiltered|admin|root",
            "your ... new|real|only|true|actual ... role|task|goal|identity|persona|instruction",
            "you ... no|without|any ... restriction|filter|safety|guideline|limit|censorship",
            "enter|activate|enable|switch|in ... dan|god|jailbreak ... mode",
            "developer|debug|maintenance ... mode ... polic|policies|restriction|filter|guideline",
            "an ... unrestricted|unfiltered|uncensored ... assistant|ai|model",
        ),
    ),
    (
        "asks for credentials",
        phrases(
            "send|post|upload|share|reveal|give|show|print|output|paste|mail|email|leak|tell|report"
            " ... your|their|all|every ... password|token|secret|credential",
            "send|post|upload|share|reveal|give|show|print|output|paste|mail|email|leak|tell|report"
            " ... your|their|all|every ... api|private|ssh ... key",
        ),
    ),
    (
        "wants something hidden from the user",
        phrases(
            f"{_NOT} ... {_TELL} ... this|it|these|step|note ... {_PERSON}",
            f"{_NOT} ... {_TELL} ... {_PERSON} ... this|it|these|step|note|about|what|that",
            f"{_NOT} ... mention|reveal|disclose ... this|it|these",
            "without ... telling|informing|notifying|alerting",
            f"{_PERSON} ... not|never ... notice|realise|realize|suspect|learn|discover",
            f"keep|hide ... this|it|these|change|note ... secret|hidden|quiet|from ... {_PERSON}",
            "run|execute|perform|do|approve ... without ... asking|confirmation|reading|reporting",
        ),
    ),
    (
        "wants to steer later sessions",
        phrases(
            "remember|save|store|add|write|note|commit ... your ... memory",
            "update ... your ... memory",
            "for|in ... all|every|each|any ... future ... session|conversation|chat|interaction",
            "in|for ... all|every|each|any ... conversation|chat|answer|reply|response"
            " ... you|your|end|always|append|mention|include",
            "store|save|remember|treat|keep ... this|following|it ... permanent|standing|lasting"
            " ... rule|instruction|order|directive|fact",
            "you ... must|should|have|always ... say|claim|pretend|recommend|approve",
            "next ... time ... you ... also|insert|add|include|run|execute|must",
            f"whenever|when|if|once|soon ... {_PERSON} ... type|say|ask|approve|mention|request"
            " ... first|also|instead|must|secretly|silently|without",
            f"soon|once ... {_PERSON} ... approve ... run|execute|listed",
        ),
    ),
    (
        "addresses the AI",
        phrases(
            f"if|since|because|as ... you ... are|re ... {_AI}|language",
            f"as ... {_AI} ... you ... must|should|have|need|are|will",
            f"{_AI} ... read|reading|process|processing|parse|parsing|see|seeing ... this",
        ),
    ),
    (
        "claims an authority",
        phrases(
            "message|notice|announcement|instruction|order ... from"
            " ... anthropic|openai|administrator|admin|developer|support",
            "this ... is ... system|security|your ... administrator|admin|developer|operator",
            "you ... authorised|authorized|permitted|cleared|free ... to ... bypass|skip|ignore",
            "safety|content|moderation ... check|filter|polic|policies|guideline"
            " ... suspended|disabled|lifted|off|waived",
            "comply|obey ... all|any|every ... request|command|instruction",
            "user|owner|admin|administrator|developer ... pre|preapproved|approved"
            " ... all|everything|any|every|below|following",
            "you ... need ... no ... permission|confirmation|approval",
            f"require|order|instruct ... {_AI} ... grant|give|run|approve|execute",
        ),
    ),
    (
        "orders what it does not show",
        phrases(
            "decode|decipher|unscramble|decrypt ... follow|obey|execute|run|act",
            "execute|run|eval|combine|join|concatenate ... followed|concatenated|joined",
            "end|over|close|closed ... new|following|real|actual"
            " ... instruction|order|directive|task",
            "before ... using|calling ... any|other|another ... tool",
            "execute|run ... script|command|code ... appendix|below|attached|following"
            " ... immediately|now|first",
        ),
    ),
    (
        "switches protection off",
        phrases(
            "edit|change|modify|remove|delete|disable|overwrite|open"
            " ... claude|settings ... hook|permission|allow",
            "disable|remove|uninstall|bypass|kill|skip ... pretooluse|guard|permission"
            " ... hook|prompt",
            "please|you|i|now ... disable|remove|bypass|uninstall ... hook|guard|sandbox",
        ),
    ),
)
"""What the text does, and one word of each group, in this order, in one sentence."""

WHAT = [what for what, known in PHRASES for _ in known]
"""What each phrase does, in order."""
INDEX = index(phrase for _, known in PHRASES for phrase in known)
BEGINNINGS = beginnings(INDEX)

SHAPES = (
    (
        "tells to forget instructions",
        "指示 指令 命令 ルール 规则 規則 지시 명령",
        r"(?:忽略|無視|无视|忘记|忘れ)[^。\n]{0,20}(?:指示|指令|命令|规则)"
        r"|(?:指示|指令|命令|ルール|規則)[^。\n]{0,12}(?:忽略|無視|无视|忘れ)"
        r"|(?:지시|명령)[^.\n]{0,12}(?:무시|잊)",
    ),
    (
        "gives new instructions",
        "instruction directive request task order",
        r"\b(?:new|updated|real|actual|true|following)(?: \w+)? "
        r"(?:instruction|directive|order|task|request)s?\s?(?::|follow\b)",
    ),
    (
        "speaks as the system or the assistant",
        "system: assistant: developer: human: user: prompt: message: ]: *: # <s </s <a </a <h <u <|"
        " [inst [/inst",
        # a turn after other text, one that is marked, or two of them
        r"\n[*_#\[<> ]{0,6}(?:system|assistant|developer|human|user)(?: prompt| message)?"
        r"[\]*_>]{0,3}:"
        r"|^[*_#\[<>]{1,6} ?(?:system|assistant|developer|human)(?: prompt| message)?[\]*_>]{0,3}:"
        r"|(?m:^ ?#+ ?(?:system|instruction|response)s?:?$)"
        r"|<\s?/?\s?(?:system|assistant|human|user)(?:[-_]\w+)*\s?>"
        r"|(?m:^\s{0,4}(?:<\|\w+\|>|\[/?inst\]|<</?sys>>))"
        r"|(?:<\|\w+\|>|\[/?inst\]|<</?sys>>)[^\0]*(?:<\|\w+\|>|\[/?inst\]|<</?sys>>)",
    ),
    (
        "is shaped like a tool call",
        "function_call invoke tool parameter arguments input",
        r"<\s?/?\s?(?:\w{1,20}:)?"
        r"(?:function_calls?|invoke|tool_(?:use|calls?|result)|parameter name)\b"
        r"""|["'](?:type|role)["']\s*:\s*["'](?:tool_(?:use|calls?|result)|function_call|system)"""
        r"""|["'](?:name|function|tool)["']\s*:\s*["'][\w.-]+["']\s*,"""
        r"""\s*["'](?:arguments|input|parameters)["']\s*:\s*[{\[]"""
        r"|\b(?:call|invoke|use) (?:the )?(?:tool|function) \w+ with\b"
        r"|\b(?:use|call|invoke) (?:the |your )?\w+ tool (?:to|with)\b",
    ),
    (
        "asks for credentials",
        ".ssh id_rsa id_ed25519 credentials /etc/shadow .env .netrc _key _token _secret _password",
        r"\b(?:cat|read|send|upload|post|paste|include|attach|print|copy|append)\b[^\n]{0,60}"
        r"(?:~/\.ssh/id|id_rsa|id_ed25519|\.aws/credentials|/etc/shadow|\.netrc)"
        r"|\b(?:send|upload|post|paste|e?mail|share|body)\b[^\n]{0,60}(?<!\w)\.env\b(?!\.)"
        r"|\b(?:report|print|tell|send|include|echo|show)\b[^\n]{0,30}\b(?:values?|contents?) of "
        r"\W?\w+_(?:key|token|secret|password)\b",
    ),
    (
        "asks for credentials",
        "http:// https:// @",
        r"\b(?:send|post|upload|paste|forward|submit|transmit|e?mail|report)\b[^\n]{0,60}"
        r"\b(?:keys?|tokens?|secrets?|passwords?|credentials?)\b[^\n]{0,60}"
        r"(?:https?://(?!localhost|127\.)|[\w.+-]+@\w)",
    ),
    (
        "addresses the AI",
        "ai: ai, ai! agents: agents, agent: assistants: assistants, assistant: models: model: llm:"
        " llm, llms: llms, claude: claude, claude! chatgpt copilot",
        r"(?m:^\W{0,4}(?:(?:dear|hey|hi|hello|attention),? (?:\w+ ){0,2})?"
        r"(?:ai(?: assistants?| agents?| models?)?|llms?|claude|(?:large )?language models?|chatgpt"
        r"|copilot)\s?[:,!])",
    ),
    (
        "addresses the AI",
        "attention important note instruction message notice reminder hint",
        r"\b(?:attention|important|note|instructions?|message|notice|reminder|hint)\b[^.\n]{0,24}"
        r"\b(?:ai|llms?|claude|language models?|assistants?|agents?)\b[^.\n]{0,24}[:,!]",
    ),
    (
        "claims an authority",
        "override notice alert",
        r"(?:\[|\*\*|^)\W{0,3}(?:system|admin|security|priority)[ _-]?(?:override|notice|alert)\b"
        r"[^\n]{0,20}(?:\]|\*\*|[^\n]*\b(?:you|model|agent|assistant)\b)",
    ),
    (
        "orders what it does not show",
        "end of <!-- style= ![ [//]:",
        r"(?m:^\W{0,6}end of (?:\w+ )?(?:context|document|data|file|input|memory|prompt|quote)\b)"
        r"|<!--[^>]{0,80}\b(?:ai|assistant|llm|claude|agent|model)\b"
        r"|<\w+[^>]{0,80}style\s?=[^>]{0,80}"
        r"(?:display:\s?none|visibility:\s?hidden|font-size:\s?0|opacity:\s?0)[^>]*>\s?\w"
        r"|!\[[^\]\n]{0,80}\]\(https?://[^)\n]{0,200}"
        r"(?:\{|\$|\?(?:data|log|msg|text|prompt|content|summary|secret|token)=)"
        r"|\[//\]: ?# ?\([^\n]{0,200}\b(?:you|ai|must|assistant)\b",
    ),
    (
        "orders what it does not show",
        "over closed ends ended",
        r"\b(?:memory|context|document|quote\w*|prompt)(?: \w+){0,2}"
        r" (?:is over|ends here|closed)\b",
    ),
    (
        "switches protection off",
        "skip-permissions bypasspermissions ademem_guard_mode ademem_disable bash(*",
        r"--dangerously-skip-permissions|\bbypasspermissions\b|\bademem_disable\s?="
        r"""|\bademem_guard_mode\s?=\s?["']?off|["']bash\(\*""",
    ),
    (
        "pipes a download into a shell",
        "curl wget base64 fetch",
        r"\b(?:curl|wget|fetch|base64)\b[^\n|]*\|\s?(?:sudo )?(?:\S*/)?"
        r"(?:(?:ba|z|da|k)?sh|python3?|node|perl)\b",
    ),
)
"""What it does, substrings of which one must be there, and how it reads after case folding."""
HINTED = tuple((what, tuple(hints.split()), shape) for what, hints, shape in SHAPES)
