import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { ProjectId } from '#domain/ids.ts'
import { compileTemplate, type Template } from '#bundles/template.ts'
import { openCachedAnswers } from '#platform/cached-answers.ts'
import { type CompiledScript, compileScript } from '#tool-scripts/compiled-script.ts'
import type { JsonSchema, ToolDefinition } from '#domain/turn.ts'
import { isRecord } from '#domain/json.ts'

/** A bundle ready to run: scripts compiled, templates parsed. Shared by all its attempts. */
export type PreparedBundle = {
  bundle: AgentBundle
  scripts: ReadonlyMap<string, CompiledScript>
  systemPrompt: Template
  nodeContext: Template
  toolGuide: string | undefined
  settings: Readonly<Record<string, unknown>>
}

/** Bundles by hash, prepared once per process. The content of a hash never changes, so nothing is refreshed. */
export function openPreparedBundles(
  load: (project: ProjectId, hash: string) => Promise<AgentBundle>,
  how: { toolGuide: boolean } = { toolGuide: false },
): (project: ProjectId, hash: string) => Promise<PreparedBundle> {
  const cache = openCachedAnswers<PreparedBundle>({ max: 200 })
  return (project, hash) => cache.get(`${project}/${hash}`, async () => prepareBundle(await load(project, hash), how))
}

async function prepareBundle(bundle: AgentBundle, how: { toolGuide: boolean }): Promise<PreparedBundle> {
  const { initial_context: prompts, settings, profile } = bundle.file
  const scripts = new Map<string, CompiledScript>()
  for (const [tool, script] of Object.entries(bundle.scripts)) scripts.set(tool, await compileScript(script, profile))
  return {
    bundle,
    scripts,
    systemPrompt: compileTemplate(prompts.system_prompt),
    nodeContext: compileTemplate(prompts.node_context),
    toolGuide: how.toolGuide ? toolGuide(bundle.tools) : undefined,
    settings: Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, setting.default])),
  }
}

/** Lists the tools, one line each, for the end of a system prompt: `open_file(path: string): Open a file.` */
export function toolGuide(tools: readonly ToolDefinition[]): string {
  const lines = tools.map(
    ({ name, description, parameters }) => `- ${name}(${argumentsOf(parameters)}): ${description}`,
  )
  return ['Tools:', ...lines].join('\n')
}

export function withToolGuide(systemPrompt: string, guide: string): string {
  return `${systemPrompt.trimEnd()}\n\n${guide}`
}

function argumentsOf({ properties, required }: JsonSchema): string {
  if (!isRecord(properties)) return ''
  const needed = new Set<unknown>(Array.isArray(required) ? required : [])
  return Object.entries(properties)
    .map(([name, schema]) => `${name}${needed.has(name) ? '' : '?'}: ${typeOf(schema)}`)
    .join(', ')
}

function typeOf(schema: unknown): string {
  if (!isRecord(schema)) return 'any'
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => JSON.stringify(value)).join(' | ')
  if (isRecord(schema['properties'])) return `{ ${argumentsOf(schema)} }`
  if (schema['type'] === 'array') return `list of ${typeOf(schema['items'])}`
  return typeof schema['type'] === 'string' ? schema['type'] : 'any'
}
