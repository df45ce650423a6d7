// A client of the official TypeScript SDK: node sdk_client.mjs CLIENT STDIO MODE < steps
// CLIENT and STDIO are modules of the package; steps and results are those of sdk_client.py.
import { readFileSync } from "node:fs";

const [clientModule, stdioModule, mode] = process.argv.slice(2);
const { Client } = await import(clientModule);
const { StdioClientTransport } = await import(stdioModule);
const { command, steps } = JSON.parse(readFileSync(0, "utf8"));

const options = mode ? { versionNegotiation: { mode } } : {};
const client = new Client({ name: "typescript", version: "1" }, options);
const [program, ...args] = command;
await client.connect(new StdioClientTransport({ command: program, args, env: process.env }));
const found = { ids: [], calls: [] };
const placed = (value) =>
  typeof value === "number" || !/^ID\d$/.test(value) ? value : found.ids[Number(value[2])];
found.tools = (await client.listTools()).tools;
for (const [name, given] of steps) {
  const entries = Object.entries(given).map(([key, value]) => [key, placed(value)]);
  const result = await client.callTool({ name, arguments: Object.fromEntries(entries) });
  if (name === "memory_add") found.ids.push(result.structuredContent.id);
  found.calls.push(result);
}
found.resources = (await client.listResources()).resources;
found.templates = (await client.listResourceTemplates()).resourceTemplates;
found.core = (await client.readResource({ uri: "memory://core" })).contents;
found.prompts = (await client.listPrompts()).prompts;
found.prompt = await client.getPrompt({ name: "recall", arguments: { words: "mirror" } });
const ref = { type: "ref/resource", uri: "memory://item/{id}" };
const argument = { name: "id", value: found.ids[0].slice(0, 4) };
found.completion = (await client.complete({ ref, argument })).completion;
await client.close();
console.log(JSON.stringify(found));
