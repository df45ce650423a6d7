// The module that Claude Code runs. What only Python can tell is asked of the PreToolUse hook.

import { DENIES, decide, find, inside, named, pathOf, read, readConversation, say, sha256, targetOf } from './find.mjs'
import { COMMAND, DATA } from './place.mjs'

const ASK_MS = 4000, FRESH_MS = 1000
const MOST_ASKED = 2, MOST_ACTS = 12, MOST_CALLS = 20
const TOOLS = /^(Write|Edit|MultiEdit|NotebookEdit|Bash|PowerShell|Monitor|mcp__.*)$/
const PERSONS = ['composer', 'bridge', 'sdk']
const AGENT_NOTES = ['prompt_id', 'session_id', 'transcript_path', 'permission_mode']

const state = {
  session: '',
  looked: 0,
  /** By root: the name of the file, when it was looked at, its time and its rules. */
  roots: new Map(),
  hooked: new Map(),
  base: {},
  checked: 0,
  asked: 0,
  denied: 0,
  acts: [],
}

const note = line => void (state.acts = [...state.acts, line].slice(-MOST_ACTS))

/** Read again which projects there are, once a second at most. */
async function list($) {
  if (Date.now() - state.looked < FRESH_MS) return
  state.looked = Date.now()
  const listed = await $.fs.read(`${DATA}/client/projects.json`).then(JSON.parse).catch(() => ({}))
  const entries = Object.entries(listed).filter(each => /^[0-9a-f]{16}\.json$/.test(String(each[1])))
  state.roots = new Map(entries.map(([root, file]) => [root, state.roots.get(root) ?? { file, looked: 0 }]))
}

/** The rules of a project, looked at once a second at most; a damaged file counts as none. */
async function rulesOf($, root) {
  const known = state.roots.get(root)
  if (known === undefined || Date.now() - known.looked < FRESH_MS) return known?.rules
  known.looked = Date.now()
  const path = `${DATA}/client/${known.file}`
  const mtime = await $.fs.stat(path).then(stat => stat.mtimeMs).catch(() => 0)
  if (known.mtime === mtime) return known.rules
  known.mtime = mtime
  known.rules = (await read(await $.fs.read(path).catch(() => ''), root)) ?? undefined
  if (known.rules === undefined) note(`the rules of ${root} cannot be read: nothing is decided here for it`)
  return known.rules
}

const isAt = (path, root) => path === root || inside(path, root) !== ''

/** The nearest project above a path. */
const rootAt = path =>
  [...state.roots.keys()].filter(root => isAt(path, root)).sort((one, other) => other.length - one.length)[0]

/** Other projects that a command may reach from a folder, by a name of theirs in it. */
const rootsIn = (command, folder) =>
  [...state.roots.keys()].filter(root => {
    const name = inside(root, folder) || root.slice(root.lastIndexOf('/') + 1)
    return !isAt(folder, root) && command.includes(name)
  })

/** Where a path leads, and what is there; a path that is not there yet stands in its folder. */
async function placed($, path) {
  const stat = await $.fs.stat(path, { resolve: true }).catch(() => undefined)
  if (stat) return { real: stat.realPath ?? '', isOdd: stat.kind !== 'file' || !stat.realPath }
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const above = await $.fs.stat(path.slice(0, at), { resolve: true }).catch(() => undefined)
    if (above) return { real: `${above.realPath ?? ''}${path.slice(at)}`, isNew: true, isOdd: !above.realPath }
  }
  return { real: path, isNew: true }
}

/** What the person switched off, in their own environment and not in a clone's settings. */
async function isOff($, root) {
  if (!(await $.env.get('ADEMEM_DISABLE'))) return false
  for (const name of ['settings.json', 'settings.local.json']) {
    const text = await $.fs.read(`${root}/.claude/${name}`).catch(() => '')
    if (/ADEMEM_DISABLE|\\u00[45]/i.test(text)) return false
  }
  return true
}

/** The reason for which a call is denied; empty where it may run. */
async function judge($, e) {
  await list($)
  if (state.roots.size === 0) return ''
  const folder = await $.session.cwd()
  const path = pathOf(e)
  const place = path.startsWith('/') ? await placed($, path) : {}
  const call = { tool: e.tool, input: e.input, isAgent: Boolean(e.agentId), ...place }
  const own = rootAt(place.real || path || folder)
  const others = path === '' ? rootsIn(String(e.input?.command ?? ''), folder) : []
  const hasPassed = isHooked(e)
  for (const root of [own, ...others].slice(0, MOST_ASKED)) {
    const rules = root === undefined ? undefined : await rulesOf($, root)
    if (rules === undefined || rules.mode === 'off' || (await isOff($, root))) continue
    state.checked += 1
    const reason = await judgeBy($, e, call, rules, hasPassed && root === own, folder)
    if (reason !== '') {
      state.denied += 1
      note(`denied ${e.tool} ${targetOf(e.input).slice(0, 80)}`)
      return reason
    }
  }
  return ''
}

/** True if the hooks were asked about a call as it is now, and no other hook rewrote it. */
function isHooked(e) {
  const asked = state.hooked.get(e.tool_use_id)
  state.hooked.delete(e.tool_use_id)
  const isSame = ([key, value]) => !(key in asked) || JSON.stringify(asked[key]) === JSON.stringify(value)
  return asked !== undefined && Object.entries(e.input ?? {}).every(isSame)
}

async function judgeBy($, e, call, rules, hasPassed, folder) {
  const { verdict, ties } = find(call, rules)
  if (verdict === 'bound') {
    const messages = await $.session.messages({ as: 'api', ...(e.agentId && { agentId: e.agentId }) })
    const seen = readConversation(Array.isArray(messages) ? messages : [], rules, call.isAgent)
    const reason = decide(ties, rules, seen, targetOf(e.input))
    if (reason !== '' || hasPassed) return reason
  }
  if (hasPassed || verdict === 'silent' || (verdict === 'python' && e.isReadOnly)) return ''
  return ask($, e, rules, folder)
}

/** Give a call to Python, whose denial is passed on; without an answer the rules decide. */
async function ask($, e, rules, folder) {
  state.asked += 1
  const payload = {
    ...state.base,
    hook_event_name: 'PreToolUse',
    session_id: await $.session.id(),
    cwd: folder,
    tool_name: e.tool,
    tool_input: e.input,
    tool_use_id: e.tool_use_id ?? '',
    ...(e.agentId && { agent_id: e.agentId }),
  }
  const env = {
    CLAUDE_PROJECT_DIR: rules.root,
    ADEMEM_DATA_DIR: DATA,
    ADEMEM_PROJECT: '',
    ADEMEM_PREFIX: '',
  }
  const init = { cwd: rules.root, env, stdin: JSON.stringify(payload), timeoutMs: ASK_MS }
  const ran = await $.process.run(COMMAND, init).catch(() => ({ exitCode: 1, stdout: '' }))
  if (ran.exitCode !== 0) return withoutPython(e, rules)
  const said = ran.stdout.trim() === '' ? {} : JSON.parse(ran.stdout).hookSpecificOutput ?? {}
  const isDenied = ['deny', 'ask'].includes(said.permissionDecision)
  return isDenied ? String(said.permissionDecisionReason) : ''
}

function withoutPython(e, rules) {
  note(`Python did not answer about ${e.tool}`)
  const tie = named(JSON.stringify(e.input ?? ''), rules)
  if (tie !== undefined) return say(tie, rules)
  return rules.fail === 'closed' ? 'ademem: the guard did not answer; `ademem doctor` shows why' : ''
}

/** Leave a file for the doctor, once a session: `/clear` begins another one. */
async function begin($) {
  const id = await $.session.id()
  if (id !== state.session) await $.fs.write(`${DATA}/client/alive/${id}`, '')
  return (state.session = id)
}

export const register = on => {
  on('session.start', async ($, e, next) => {
    await begin($)
    await $.command.register({ name: 'ademem', description: 'What the module of ademem did in this session' })
    return next(e)
  }).catch(($, e, next) => next(e))

  on('prompt.submit', async ($, e, next) => {
    const kind = e.origin?.kind ?? 'unclassified'
    const text = new TextEncoder().encode(e.text)
    const written = { kind, person: PERSONS.includes(kind), sha256: await sha256(text) }
    await $.fs.write(`${DATA}/client/prompts/${await begin($)}`, `${JSON.stringify(written)}\n`)
    return next(e)
  }).catch(($, e, next) => next(e))

  on('classic.UserPromptSubmit', ($, e, next) => {
    state.base = Object.fromEntries(AGENT_NOTES.map(key => [key, e[key]]))
    return next(e)
  }).catch(($, e, next) => next(e))

  on('classic.PreToolUse', { tool: TOOLS }, ($, e, next) => {
    state.hooked = new Map([...state.hooked, [e.tool_use_id, e]].slice(-MOST_CALLS))
    return next(e)
  }).catch(($, e, next) => next(e))

  on('tool.check', { tool: TOOLS }, async ($, e, next) => {
    const verdict = await next(e) // of the hooks and of the client; it runs nothing
    if (verdict.decision === 'deny') return verdict
    const reason = await judge($, e)
    return reason === '' ? verdict : { decision: 'deny', reason }
  }).catch(async ($, e, next) => {
    if (e.isReadOnly) return next(e)
    state.looked = 0 // a worker that was lost took what was read with it
    await list($)
    const root = rootAt(pathOf(e) || (await $.session.cwd()))
    const rules = root === undefined ? undefined : await rulesOf($, root)
    const reason = rules === undefined || rules.mode === 'off' ? '' : withoutPython(e, rules)
    return reason === '' ? next(e) : { decision: 'deny', reason }
  })

  on('command.run', { command: 'ademem' }, async $ => {
    await list($)
    const root = rootAt(await $.session.cwd())
    const rules = root === undefined ? undefined : await rulesOf($, root)
    const inForce = rules?.ties.filter(tie => tie[DENIES]).length
    const first = rules === undefined ? 'no rules that can be read here' : `${root}: ${inForce} places of rules`
    const counts = `${state.checked} calls checked, Python asked ${state.asked} times, ${state.denied} denied`
    return { text: [first, counts, ...state.acts].join('\n'), isTextDisplayOnly: true }
  })
}
