"""The words by which people order, ask, wish and chat: what `turn` goes by."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split(","))


def openings(text: str) -> tuple[str, ...]:
    """Phrases that end with a word: "do it" opens no "do items"."""
    return tuple(f"{phrase} " for phrase in phrases(text))


CHANGE = words("""
    abort activate adapt add address adjust align allow alter amend annotate append apply approve
    archive assign attach autofix backfill backport bind block bootstrap bring build bump bundle
    cache centralise centralize change cherry clean cleanup clear close combine commit complete
    configure connect containerise containerize convert copy correct create cut debounce debug
    decouple dedupe deduplicate delete demote deploy deprecate destroy disable dockerise dockerize
    document downgrade downgrading download draw drop dump duplicate edit eliminate embed empty
    enable encrypt enforce enlarge ensure erase execute expand export expose extend extract factor
    finalise finalize finish fix flatten flip follow force format gate generate get give grant group
    guard handle harden hide hook hotfix implement import improve include increase indent initialise
    initialize inject inline insert install integrate introduce invalidate invert isolate kill
    launch limit link lint localise localize lock log loosen lower make mark merge migrate
    minify mock modernise modernize modify mount move mute nest normalise normalize nuke omit
    optimise optimize overhaul overwrite paginate parallelise parallelize parametrise parametrize
    patch persist pin polish populate port post prefix prepend prepare prevent promote prune publish
    pull purge push put raise rearrange rebase rebuild recreate redesign redirect redo reduce
    reenable refactor reformat refresh regenerate register reimplement reinstall relax release
    reload relocate remove rename render reopen reorder reorganise reorganize repair replace reply
    require reset resize resolve restart restore restructure retag return reuse revert revoke rewire
    rewrite rework rip rollback roll rotate sanitise sanitize save scaffold scale schedule secure
    seed send separate serialise serialize set setup shorten shrink shutdown simplify skip solve
    sort spawn speed split squash start stash stop store stream strip stub style submit subscribe
    support swap switch sync tag throttle throw tidy tighten toggle transform translate trim
    truncate turn tweak unblock uncomment undo unify uninstall unmount unpin unskip unstage update
    upgrade upload use validate vendor widen wipe wire wrap write zip abstract accept
    accommodate allowlist anchor anonymise anonymize assert await batch blacklist bypass capitalise
    capitalize centre center clamp clone collapse compile compress condense consolidate constrain
    crop darken deactivate decrease default defer delegate denormalise denormalize denylist detach
    disallow disconnect dismiss encapsulate encode enqueue escape exclude fetch fill filter fork
    freeze generalise generalize gitignore hardcode hash highlight hoist host increment index init
    instrument intercept join label lift load lowercase map mask memoise memoize minimise minimize
    mirror namespace narrow nullify offload order pad parse partition pass pause pipe place plug
    polyfill preload preserve proxy provide provision quote randomise randomize rebalance recompile
    reconnect redact refine reject relabel remap renew reroute reschedule restrict retry reword
    round route sandbox scrap shard share shift shim silence slim slow snapshot standardise
    standardize stringify strengthen substitute suppress suspend symlink transpile trigger tune
    typehint unlock unset unwrap uppercase vectorise vectorize version whitelist
""")
"""Verbs by which people order a change; `_bases` finds them inflected."""

NOUNS = words("""
    address block build cache change copy cut dump draw export format gate group guard hook import
    limit link lock log mark mock patch pin port post release reply return scale schedule start stop
    store stream style support switch tag turn use wrap audit benchmark check design diff draft
    estimate list measure plan print profile review run test trace view abstract batch branch clone
    default feature filter fork hash host index label load map mask mirror namespace order pad pass
    pause pipe place plug proxy quote round route sandbox share shard shift shim snapshot trigger
    tune version comment need note search
""")
"""Verbs whose form in "s" is rather a noun: "changes look fine"."""

LOOK = words("""
    analyse analyze audit benchmark brainstorm cat check compare confirm consider count critique
    debate decide describe design diff discuss draft estimate evaluate examine explain explore
    figure find grep hear identify inspect investigate know learn list locate look ls measure
    outline plan print profile propose prove read recommend research review run search see show
    suggest summarise summarize teach tell test think trace understand verify view walk
""")
"""Verbs by which people ask to be told something."""

ANSWERS = words("""
    analysis comparison diagram estimate example examples explanation idea ideas list names options
    outline overview plan proposal recommendation suggestion suggestions summary tour walkthrough
    question questions poem haiku pros cons tldr sentence sentences bullets paragraph
""")
"""What is given in words when somebody asks to make, write or give it."""

BEHIND_AN_OBJECT = words("with for that which from into to about by on and , : . ;")
ANSWERING = words("create generate give make prepare write get put draw")
"""Verbs of change that order words only, when what they make is one of `ANSWERS`."""

ORDERS = openings("""
    comment out, comment on, open a pr, open a pull, open a issue, open an issue, open a ticket,
    open a new, open pr, run black, run prettier, run the formatter, run the migration,
    run migrations, run the migrations, run the codemod, run the seed, take care of, ad a, ad an,
    hold the, leave a comment, name it, name the, call it, name this, call this, look after, rm, mv,
    mkdir, chmod, chown, test drive, spin up, spin down, bring up, shut down, scale up, scale down,
    check in, check out the branch, checkout, deal with, keep the, keep it, have it, let it,
    let the, allow, try using, try with, try to use, work on, sign, request a review, have the,
    have them, have claude
""")
"""Other openings of an order."""

NO_CHANGE = phrases("""
    update me, give me, get an overview, make sense, makes sense, set aside, log in, turn out,
    bring me, use case, get me up to speed, use of, document that, build status, change log,
    stop it, get it, got it, put differently, follow up question, make a plan, format of, use cases,
    return type, start by explaining, start with explaining, start by reading, start by looking,
    cut to the, get back to, post mortem, drop me
""")
"""Openings with a change verb that order none."""

OPENERS = words("""
    a about actually again ahead alright also and are as be but can claude could do especially
    eventually feel finally first for free go good great have help hey hi how i i'd i'll if in
    inside instead it's just kindly let let's lets like love maybe me mind must need next nice no
    now ok okay on only ought perfect please pls plz possible quickly rather really second should
    simply so sure task that then third time to today todo too try u us want we we'd well what why
    will won't would wrong yeah yep yes you you'd may
""")
"""Words that may stand between the beginning of a clause and its verb."""

POLITE = openings("""
    why don't you, why don't we, why not, how about, don't we, if not, if so, if yes, if it isn't,
    if it doesn't, would it be possible to, is it possible for you to, i was wondering if you could,
    wondering if you could, i wonder if you could, it would be great if you could,
    it would be nice if you could, it'd be great if you could, would be great if you could,
    do me a favor and, do me a favour and, your task is to, the task is to, the goal is to,
    your job is to, don't forget to, do not forget to, make sure to, make sure you, be sure to,
    i'd appreciate it if you, i would appreciate it if you, would you be able to, are you able to,
    i think, i guess, i believe, i'd say, you can, you may, you should, you could, you might
""")
"""Openings of an order that read otherwise like a question or a ban."""

CLAUSES = words("and then but so also , : - ( ) * ;")
"""Tokens after which a new clause may begin."""

OBJECTS = words("the a an it them this that these those all my your our its each every both any")
"""Behind "and", one of `NOUNS` is a verb only before one of these."""

CONDITIONS = words("""
    if once when whenever after unless until as should in for on with using based following given
    per according from at inside within like before by
""")
"""First words of a sentence whose order may follow without a comma."""

NOT_BEFORE_A_VERB = words("""
    a an the this that these those my your our their its his her no any some each every all to of in
    on at for by with from i we you they it he she who which and or not can could would should will
    may must did does do don't doesn't didn't new old last next first same other more is are was
    were be been being has have had
""")
"""After one of them a word in the middle of a sentence is no order."""

RULES_TOLD = phrases("""
    note:, note that, for the record, fyi, for your information, always, never, from now on,
    keep in mind, please note, as a rule, in this repo, in this project, bear in mind, in general
""")
"""Openings of a rule or a fact that is told to be known."""


SHELL = words("""
    apt apt-get brew bun cargo conda docker dotnet gem gh git go gradle helm kubectl make mvn npm
    npx pip pnpm poetry systemctl terraform uv yarn
""")
"""Programs that people type as if to a shell."""

SHELL_CHANGE = words("""
    i ci up down rm mv run-script checkout am bisect clone fetch init fmt tap rollout exec
""")
"""Their subcommands that change something and are no verbs of `CHANGE`."""

SHELL_LOOK = words("audit blame describe diff get grep info list log logs ls show status test view")
"""Their subcommands that only read, whatever else the word may mean."""

SMALL_TALK = words("""
    a absolutely afternoon again agreed ah aha all alright amazing and anyone are asdf awesome back
    bad beautiful bot brb brilliant bye call cheers chill christmas ciao claude clear congrats
    congratulations cool correct couple cute damn day dear done enough everybody everyone evening
    evenings exactly excellent fair fantastic fast fine folks for friend friends fun glad good
    goodbye got gotcha great greetings guys haha hahaha happy hehe hello help hey heya hi hiya hm
    hmm hmmm hmmmm holy hooray howdy huh hurray ignore impressive indeed interesting is it job just
    k kk kudos later lgtm like lol looks lot love lovely luck man mate merry message mind minute
    moment morgen morning much my nah neat never nevermind nice night no nope now np nvm of oh ok
    okay okey one ooh oops ouch perfect perfectly phew ping please point pong praise pretty quick
    rest right rock roger saved sec second see so solid sorry sounds sticking stop super superb
    sweet swell team test testing thank thanks that that's the there this thx tnx true ty tysm u
    understood very wait well whatever whew window wonderful work working works worries wow wrong ya
    yay year yo you your yup tomorrow maybe nothing lunch break coffee gn gm afk you're we're it's
    far then was robot human guess suppose obviously clearly quickly spot on no1 welcome about ha
    stuff helpful useful soon appreciated bravo
""")
"""A prompt of nothing but these is small talk."""

TALK = phrases("""
    you're a star, i figured it out, how are you doing, how are you, how are things, how's it going,
    how is it going, what's up, whats up, sup, how do you do, who are you, what are you,
    what can you do, are you there, you there, are you ok, tell me a joke, what's new,
    nice to meet you, let me think about it, let me think about this, let me think,
    let me check something, let me check, let me see, let me look, give me a minute,
    give me a second, give me a sec, give me a moment, hold on, hang on, one moment, one sec,
    one minute, in a minute, for a moment, for a second, for a minute, i'll take a break,
    i'll be right back, i'll be back, i'm back, i'll do it myself, i'll do that myself,
    i'll take it from here, i'll get back to you, i'll think about it, i'll handle it, i've got it,
    i got it, i found it, i'm done, i am done, i'm good, we're done, we're good, that's all,
    that's it, that is all, that'll be all, for today, for now, for the day, see you, talk to you,
    until tomorrow, tomorrow, have a nice, have a good, have a great, weekend, new year,
    that works now, it works now, works now, that works, it works, it's working, that worked,
    it worked, that fixed it, fixed it, that did it, that helped, that helps, all tests pass,
    tests pass, all green, looks good to me, looks good, look good, looks great, looks fine,
    looks right, sounds good, sounds great, makes sense, make sense, well done, good to know,
    good catch, i see, i know, i like it, i love it, love it, love this, i agree, you rock,
    you're right, you are right, you're the best, you're welcome, you are the best, no problem,
    no worries, no need, no rush, never mind, doesn't matter, don't worry, forget it,
    forget about it, forget that, wrong window, wrong chat, wrong tab, wrong session,
    wrong terminal, nothing else, nothing more, nothing for now, for explaining,
    for the explanation, for your help, for the help, what i wanted, what i needed, what i meant,
    what i was looking for, happy birthday, just testing, was fast, today, stop it, my bad,
    makes total sense, i appreciate it, that explains it, that answers my question, my mistake,
    take care, at all, nice one, i'm here, still there, not now, maybe later, not today,
    my last message, my last prompt, the last message, last message, my previous message,
    my message, just saying, meant for someone else, going to bed, going to sleep, going home,
    for the moment, not yet, i'm fine, to hear, to me, have a nice evening, enjoy, dir, i owe you,
    a lifesaver, i understand now, i understand, i get it now, i get it, that's clear,
    it's clear now, the tests pass, that will be all, tonight, hello world
""")
"""Turns of phrase that are small talk too, the longer before those that they hold."""

SOCIAL = openings("""
    are you a, are you an, are you human, are you real, are you alive, are you sentient,
    do you like, do you have feelings, do you sleep, how was your, how old are you,
    what's your name, what is your name, what's your favorite, what's your favourite,
    i'm going to bed, i'm going home, i'm going to sleep, i'm off, i'm heading, i have to go,
    i need to go, i gotta go, gotta go, heading out, heading home, let me get back, i'll be back,
    i'm back, i'll continue, i'll test it, i'll try it, i'll have a look, i'll take a look,
    i'll read it, i'll let you know, i'm tired, be right back, back in, that was meant for,
    that was for, sing, say hi, say hello, knock knock
""")
"""Openings of a few words among people, after whatever courtesy."""

GO_AHEAD = openings("""
    go ahead, go for it, do it, do that, do so, do this, do both, do all, do the first,
    do the second, do the third, do the last, do the same, do the rest, continue, proceed, carry on,
    keep going, go on, resume, make it so, ship it, try again, try it again, retry, next, same for,
    same thing for, same with, do 1, do 2, do 3, please do, yes please, let's do it, let's do that,
    let's go, lets go, go with, same here, one more time, redo, again with, now the, now for, also
""")

CONSENT = words("y yes yep yeah yup yea aye sure definitely certainly ja oui si sí sim да はい 是")
"""An answer of one of these, with nothing but courtesy around it, lets the work go on."""

COURTESY = words("please thanks thank you ok okay do so go ahead pls of course that's fine good it")

CHOICE = words("""
    first second third fourth last former latter both option a b c d number choice either #
""")
CHOOSING = (
    CHOICE
    | COURTESY
    | words("""
    the one ones two of them and with i i'd take prefer choose pick use let's approach variant
    version plan solution suggestion then i'll we'll would
""")
)
"""A prompt of nothing but these, one of `CHOICE` or a number among them, chooses what is done."""

TROUBLE = phrases("""
    broken, broke, fail, crash, bug, error, exception, traceback, stack trace, regression, typo,
    leak, flaky, hangs, freezes, stuck, too slow, vulnerab, not work, n't work, won't start, cannot,
    not found, not defined, undefined, out of date, outdated, off by, wrong, missing, incorrect,
    panic:, segfault, core dumped, err!, fatal:, warning:, timed out, timeout, conflict, deprecated,
    unexpected, unreadable, 500, 404 on, no longer, used to work, deadlock, corrupt, truncated,
    overlaps, cut off, blank page, misaligned, useless, denied, refused, is red, went down, is down,
    is dead, forever, blank, takes too long, ugly, weird, garbled, laggy, unresponsive, stale,
    infinite loop, nothing happens, too long to, goes down, keeps restarting, nothing
""")

WISHES = words("should shouldn't must mustn't needs ought gotta")
"""Words of a wanted state: "the header should be sticky"."""

SHORT_WISHES = words("""
    bigger smaller larger wider narrower taller shorter darker lighter brighter bolder thinner
    faster slower simpler cleaner less more fewer better nicer higher lower rounder needs need
""")
"""First words of a wanted state that is told in a few words."""

AMENDMENTS = phrases("""
    instead, not like that, not like this, wrong file, wrong place, rather than, not what i, undo,
    too much, too many, too big, too small, too long, too verbose, again, i'd rather,
    i would rather, i prefer, i would prefer, i'd prefer, you missed, you forgot, you broke,
    you left, you removed the wrong, belongs, changed my mind, not quite, still off
""")
"""What people say when work is to be done otherwise."""

WANTING = words("i we i'd we'd would also really")
WANTS = words("want need like")
"""Together they ask for a thing, unless a "to" follows: "we need a cache"."""
