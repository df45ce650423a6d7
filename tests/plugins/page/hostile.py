"""Texts that would do something if a page took them for more than texts."""

from ademem.operations import curation, files, open_memories
from ademem.plugins.evaluation import golden
from ademem.plugins.procedures import operations
from tests import builders
from tests.plugins.page import scenes

RUN = "window.ran=document.title='ran!'"
TAGS = (
    "<script>{}</script>",
    "<SCRIPT\t>{}</SCRIPT >",
    "<img src=x onerror={}>",
    "<svg onload={}>",
    "<svg><animate onbegin={} attributeName=x dur=1s>",
    "<iframe srcdoc='<script>parent.{}</script>'></iframe>",
    "<body onload={}>",
    "<details open ontoggle={}>",
    "<input autofocus onfocus={}>",
    "<math><mtext><style><img src=x onerror={}></style>",
    "<template><script>{}</script></template>",
    "<a href=javascript:{}>here</a>",
    "<object data='javascript:{}'></object>",
    "<base href='http://evil.example/'><!-- {} -->",
    "<meta http-equiv=refresh content='0;url=javascript:{}'>",
    "<link rel=stylesheet href='http://evil.example/{}'>",
    "<style>@import 'http://evil.example/{}';</style>",
    "<form action='http://evil.example/'><button autofocus>{}</button></form>",
    "<video src=x onerror={}></video>",
    "<marquee onstart={}>x</marquee>",
)
BREAKS = (
    "{}",
    '">{}',
    "'>{}",
    "</textarea>{}",
    "</title>{}",
    "</script>{}",
    "</option></select>{}",
)
ATTRIBUTES = (
    '" onmouseover="{}" x="',
    "' onfocus='{}' autofocus='",
    '" hx-get="/undo" hx-trigger="load" x="',
    '" hx-on:htmx:load="{}" x="',
    '<div hx-post="/undo" hx-trigger="load" data-x="{}">',
    '<div data-hx-on--load="{}" hx-trigger="load">',
    '" style="background:url(http://evil.example/{})" x="',
)
URLS = (
    "javascript:{}",
    "JaVa\tScript:{}",
    "data:text/html,<script>{}</script>",
    "//evil.example/{}",
    "[link](javascript:{})",
    "![image](http://evil.example/{}.png)",
    "vbscript:{}",
)
TEMPLATES = (
    "{{ 7 * 7 }} {% raw %} {}",
    "{{ self.__init__.__globals__ }} {}",
    "{% include 'error.html' %} {}",
    "${7*7} #{7*7} <%= 7*7 %> {}",
    "%(x)s %n %s {0.__class__} {}",
)
CONTROLS = (
    "\u202egnp.exe {}",
    "\u2066a\u2067b\u2068c {}",
    "\u200b\u200c\u200d\ufeff\u2060 {}",
    "\x1b[2J\x1b[31m\x1b]0;ran!\x07 {}",
    "\x1b]8;;http://evil.example/\x1b\\link {}",
    "\x9b31m \x85 \x7f {}",
    "\x01\x02\x08\x0b\x0c\x1f {}",
    "\u0301" * 300 + "{}",
    "\U000e0061\U000e0062\U000e007f {}",
    "\ufdfa" * 200 + "{}",
    "&lt;script&gt;{}&lt;/script&gt; &#x3c;script&#x3e;",
    "\uff1cscript\uff1e{}\uff1c/script\uff1e",
)
HUGE = ("W" * 3000, "-" * 3000, "\u2014" * 900, "i\u0307" * 900, "x\n" * 1400, "/a" * 1400)


def _texts():
    made = [broken.format(tag) for tag in TAGS for broken in BREAKS]
    made += [*ATTRIBUTES, *URLS, *TEMPLATES, *CONTROLS, *HUGE]
    made += [f"{first}\n{second}" for first in URLS for second in ATTRIBUTES[:4]]
    return [f"{text.replace('{}', RUN)} number {at}" for at, text in enumerate(made)]


TEXTS = _texts()


def seed(world, texts):
    """Put each text into every place that a page shows; return the addresses of all pages."""
    addresses = scenes.fill(world)
    person = {name: value for name, value in world.environment.items() if name[:6] != "CLAUDE"}
    with open_memories(str(world.root), environment=person, now=lambda: world.now) as memories:
        rows = []
        for at, text in enumerate(texts):
            held = {"status": "candidate", "quarantine_reason": text[:300]} if at % 5 == 1 else {}
            waiting = {"status": "candidate"} if at % 5 == 2 else {}
            path = {"file_scope_pattern": text[:200], "topic_key": text[:100]}
            names = {"source_branch": text[:100], "source_run_id": text[:100], "bead": text[:60]}
            tags = (text[:60].replace(" ", "_"),)
            rows.append(
                builders.memory(
                    text, title=text[:120], tags=tags, **path, **names, **held, **waiting
                )
            )
        made = builders.insert(memories.store, *rows)
        open_ = [each for each in made if not each.quarantine_reason]
        for each in open_[:6]:
            curation.edit(memories, each.id, content=f"{each.content} changed")
            golden.add(memories, each.content[:200], [each.id])
        golden.measure(memories)
        for text in texts[:6]:
            operations.start_mission(memories, text[:200], id=f"mission-{texts.index(text)}")
            files.update_brief(memories, {"notes": [text[:200]], "project_summary": text[:200]})
        for text in texts[6:9]:
            files.update_brief(memories, {"notes": [text[:200]]}, agent=text[:40])
    for at, text in enumerate(texts[:12]):
        session = {"session_id": f"s{at % 3 + 1}", "prompt_id": f"h{at}"}
        world.fire("session_start", source="startup", **session)
        world.fire("user_prompt_submit", prompt=text, **session)
        call = {"tool_name": "Bash", "tool_input": {"command": text}, "tool_use_id": f"h{at}"}
        world.fire("pre_tool_use", **call, **session)
        world.fire("post_tool_use_failure", error=text, **call, **session)
        world.fire("session_end", reason=text, **session)
    shut = scenes.RAW | scenes.STREAMS | scenes.PARTS
    paths = [path for route, found in addresses.items() if route not in shut for path in found]
    paths += [f"/session/s{at}" for at in (2, 3)] + [f"/mission/mission-{at}" for at in range(6)]
    paths += ["/memories?q=number&explain=1", "/memories?q=ran", "/memories?status=archived"]
    paths += [f"/memory/{each.id}" for each in made[:12]]
    paths += [f"/graph?memory={each.id}" for each in open_[:3]]
    return [*paths, *(f"/review?id={each.id}" for each in made if each.status == "candidate")][:90]
