"""The words by which people order, ask, wish and chat: what `turn` goes by."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(","))


CHANGE = _words("""
    add address adjust allow alter append apply archive backport block bring build bump centralise
    centralize change clean cleanup combine commit complete configure connect convert copy correct
    create cut debug deduplicate delete deploy deprecate disable document downgrade draft drop edit
    enable ensure execute expose extend extract factor finish fix format generate get give handle
    harden hide hook hotfix implement improve include increase inline insert install integrate
    introduce isolate kill limit localise localize log lower make merge migrate mock modify move
    optimise optimize overhaul patch pin polish port prepare prevent promote publish push put raise
    rebase redesign redo reduce refactor reformat refresh reimplement release remove rename reorder
    reorganise reorganize repair replace reset resolve restore restructure revert rewrite rework
    rollback roll rotate save scaffold secure separate set setup simplify solve sort speed split
    squash stop store strip stub support swap switch tag throw tidy tighten toggle translate trim
    turn tweak undo uninstall unify unpin update upgrade use validate vendor widen wire wrap write
""")
"""Verbs by which people order a change; `_bases` finds them inflected."""

LOOK = _words("""
    analyse analyze brainstorm check compare consider describe design discuss estimate evaluate
    examine explain explore find inspect investigate list look outline plan read recommend review
    search show suggest summarise summarize tell think trace understand verify walk
""")
"""Verbs by which people ask to be told something."""

OPENERS = _words("""
    a about ahead alright also and are be but can claude could do don't feel finally first free go
    good great have help hey hi how i i'd i'll instead it's just kindly let let's lets like love
    maybe me mind must need next nice not now ok okay ought perfect please pls quickly second should
    so sure task that then third time to today todo try u us want we we'd what why will won't would
    yep yes you you'd
""")
"""Words that may stand between the beginning of a clause and its verb."""

CLAUSES = _words("and then but so also , : - ( ) * ;")
"""Tokens after which a new clause may begin."""

LEAD_INS = _words("ok okay so and but hey hi claude also wait question quick , :")
"""Tokens before a question that say nothing of its kind."""

QUESTIONS = _words("""
    how why what what's when where who whom whose which is are was were does do did has have had am
    isn't aren't doesn't any
""")
"""First words of a question that asks for words, not for work."""

SUGGESTIONS = _phrases("""
    how about, what about, why not, why don't you, why don't we, have you, do you mind
""")
"""First words of a question that is an order after all."""

ADVICE = _phrases("""
    can i, could i, may i, should i, should we, can we, would it, would that
""")
"""First words of a question for leave or an opinion, whatever change it names."""

SMALL_TALK = _words("""
    a again all alright are awesome bye cheers claude cool done evening everyone fine for good
    goodbye great hello help hey hi how ignore is it job just lgtm lol looks lot message mind
    morning much never nice night no nope now ok okay perfect ping please pong see so sounds test
    testing thank thanks that there this thx ty very well work yo you your
""")

GO_AHEAD = _phrases("""
    go ahead, go for it, do it, do that, do so, do this, do both, do all, do the first,
    do the second, do the same, do the rest, continue, proceed, carry on, keep going, go on, resume,
    make it so, ship it, try again, retry, next, same for
""")

NO_CHANGE = _phrases("""
    update me, give me an, give me a, give an, get an overview, make sense, set aside, log in,
    turn out, bring me, use case, get me up to speed, use of, document that, build status,
    change log
""")
"""Openings with a change verb that order none."""

TROUBLE = _phrases("""
    broken, fail, crash, bug, error, exception, traceback, stack trace, regression, typo, leak,
    flaky, hangs, too slow, vulnerab, not work, n't work, won't start, n't compile, n't build,
    n't start
""")

WISHES = _phrases("""
    should be, should have, should not, shouldn't, must be, must not, needs to, need to be, has to,
    have to be, ought to, should use, should return, should show, should only, should also,
    should support
""")

WANTING = _words("i we i'd we'd would also really")
WANTS = _words("want need like")
"""Together they ask for a thing, unless a "to" follows: "we need a cache"."""

DICTATION = _phrases("""
    remember:, remember that, please remember, note for the future:, merke:, recuerda:
""")
