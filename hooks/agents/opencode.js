// ademem: project memory in OpenCode. `ademem install --agent opencode` wrote this file, and
// `ademem uninstall --agent opencode` removes it. Each event becomes one of Claude Code's for the
// hooks of ademem; their answer becomes a part of the prompt, an error of the call, or its output.
import { spawn } from "node:child_process"

const python = "PYTHON"
const hooks = "HOOKS"
const TIMEOUT_MS = 10_000
const TOOLS = { bash: "Bash", write: "Write", edit: "Edit", webfetch: "WebFetch", websearch: "WebSearch" }
const BUILT_IN = /^(invalid|plan_enter|plan_exit)$/
const PATCH = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm

export const Ademem = async ({ directory, client }) => {
  const briefed = new Set() // sessions that had their briefing
  const children = new Map() // a subagent's session: its parent
  const held = new Map() // what memory has beside a call, until the call has a result
  const turns = new Map()

  const ask = (hook, event) =>
    new Promise((resolve) => {
      const env = { ...process.env, hook, python, hooks }
      const shell = spawn("sh", ["-c", 'trap "exit 0" 0; [ -r "$hooks/start.sh" ] && . "$hooks/start.sh"'],
        { cwd: directory, env, stdio: ["pipe", "pipe", "ignore"], timeout: TIMEOUT_MS })
      let text = ""
      shell.stdout.on("data", (chunk) => (text += chunk))
      shell.on("error", () => resolve({}))
      shell.on("close", () => {
        try { resolve(JSON.parse(text)) } catch { resolve({}) }
      })
      shell.stdin.on("error", () => {})
      shell.stdin.end(JSON.stringify(event))
    })

  const base = (session) => {
    const parent = children.get(session)
    const turn = turns.get(parent ?? session) ?? ""
    const agent = parent ? { agent_id: session, agent_type: "subagent" } : {}
    return { session_id: parent ?? session, prompt_id: turn, cwd: directory, ...agent }
  }
  const contextOf = (answer) => answer.hookSpecificOutput?.additionalContext ?? ""

  // The calls that our hooks know it by: of a patch one for each of its files, of a reading tool none.
  const calls = (tool, args) => {
    if (tool === "apply_patch" || tool === "patch")
      return [...String(args.patchText ?? "").matchAll(PATCH)].map((found) => ["Edit", { file_path: found[1] }])
    const mcp = tool.includes("_") && !BUILT_IN.test(tool) ? `mcp__${tool.replace("_", "__")}` : undefined
    const name = TOOLS[tool] ?? mcp
    return name ? [[name, args.filePath ? { ...args, file_path: args.filePath } : args]] : []
  }

  const lastText = async (session) => {
    const { data } = await client.session.messages({ path: { id: session } })
    const parts = data?.findLast((message) => message.info.role === "assistant")?.parts ?? []
    return parts.filter((part) => part.type === "text").map((part) => part.text).join("\n")
  }

  return {
    event: async ({ event }) => {
      const { sessionID: session, info } = event.properties ?? {}
      if (event.type === "session.created" && info?.parentID) children.set(info.id, info.parentID)
      if (event.type === "session.compacted") briefed.delete(session)
      if (event.type === "session.idle" && turns.has(children.get(session) ?? session)) {
        const hook = children.has(session) ? "subagent_stop" : "stop"
        await ask(hook, { ...base(session), last_assistant_message: await lastText(session) })
      }
      if (event.type === "session.deleted") await ask("session_end", { ...base(info.id), reason: "other" })
    },

    "chat.message": async ({ sessionID: session }, { message, parts }) => {
      const texts = []
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic)
      if (!children.has(session)) turns.set(session, message.id)
      if (!briefed.has(session)) {
        const hook = children.has(session) ? "subagent_start" : "session_start"
        texts.push(contextOf(await ask(hook, { ...base(session), source: "startup" })))
        briefed.add(session)
      }
      if (!children.has(session)) {
        const prompt = typed.map((part) => part.text).join("\n")
        texts.push(contextOf(await ask("user_prompt_submit", { ...base(session), prompt })))
      }
      texts.filter(Boolean).forEach((text, at) =>
        parts.push({ id: `prt_${message.id.slice(4)}${at}`, sessionID: session, messageID: message.id, type: "text", text, synthetic: true }))
    },

    "tool.execute.before": async ({ tool, sessionID: session, callID }, { args }) => {
      const texts = []
      for (const [tool_name, tool_input] of calls(tool, args)) {
        const call = { ...base(session), tool_name, tool_input, tool_use_id: callID }
        const answer = await ask("pre_tool_use", call)
        const output = answer.hookSpecificOutput ?? {}
        if (output.permissionDecision === "deny") {
          await ask("post_tool_batch", call) // the model reads the denial before its next message
          throw new Error(output.permissionDecisionReason)
        }
        texts.push(output.additionalContext ?? "")
      }
      held.set(callID, texts.filter(Boolean))
    },

    "tool.execute.after": async ({ tool, sessionID: session, callID, args }, result) => {
      const [[tool_name, tool_input] = []] = calls(tool, args)
      if (!tool_name) return
      const failed = Boolean(result.metadata?.exit)
      const event = { ...base(session), tool_name, tool_input, tool_use_id: callID }
      const more = failed
        ? await ask("post_tool_use_failure", { ...event, error: `Exit code ${result.metadata.exit}\n${result.output}` })
        : await ask("post_tool_use", { ...event, tool_response: { stdout: result.output ?? "" } })
      const texts = [...(held.get(callID) ?? []), contextOf(more)].filter(Boolean)
      held.delete(callID)
      if (texts.length) result.output = [result.output, ...texts].filter(Boolean).join("\n\n")
    },

    "shell.env": async ({ sessionID }, { env }) => {
      if (sessionID) env.ADEMEM_SESSION_ID = sessionID
    },

    dispose: async () => {
      for (const session of turns.keys()) await ask("session_end", { ...base(session), reason: "exit" })
    },
  }
}
