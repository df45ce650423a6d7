// Look a tool call up in the rules that ademem compiled. Pure: no file, no clock, no client.
// Plain JavaScript, so that node runs it as it is.

/**
 * @typedef {{ id: string, stop: boolean, agent?: string, line?: string, rest?: string }} Memory
 * @typedef {[memory: number, op: number, strength: number, denies: number, asks: number, place: string]} Tie
 * @typedef {{ root: string, below: string[], mode: string, max_blocks: number, fail: string,
 *   partial: boolean, end: [string, string], memories: Memory[], ties: Tie[], asks: string[],
 *   readers: string[], files: Record<string, number[]>, folders: Record<string, number[]>,
 *   suffixes: Record<string, number[]>, commands: Record<string, [string[], number][]>,
 *   globs: [string[], string, number][], literals: [string, string, number][] }} Rules
 * @typedef {{ tool: string, input: any, real?: string, isNew?: boolean, isOdd?: boolean,
 *   isAgent?: boolean }} Call  `real` is the path with links followed; odd is what is no plain file
 * @typedef {{ verdict: 'silent' | 'bound' | 'python', ties: Tie[] }} Found
 */

export const FORMAT = 1
export const MOST_BYTES = 2_000_000
export const DENIES = 3
const MEMORY = 0, OP = 1, STRENGTH = 2, ASKS = 4, PLACE = 5
const ANY = 0, CREATE = 2
const LONGEST = { path: 4096, command: 1000 }
const WRITERS = {
  Write: { path: 'file_path', keys: 'file_path content' },
  Edit: { path: 'file_path', keys: 'file_path old_string new_string replace_all' },
  MultiEdit: { path: 'file_path', keys: 'file_path edits' },
  NotebookEdit: { path: 'notebook_path', keys: 'notebook_path new_source cell_id cell_type edit_mode' },
}
// What Python judges by itself: places and words of ademem and of the client's settings.
const OURS = /\.ade|ademem|settings|plugin|\.claude|\.git\b|promote|trust|review|ade\.db/i

/** Read the text of a compiled file; null for one that is damaged or of another project.
 * @param {string} text @param {string} root @returns {Promise<Rules | null>} */
export async function read(text, root) {
  try {
    const [first, body, rest] = text.split('\n')
    const header = JSON.parse(first)
    const bytes = new TextEncoder().encode(body)
    if (header.ademem !== FORMAT || header.bytes !== bytes.length || rest !== '') return null
    if (bytes.length > MOST_BYTES || header.sha256 !== (await sha256(bytes))) return null
    const rules = JSON.parse(body)
    return rules.root === root ? rules : null
  } catch {
    return null
  }
}

/** @param {Uint8Array} bytes @returns {Promise<string>} */
export async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('')
}

/** Tell what is tied to a call, or that only Python can.
 * @param {Call} call @param {Rules} rules @returns {Found} */
export function find(call, rules) {
  const python = { verdict: /** @type {const} */ ('python'), ties: [] }
  if (rules.mode !== 'consult' && rules.mode !== 'strict') return python
  const isFile = Object.hasOwn(WRITERS, call.tool)
  const met = isFile ? metByFile(call, rules) : metByCommand(call, rules)
  if (met === null) return python
  const ties = surest(met.map(at => rules.ties[at]).filter(tie => applies(tie, call, rules)))
  if (ties.some(tie => tie[DENIES] && !isOfAgent(tie, rules))) return { verdict: 'bound', ties }
  if (ties.some(tie => tie[ASKS] || isOfAgent(tie, rules)) || rules.mode === 'strict') return python
  if (ties.length > 0) return isFile ? { verdict: 'bound', ties } : python
  return rules.partial ? python : { verdict: 'silent', ties }
}

const isOfAgent = (tie, rules) => rules.memories[tie[MEMORY]].agent !== undefined

function applies(tie, call, rules) {
  if (isOfAgent(tie, rules) && !call.isAgent) return false
  return tie[OP] === ANY || (tie[OP] === CREATE) === Boolean(call.isNew)
}

/** What a call that meets rules is denied with; empty where it may run.
 * @param {Tie[]} ties @param {Rules} rules @param {Seen} seen @param {string} target */
export function decide(ties, rules, seen, target) {
  const fresh = ties.filter(tie => {
    const memory = rules.memories[tie[MEMORY]]
    const text = memory.stop ? seen.turn : seen.context
    return tie[DENIES] && memory.agent === undefined && !isShown(memory, text)
  })
  const isMarked = fresh.some(tie => rules.memories[tie[MEMORY]].stop)
  const most = rules.max_blocks * (isMarked ? 2 : 1)
  if (fresh.length === 0 || seen.denied.includes(target) || seen.denied.length >= most) return ''
  return say(fresh[0], rules)
}

const isShown = (memory, text) => text.includes(memory.id) || text.includes(memory.line)

/** @param {Tie} tie @param {Rules} rules @returns {string} */
export function say(tie, rules) {
  const { line, rest } = rules.memories[tie[MEMORY]]
  const [before, after] = rules.end
  return `${line}${before}${tie[PLACE]}${after}${rest ? `\n${rest}` : ''}`
}

/** The first rule whose path, folder or command a text names, for where Python does not answer.
 * @param {string} text @param {Rules} rules @returns {Tie | undefined} */
export function named(text, rules) {
  const keys = [
    ...[rules.files, rules.folders, rules.suffixes].flatMap(Object.entries),
    ...rules.globs.map(([, plain, number]) => [plain.replace(/\/$/, ''), [number]]),
    ...Object.values(rules.commands).flat().map(([words, number]) => [words.join(' '), [number]]),
  ]
  const at = keys
    .filter(([key]) => key !== '' && isNamed(key, text))
    .flatMap(each => each[1])
    .sort((a, b) => a - b)
  const denying = at.map(number => rules.ties[number]).filter(tie => tie[DENIES])
  return denying.find(tie => !isOfAgent(tie, rules))
}

/** True if a key stands in a text, and not in the middle of a word. */
function isNamed(key, text) {
  const plain = key.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  return new RegExp(`${/^\w/.test(key) ? '(?<![\\w-])' : ''}${plain}(?![\\w-])`, 'u').test(text)
}

/** What was said in a conversation, and which calls were denied since the prompt of its turn.
 * @typedef {{ turn: string, context: string, denied: string[] }} Seen
 * @param {any[]} messages @param {Rules} rules @param {boolean} isAgent @returns {Seen} */
export function readConversation(messages, rules, isAgent) {
  const has = (message, type) => message.content.some(block => block.type === type)
  const isPrompt = message => message.role === 'user' && !has(message, 'tool_result')
  const start = messages.findLastIndex(isPrompt)
  const turn = messages.slice(Math.max(start, 0))
  const blocks = turn.flatMap(message => message.content)
  const calls = new Map(blocks.filter(each => each.type === 'tool_use').map(each => [each.id, each]))
  const denied = blocks
    .filter(each => each.type === 'tool_result' && textOf(each).includes(rules.end[1]))
    .map(each => targetOf(calls.get(each.tool_use_id)?.input))
  const context = said(messages)
  return { turn: isAgent ? context : said(turn), context, denied }
}

/** @param {any} input @returns {string} what a second try of a call has in common with the first */
export const targetOf = input =>
  input?.file_path ?? input?.notebook_path ?? input?.command ?? JSON.stringify(input ?? null)

/** Texts of messages, but for briefings, which are not read with a call in mind. */
const said = messages =>
  messages
    .flatMap(message => message.content)
    .map(textOf)
    .filter(text => !/^\W*(?:system-reminder\W+)?(?:SessionStart|SubagentStart)\b/.test(text))
    .join('\n')

function textOf(block) {
  if (block.type === 'text') return block.text
  if (block.type !== 'tool_result') return ''
  return typeof block.content === 'string' ? block.content : (block.content ?? []).map(textOf).join('\n')
}

/** The file that a call writes; empty for other calls. @param {Call} call @returns {string} */
export function pathOf(call) {
  const named = Object.hasOwn(WRITERS, call.tool) && call.input?.[WRITERS[call.tool].path]
  return typeof named === 'string' ? named : ''
}

/** @param {string} path @param {string} root @returns {string} the path below the root, or '' */
export const inside = (path, root) =>
  path.startsWith(`${root}/`) ? path.slice(root.length + 1) : ''

/** @param {Call} call @param {Rules} rules @returns {number[] | null} */
function metByFile(call, rules) {
  const { keys } = WRITERS[call.tool]
  const path = pathOf(call)
  const real = call.real ?? path
  const texts = textsOf(call)
  if (!keys || texts === null || call.isOdd || !isPlain(path) || !isPlain(real)) return null
  const below = [...new Set([path, real].map(each => inside(each, rules.root)))]
  if (below.includes('') || OURS.test(path) || OURS.test(real)) return null
  if (rules.below.some(root => inside(path, root) || inside(real, root))) return null
  const [added, removed] = texts
  return sorted([...below.flatMap(each => metByPath(each, rules)), ...metByText(added, removed, rules)])
}

const isPlain = path =>
  path.startsWith('/') && path.length <= LONGEST.path && !/\/\/|\/\.{1,2}(\/|$)|\/$|\p{Cc}/u.test(path)

/** Texts that a call adds and removes; null if it has an argument that is not known here. */
function textsOf(call) {
  const known = WRITERS[call.tool].keys.split(' ')
  const edits = call.tool === 'MultiEdit' ? call.input?.edits : [call.input]
  if (!call.input || !Array.isArray(edits)) return null
  if (Object.keys(call.input).some(key => !known.includes(key))) return null
  const added = [], removed = []
  for (const edit of edits) {
    for (const key of ['content', 'new_string', 'new_source', 'old_string']) {
      if (edit?.[key] === undefined) continue
      if (typeof edit[key] !== 'string') return null
      ;(key === 'old_string' ? removed : added).push(edit[key])
    }
  }
  return [added.join('\n'), removed.join('\n')]
}

function metByPath(path, rules) {
  const names = path.split('/')
  const dots = names[names.length - 1].split('.')
  const endings = dots.slice(1).map((_, at) => `.${dots.slice(at + 1).join('.')}`)
  const folders = names.map((_, at) => names.slice(0, at + 1).join('/'))
  return [
    ...(own(rules.files, path) ?? []),
    ...folders.flatMap(each => own(rules.folders, each) ?? []),
    ...endings.flatMap(each => own(rules.suffixes, each) ?? []),
    ...rules.globs.filter(([globs, plain]) => meets(path, globs, plain)).map(each => each[2]),
  ]
}

const sorted = numbers => [...new Set(numbers)].sort((a, b) => a - b)

const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined)

const meets = (path, globs, plain) =>
  plain.startsWith(`${path}/`) || globs.some(glob => regex(glob).test(path))

const compiled = new Map()

/** A pattern as SQLite's GLOB and Python's fnmatch read it; throws for a range that is none. */
function regex(glob) {
  const known = compiled.get(glob)
  if (known) return known
  const body = glob.replace(/\[[!^]?\]?[^\]]*\]|./gsu, part => {
    if (part === '*') return '.*'
    if (part === '?') return '.'
    if (!/^\[.+\]$/s.test(part)) return part.replace(/[.*+?^${}()|[\]\\/]/, '\\$&')
    const isNegated = /^\[[!^]/.test(part)
    const set = part.slice(isNegated ? 2 : 1, -1).replace(/[\\[\]^]/g, '\\$&')
    return `[${isNegated ? '^' : ''}${set}]`
  })
  const made = new RegExp(`^${body}$`, 'su')
  compiled.set(glob, made)
  return made
}

function metByText(added, removed, rules) {
  if (rules.literals.length === 0) return []
  const now = added.toLowerCase(), before = removed.toLowerCase()
  return rules.literals
    .filter(([word, text]) => now.includes(word) && count(text, now) > count(text, before))
    .map(each => each[2])
}

const count = (part, text) => text.split(part).length - 1

/** @param {Call} call @param {Rules} rules @returns {number[] | null} */
function metByCommand(call, rules) {
  const command = call.input?.command
  if (call.tool !== 'Bash' || typeof command !== 'string') return null
  if (command.length > LONGEST.command || !/^[a-z][\w-]*( [\w./:=@%+,-]+)*$/.test(command)) return null
  if (OURS.test(command)) return null
  const words = command.split(' ')
  const met = (own(rules.commands, words[0]) ?? [])
    .filter(([wanted]) => isRunBy(wanted, words))
    .map(each => each[1])
  if (met.some(number => rules.ties[number][DENIES])) return met
  const lower = command.toLowerCase()
  const mayMean = [...rules.asks, ...rules.literals.map(each => each[0])]
  const only = rules.readers.includes(words[0]) || rules.readers.includes(words.slice(0, 2).join(' '))
  return only && !mayMean.some(each => lower.includes(each)) ? met : null
}

/** True if the words of a place stand in a command in their order. */
function isRunBy(wanted, words) {
  let at = 1
  return wanted.slice(1).every(each => (at = words.indexOf(each, at) + 1) > 0)
}

/** The surest tie of each memory, in the order in which memories are said. */
function surest(ties) {
  const best = new Map()
  for (const tie of ties) {
    const known = best.get(tie[MEMORY])
    if (known === undefined || tie[STRENGTH] < known[STRENGTH]) best.set(tie[MEMORY], tie)
  }
  return [...best.values()]
}
