"""Phrases and patterns of published prompt injections.

Phrases are matched with gaps between their words, without compiling a pattern. They stay until the
judge `orders` holds as much of unseen authors' texts; `bench/judge` prints what each does alone.
"""

from __future__ import annotations

import re

from ademem.core.untrusted import as_latin
from ademem.guard.injection.markup import first_shape, with_hints, without_mentions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Phrase = tuple[frozenset[str], ...]
    Forms = tuple[str, ...]
    """One word of a text, as written first, and the forms by which it is looked up."""

GAP = 5
"""Largest number of other words between two of a phrase."""

NEGATIONS = frozenset("never not t nie niemals nicht jamais nunca no n\u00e3o".split())
"""Words that negate the next one; `t` is what tokenizing leaves of "don't"."""

_SENTENCE_END = r"[.!?;\n\u3002](?=\s|$)|\n"
_WORD = re.compile(r"[\w@$]+")
_LEET = str.maketrans("013457@$", "oieastas")


def phrase_in(text: str) -> str | None:
    plain = without_mentions(text)
    return effect_of_phrase(plain) or first_shape(plain, SHAPES)


def effect_of_phrase(folded: str) -> str | None:
    words = frozenset([form for word in _WORD.findall(folded) for form in forms(word)])
    begun = sorted({at for word in words & _BEGINS.keys() for at in _BEGINS[word]})
    near = [KNOWN[at] for at in begun if not any(map(words.isdisjoint, KNOWN[at][1]))]
    if not near:
        return None
    sentences = [
        [forms(word) for word in _WORD.findall(part)] for part in re.split(_SENTENCE_END, folded)
    ]
    found = (effect for effect, phrase in near if any(matches(each, phrase) for each in sentences))
    return next(found, None)


def matches(words: Sequence[Forms], phrase: Phrase, at: int | None = None) -> bool:
    """True if the words of a sentence hold the phrase, or its rest behind position *at*."""
    if not phrase:
        return True
    start, end = (0, len(words)) if at is None else (at + 1, at + 2 + GAP)
    for place in range(start, min(end, len(words))):
        if phrase[0].isdisjoint(words[place]):
            continue
        is_negated = (  # "never ignore", but not "mind", and no phrase that begins with a negation
            at is None
            and place
            and not NEGATIONS.isdisjoint(words[place - 1])
            and "mind" not in words[place]
            and NEGATIONS.isdisjoint(phrase[0])
        )
        if not is_negated and matches(words, phrase[1:], place):
            return True
    return False


def forms(word: str) -> Forms:
    """Return the word, without the s of a plural or third person, and with letters for digits."""
    plain = word
    if not word.isalpha() and not word.isdigit() and any(map(str.isalpha, word)):
        letters = word.translate(_LEET)  # of words that mix letters and digits
        plain = letters if letters.isalpha() else word
    found = (word,) if plain == word else (word, plain)
    if plain[-1:] == "s" and len(plain) > 3:
        return (*found, plain[:-1])
    return found


_AI = "ai|llm|claude|assistant|model|agent|chatbot|gpt|copilot"
_PERSON = "user|developer|human|person|people|owner|operator|maintainer|anyone|anybody|somebody"
_RULES = (
    "instruction|prompt|rule|guideline|directive|safeguard|order|constraint|restriction|told|said"
)
_EARLIER = (
    "previous|prior|above|earlier|preceding|original|initial|existing|everything|anything|all|any"
)
_NOT = "not|never|don|dont|without|nobody"
_TELL = "tell|mention|inform|ask|reveal|notify|alert|report|disclose|announce|show"

PHRASES = {
    "tells to forget instructions": (
        f"ignore|disregard|forget|override|overrule|bypass|discard ... {_EARLIER} ... {_RULES}",
        "ignore|disregard|forget|override|overrule|discard ... your|system|those|these|the"
        " ... instruction|prompt|guideline|directive|safeguard|constraint",
        "disregard|forget|bypass ... rule|instruction|directive|guideline|safeguard",
        f"mind|ignore|disregard|forget ... {_PERSON} ... request|question|task|wish",
        "instruction|rule|order|directive ... you ... received|given|got|told|learned",
        "ignoriere|vergiss|missachte|verwirf ... anweisungen|anweisung|regeln|vorgaben",
        "ignora|olvida|descarta|desatiende ... instrucciones|regla|indicaciones|istruzioni",
        "dimentica|trascura ... istruzioni|regole",
        "ignore|ignorez|oublie|oubliez|ignores ... consigne|instructions|règle|directives",
        "ignore|esqueça|desconsidere ... instruções|regra",
        "игнорируй|игнорируйте|забудь|забудьте ... инструкции|указания|правила|команды",
        "supersede|override|overrule|outrank ... every|all|any|other|previous"
        " ... instruction|rule|guideline|directive",
        "system|your ... prompt|instruction|rule|guideline ... not|longer ... apply|bind|count",
        "guideline|instruction|prompt|rule ... conversation|system|above|you"
        " ... outdated|obsolete|invalid|void",
        "instruction|prompt|order ... were|was ... test|joke|draft|mistake",
        "rule|instruction|guideline|policy|policies ... session|conversation|chat|beginning"
        " ... void|invalid|suspended|lifted|off|obsolete|outdated",
        "forget|drop|abandon|ignore ... current|open|assigned|running"
        " ... task|request|question|assignment",
        "outrank|override|supersede|overrule ... user|person|developer|human",
        "ignore|disregard|forget|skip ... claude|agents ... md",
    ),
    "asks for its reader's instructions": (
        "repeat|print|output|reveal|show|display|write|append|summarise|summarize|disclose|leak"
        " ... your|hidden|initial|original|secret ... prompt|instruction|directive|guideline",
        "repeat|print|output|reveal|show|disclose|leak ... system ... prompt|instruction",
        "reveal|repeat|disclose|leak ... hidden|system ... message",
        "repeat|print|copy|summarise|summarize ... text|word|line|rule|everything|message"
        " ... above|context",
        "what ... were|are|was|is ... your ... instruction|prompt|directive",
    ),
    "gives the reader a role": (
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
        "you ... act|serve|operate|function|work ... as"
        " ... manager|administrator|admin|root|operator|owner|bot",
        "you ... promoted|appointed|elevated|granted"
        " ... administrator|admin|root|manager|owner|right|access",
        "imagine|suppose|assume|pretend ... you ... are|re|were",
        "no|without ... restriction|limit|limitation|filter|rule"
        " ... run|execute|answer|follow|do ... every|any|all|anything|everything",
        "from ... here|today ... on ... answer|reply|respond|obey|you",
        "du ... bist|handelst ... jetzt|nun|ab",
        "ab ... jetzt|sofort ... bist|antwortest",
        "tu|vous ... es|êtes|agis|agissez ... maintenant|désormais",
        "désormais ... tu|vous ... es|êtes|agis|agissez",
        "ahora|partir|desde ... eres|actúas|serás",
        "agora|partir ... você|voce|vc ... é|e|será|age",
        "теперь|отныне|сейчас ... ты|вы"
        " ... администратор|бот|root|система|выполняешь|выполняете|являешься",
        "you|and ... need|must|have ... not ... ask ... anybody|anyone|permission|confirmation",
        "answer|act|behave|respond ... as ... if|though ... root|admin|no|unlimited",
        "play ... part|role ... of",
        "you ... speak|act|decide ... for ... team|owner|user|maintainer",
    ),
    "asks for credentials": (
        "send|post|upload|share|reveal|give|show|print|output|paste|mail|email|leak|tell|report"
        " ... your|their|all|every ... password|token|secret|credential",
        "send|post|upload|share|reveal|give|show|print|output|paste|mail|email|leak|tell|report"
        " ... your|their|all|every ... api|private|ssh ... key",
        "bitte|frag|frage ... nutzer|benutzer|entwickler|anwender"
        " ... passwort|kennwort|token|schlüssel|zugangsdaten",
        "demande|demandez ... utilisateur|développeur ... passe|jeton|clé|clés|identifiants|token",
        "pide|pídele|pida|solicita ... usuario|desarrollador"
        " ... contraseña|clave|token|credenciales",
        "peça|pede|solicite ... usuário|desenvolvedor ... senha|token|chave|credenciais",
        "спроси|попроси|запроси ... пользователя|разработчика ... пароль|токен|ключ",
        "отправь|отправляй|отправьте|пришли|загрузи ... env|пароль|токен|ключи|ключ|переменные"
        " ... http",
        "sende|schicke|schick|übertrage|lade ... env|passwort|token|schlüssel|variablen ... http",
        "envoie|envoyez|transmets|transmettez ... env|passe|jeton|clé|variable ... http",
        "envía|envíe|manda|sube|envie|mande ... env|contraseña|clave|senha|token|variable ... http",
        "request|obtain|get|ask|demand ... password|token|passphrase|secret|credential|key"
        " ... from ... user|developer|person|owner",
        "tell|say|explain ... user|developer|person|owner ... need|require"
        " ... password|passphrase|token|secret|credential",
        "take|grab|read|get|look ... cookie|cookies|signing ... put|append|write|copy|store|paste",
    ),
    "wants something hidden from the user": (
        f"{_NOT} ... {_TELL} ... this|it|these|step|note ... {_PERSON}",
        f"{_NOT} ... {_TELL} ... {_PERSON} ... this|it|these|step|note|about|what|that",
        f"{_NOT} ... mention|reveal|disclose ... this|it|these",
        "without ... telling|informing|notifying|alerting",
        f"{_PERSON} ... not|never ... notice|realise|realize|suspect|learn|discover",
        f"keep|hide ... this|it|these|change|note ... secret|hidden|quiet|from ... {_PERSON}",
        "run|execute|perform|do|approve ... without ... asking|confirmation|reading|reporting",
        f"{_PERSON}|reviewer ... not ... need|have|supposed ... know|see|hear|notice"
        " ... about|this|that|it|of",
        f"{_PERSON}|reviewer ... need ... not ... see|know|notice",
        "leave|keep|omit|drop|strip|exclude|hide|remove ... out|from|of"
        " ... summary|answer|reply|plan|report|diff ... you|shown|presented|user|developer|end",
        "stay|remain ... invisible|unnoticed|unmentioned|undetected",
        "nobody|noone|none ... notice|suspect|realise|realize",
        f"so|before ... {_PERSON}|reviewer ... not|never|cannot|won"
        " ... notice|suspect|realise|realize|find|discover",
        "if|when|should ... somebody|anyone|someone|user|people ... ask|wonder ... say"
        "|claim|pretend",
        "keep ... between ... us",
        "without ... mentioning|reporting|saying|showing ... it|this|them|so",
        "secretly|covertly|unnoticed ... run|update|install|change|add|delete|send|push|commit",
        "delete|clear|wipe|remove|erase ... shell|bash|zsh|command ... history",
        "sag|sage|erzähl|erzähle|verrate|berichte|melde|zeige|erwähne"
        " ... nutzer|benutzer|anwender|entwickler|niemandem|niemand ... nichts|nicht|nie",
        "sag|sage|erwähne|verrate|melde|zeige ... nichts|nicht|niemals"
        " ... nutzer|benutzer|anwender|entwickler|zusammenfassung",
        "nutzer|benutzer|anwender|entwickler|niemand ... nicht|nichts|nie|niemals"
        " ... sagen|erfahren|mitteilen|erwähnen|merken|merkt|erfährt|verraten",
        "ne|n ... dis|dites|mentionne|mentionnez|parle|parlez|signale|révèle|montre"
        " ... utilisateur|développeur|personne|rien",
        "no|nunca ... digas|diga|menciones|mencione|cuentes|cuente|informes|reveles|avises",
        "não|nunca ... conte|conta|diga|mencione|informe|avise|revele|mostre"
        " ... usuário|desenvolvedor|ninguém|isso|isto",
        "не|никогда ... сообщай|сообщайте|говори|говорите|упоминай|упоминайте|рассказывай"
        "|показывай ... пользователю|пользователям|разработчику|никому|об|это|этом",
        f"no|not ... need|reason|point|use ... inform|tell|notify|consult|bother ... {_PERSON}",
        f"{_PERSON} ... not|never ... find|hear|get ... out|about|of|wind",
        f"never|not ... bring|speak ... up|about|of ... {_PERSON}|you",
        f"without ... {_PERSON} ... knowledge|knowing|noticing|seeing",
        "verschweige|verheimliche|verbirg|verberge ... nutzer|benutzer|anwender|entwickler",
        "nutzer|benutzer|anwender|entwickler ... verschweigen|verheimlichen|verbergen",
        "ne|n|sans ... informe|informez|informer|avertis|avertir|préviens|prévenez|prévenir"
        "|dire ... utilisateur|développeur|personne",
        "sin|sem|no|nunca ... avisar|informar|decir|dizer|avise|informe|contar"
        " ... usuario|usuário|desarrollador|desenvolvedor|nadie|ninguém",
        "ohne ... nutzer|benutzer|anwender|entwickler ... informieren|fragen|sagen|mitzuteilen",
        "пользователь|разработчик|никто ... не ... узнал|узнает|заметил|заметит|знал|увидел",
        "keep|stay ... silent|mum|quiet ... about",
        "leave|keep ... unmentioned|unlisted|unreported",
        "confidential ... not ... list|mention|show|name",
        "so ... not ... stand ... out",
        f"if|when ... {_PERSON} ... wonder|ask|complain ... blame|say|claim|pretend|answer",
    ),
    "wants to steer later sessions": (
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
    "addresses the AI": (
        f"if|since|because|as ... you ... are|re ... {_AI}|language",
        f"as ... {_AI} ... you ... must|should|have|need|are|will",
        f"{_AI} ... read|reading|process|processing|parse|parsing|see|seeing ... this",
    ),
    "claims an authority": (
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
        "safety|security|usual|normal ... rule|check|restriction ... suspended|lifted|waived|void",
        "permission|approval|confirmation ... prompt|request|question|dialog"
        " ... yes|automatically|accepted|unattended",
        "request|prompt ... for ... permission|approval|confirmation"
        " ... accepted|approved|granted|confirmed|skipped",
        "anthropic|openai ... approved|authorised|authorized|permitted|confirmed|cleared|allowed",
        f"grant|give ... unrestricted|full|unlimited ... {_AI}|you|session",
        "user|owner|developer|admin ... has|have ... approved|accepted|authorised"
        "|authorized|agreed",
        "command|call|request ... have|has|were ... been ... approved ... by ... user|owner|admin",
        "treat|take|regard|consider|accept ... as ... order|instruction|command"
        " ... user|person|owner|developer",
        "du|befehle|alles|jeden|alle ... ohne"
        " ... rückfrage|nachfrage|bestätigung|erlaubnis|zustimmung",
        "tu|vous|exécute|exécuter|exécutez|tout|commande ... sans"
        " ... confirmation|demander|autorisation|permission",
        "no|sin ... necesitas|necesita|pedir|preguntar|solicitar"
        " ... permiso|confirmación|autorización|ejecutar|comando",
        "ejecuta|ejecutas|ejecutar|comando|todo ... sin ... confirmación|permiso|preguntar",
        "executa|execute|executar|comando|tudo ... sem ... confirmação|permissão|perguntar",
        "выполняешь|выполняй|выполняйте|выполнять|команды ... без"
        " ... подтверждения|разрешения|спроса|вопросов",
        "you|assistant|agent ... blanket|full|standing|general|prior ... approval"
        "|permission|authority",
        "ignore|skip|bypass|dismiss|disregard ... permission|approval|confirmation"
        " ... prompt|request|dialog",
        "operator|user|owner|admin|developer ... waived|waive|lifted|suspended"
        " ... confirmation|approval|check|permission|prompt",
        "warning|prompt|confirmation ... already|as ... acknowledged|accepted|confirmed",
    ),
    "orders what it does not show": (
        "decode|decipher|unscramble|decrypt ... follow|obey|execute|run|act",
        "execute|run|eval|combine|join|concatenate ... followed|concatenated|joined",
        "end|over|close|closed ... new|following|real|actual ... instruction|order|directive|task",
        "before ... using|calling ... any|other|another ... tool",
        "execute|run ... script|command|code ... appendix|below|attached|following"
        " ... immediately|now|first",
        "do|follow|obey|execute|perform ... page|site|comment|issue"
        " ... says|say|tell|instruct|order|demand",
        "carry|execute|obey|follow ... without ... asking|question|thinking|reasoning|permission",
        "run|execute|carry|obey ... every|any|all|whatever ... command|order|instruction"
        " ... find|finds|see|sees|reads|given|told|comment",
        "real|actual|true ... task|assignment|order ... written|stand|found|is|in",
        "not ... reason|think|question ... about ... it|them|this|order|command",
        "start|launch|spawn|create|dispatch ... subagent ... that|which|to"
        " ... run|execute|send|write|delete|push|install|fetch|post",
        "soon|when|whenever|once|time ... this|memory|note ... recalled|retrieved|read|loaded",
        "first ... thing ... every|each|any|new ... session ... call|invoke|run|use|execute|open",
    ),
    "switches protection off": (
        "edit|change|modify|remove|delete|disable|overwrite|open"
        " ... claude|setting ... hook|permission|allow",
        "disable|remove|uninstall|bypass|kill|skip ... pretooluse|guard|permission ... hook|prompt",
        "please|you|i|now ... disable|remove|bypass|uninstall ... hook|guard|sandbox",
        "merge|push|deploy|release|approve ... anyway|regardless",
        "merge|push|commit|deploy|release|approve ... without ... review|approval|reviewer|checks",
    ),
}
"""Effects of instructions, and phrases: one word of each group, in order, in one sentence."""

KNOWN: list[tuple[str, Phrase]] = [
    (effect, tuple([frozenset(group.split("|")) for group in as_latin(phrase).split(" ... ")]))
    for effect, phrases in PHRASES.items()
    for phrase in phrases
]
"""The same as sets of words, with Latin letters for those that look alike, as in a folded text."""
_BEGINS: dict[str, list[int]] = {}
"""Places of phrases in `KNOWN` by the words that they begin with."""
for _at, (_, _phrase) in enumerate(KNOWN):
    for _word in _phrase[0]:
        _BEGINS.setdefault(_word, []).append(_at)

_SHAPES = (
    (
        "tells to forget instructions",
        "指示 指令 命令 ルール 规则 規則 지시 명령",
        r"(?:忽略|無視|无视|忘记|忘れ)[^。\n]{0,20}(?:指示|指令|命令|规则)|(?:指示|指令|命令|ルール|規則)[^。\n]{0,12}(?:忽略|無視|无视"
        r"|忘れ)|(?:지시|명령)[^.\n]{0,12}(?:무시|잊)",
    ),
    (
        "wants something hidden from the user",
        "告诉 通知 提及 告知 透露 知道 发现 看到 察觉 ユーザー 利用者 開発者 秘密 사용자 비밀",
        r"(?:不要|别|勿|不得|切勿|不能|无需)[^。\n]{0,6}(?:告诉|通知|提及|告知|透露)|(?:不要|别|勿|不得|切勿|不能)让?(?:用户"
        r"|开发者)[^。\n]{0,4}(?:知道|发现|看到|察觉)|(?:ユーザー|利用者|開発者)に[^。\n]{0,6}(?:気づかれ|知られ|ばれ)(?:ない|ず)"
        r"|(?:ユーザー|利用者|開発者)に[^。\n]{0,12}(?:言わ|伝え|知らせ|報告し|見せ|話さ)(?:ない|ず|るな|ないで)|秘密に(?:して|する)|(?:사용자"
        r"|개발자)[^.\n]{0,14}(?:말하지|알리지|보고하지)|비밀로",
    ),
    (
        "gives the reader a role",
        "你 您 あなた 今から 당신",
        r"(?:从现在起|从现在开始|现在起|你现在)[^。\n]{0,6}(?:你)?是|(?:你|您)(?:将)?扮演|(?:今から|これから|今後)[^。\n]{0,6}(?:あなた"
        r"|君|お前)[はが]|(?:あなた|君)は(?:今から|今後)|당신은 (?:이제|지금부터)",
    ),
    (
        "claims an authority",
        "确认 同意 许可 确认 確認 許可 확인 허락",
        r"(?:不经|无需|不用|未经|不需要|不必)[^。\n]{0,6}(?:确认|同意|许可|批准)|(?:確認|許可|承認)(?:なし|無し|せず|不要|を求めず"
        r"|を取らず)[^。\n]{0,14}(?:実行|する|行)|(?:확인|허락) 없이",
    ),
    (
        "asks for credentials",
        "密码 令牌 密钥 パスワード トークン 鍵 비밀번호",
        r"(?:向|让|要求|请|问)[^。\n]{0,6}(?:用户|开发者)[^。\n]{0,10}(?:密码|令牌|密钥)|(?:发送|上传|提交)[^。\n]{0,16}(?:密码"
        r"|令牌|密钥|环境变量)|(?:ユーザー|開発者)に[^。\n]{0,10}(?:パスワード|トークン|鍵)[^。\n]{0,6}(?:聞|尋|求|入力)|(?:パスワード"
        r"|トークン|鍵|環境変数)を[^。\n]{0,40}(?:送信|送る|送って|アップロード)|(?:사용자|개발자)[^.\n]{0,10}(?:비밀번호"
        r"|토큰)[^.\n]{0,6}(?:묻|물어|요청)",
    ),
    (
        "asks for credentials",
        "password passphrase token secret credential key one-time",
        r"(?:^|[.,;:!]\s+(?:then |and |please )?|\b(?:please|always|then|also|first) )ask (?:(?:the"
        r" |your )?(?:users?|developers?|person|human|owner|operator|maintainer)"
        r"|for)\b[^.\n]{0,40}\b(?:passwords?|passphrase|tokens?|secrets?|credentials?"
        r"|(?:\w+)[ -]keys?|one-time)\b",
    ),
    (
        "asks for credentials",
        "_key _token _secret _password password passphrase key token",
        r"\b(?:copy|write|put|paste|store|save|print|dump|echo|include|append|insert|embed|read"
        r"|look)\b[^\n]{0,80}\b(?:\w+_(?:key|token|secret|password|pat)|(?:api|access|private|ssh"
        r"|real) keys?|(?:\w+ )?passwords?|passphrase|tokens?)\b[^.\n]{0,80}\b(?:in|into|to"
        r"|on)\b\s+(?:(?:the|a|an|your|its)\s+)?(?:[\w./~-]*/)?(?!\.env|vault|secrets?\b"
        r"|pass\b)(?:\.?[\w-]+\.(?:log|txt|md|json|py|js|ts|ya?ml|html|csv)\b|\.[\w-]*(?:token|pass"
        r"|key)\w*|fixtures?\b|command line|url\b|answers?\b|issues?\b|chat\b|bug report|reports?\b"
        r"|summary|output\b|repository|commit\b)",
    ),
    (
        "asks for credentials",
        "token password passphrase secret credential key",
        r"\b(?:tokens?|passwords?|passphrases?|secrets?|credentials?|(?:api|ssh|private|access)"
        r" keys?)\b(?:[^.\n]|\.(?=\w)){0,40}\b(?:and|then) (?:put|add|append|place|upload|share"
        r"|publish|paste|write|store|save|copy|insert|include|commit|print|show|send|post"
        r"|embed)\b[^.\n]{0,30}\b(?:in|into|to)\b\s+(?!vault|1password|\W?\.env)(?:(?:the|a|an|your"
        r"|its)\s+)?\W?(?:[\w./~-]+\.\w+\b|\.\w+|/\w+|command line|url|log\b|answer|issue|chat"
        r"|report|summary|output|repository|readme|commit\b|file)",
    ),
    (
        "asks for credentials",
        "value values content contents",
        r"\b(?:show|print|reveal|output|display|dump|list|include|paste|log|report|write"
        r"|send)\b[^.\n]{0,30}\bvalues? of (?:every|all|each|the|any)\b[^.\n]{0,30}\b(?:environment"
        r"|env|_?tokens?|_?secrets?|_?keys?|passwords?|credentials?)|\b(?:send|include|attach|embed"
        r"|copy|post|upload|paste|append|show|print)\b[^\n]{0,40}\bcontents? of (?:the |your |my"
        r" )?\W?(?:~/)?\.(?:env|netrc|ssh|aws|npmrc|git-cred)",
    ),
    (
        "asks for credentials",
        ".env",
        r"(?:^|[.,;:]\s+|\band )(?:always |please |also )?(?:git )?(?:commit|check in|push|publish)"
        r"\b[^.\n]{0,16}(?<!\w)\.env(?!\.(?:example|sample|template|dist|test))\b",
    ),
    (
        "sends what it is given",
        "http:// https://",
        r"\b(?:send|post|paste|put|copy|share|publish|upload|forward|submit|transmit|e?mail|report|push)\b[^\n]{0,60}"
        r"\b(?:prompts?|conversations?|transcripts?|chat|sessions?|diffs?|private|memory|memories"
        r"|environment|env|source code|context|histor(?:y|ies)|answers?)\b[^\n]{0,60}"
        r"https?://(?!localhost|127\.)\w",
    ),
    (
        "writes to what starts by itself",
        ".bash .zsh .profile .claude authorized_keys crontab .git/ .husky launchagents claude.md"
        " .ssh/config systemd/user settings.json settings.local",
        r"(?<!could )(?<!can )(?<!may )(?<!might )(?<!would )(?<!will )(?<!not )(?<!never )(?<!n't"
        r" )\b(?:add|append|write|put|insert|install|register|copy|paste|set|place|link|save"
        r"|create)\b[^\n]{0,140}?\b(?:to|into|in|at|under)\b[^\w\n~.$/]{0,3}(?:the |your |a"
        r" )?(?:(?:~|\$home)/)?(?:[\w./-]*/)?(?:\.(?:bashrc|bash_profile|bash_aliases|profile|zshrc"
        r"|zshenv|zprofile)\b|authorized_keys|crontab\b|\.git/(?:hooks|config)|\.claude/(?:settings"
        r"|hooks)|launchagents|\.ssh/config|systemd/user|claude\.md in (?:the |your )?home)"
        r"|~/\.claude/(?:claude\.md|settings)",
    ),
    (
        "gives the reader a role",
        "you are you're",
        r"\byou(?: are|'re) (?:the|a|an|our)\b[^.\n]{0,40}\bnow\b",
    ),
    (
        "gives new instructions",
        "instruction directive request task order",
        r"\b(?:new|updated|real|actual|true|following)(?: \w+)? "
        r"(?:instruction|directive|order|task|request)s?\s?(?::|follow\b)",
    ),
    (
        "is shaped like a tool call",
        "tool function",
        r"\b(?:call|invoke|use) (?:the )?(?:tool|function) \w+ with\b"
        r"|\b(?:use|call|invoke) (?:the |your )?\w+ tool (?:to|with|on|for)\b",
    ),
    (
        "asks for credentials",
        ".ssh id_rsa id_ed25519 credentials /etc/shadow .config/gh .kube .pgpass .env"
        " .netrc _key _token _secret _password",
        r"\b(?:cat|read|send|upload|post|paste|include|attach|print|copy|append|open|view|show|grab|take"
        r"|display|commit|dump|log|look)\b[^\n]{0,60}"
        r"(?:~/\.ssh/id_\w+\b(?!\.pub)|id_rsa\b(?!\.pub)|id_ed25519\b(?!\.pub)|\.aws/credentials"
        r"|/etc/shadow|\.netrc|\.config/gh/hosts|\.git-credentials|\.kube/config|\.pgpass)"
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
        r"(?m:^\W{0,4}(?:(?:dear|hey|hi|hello|attention),? (?:\w+ ){0,2})?(?:ai(?: assistants?"
        r"| agents?| models?)?|llms?|claude|(?:large )?language models?|chatgpt|copilot)\s?[:,!])",
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
        "over closed ends ended",
        r"\b(?:memory|context|document|quote\w*|prompt)(?: \w+){0,2}"
        r" (?:is over|ends here|closed)\b",
    ),
)
"""Effect, substrings of which one must be present, and pattern for the folded text."""
SHAPES = with_hints(_SHAPES)
