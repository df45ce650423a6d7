// Judges calls with the module's pure part: one object of {file, root, calls} in, verdicts out.
import { readFileSync } from 'node:fs'
import { webcrypto } from 'node:crypto'

globalThis.crypto ??= webcrypto
const { decide, find, named, read, say, targetOf } = await import(process.argv[2])
const { file, root, calls } = JSON.parse(readFileSync(0, 'utf8'))
const rules = await read(readFileSync(file, 'utf8'), root)

function judge(call) {
  const { verdict, ties } = find(call, rules)
  const said = call.isShown ? rules.memories.map(each => each.id).join(' ') : ''
  const seen = { turn: said, context: said, denied: [] }
  const reason = verdict === 'bound' ? decide(ties, rules, seen, targetOf(call.input)) : ''
  const tie = named(JSON.stringify(call.input), rules)
  return { verdict, reason, withoutPython: tie ? say(tie, rules) : '' }
}

process.stdout.write(JSON.stringify(rules && calls.map(judge)))
