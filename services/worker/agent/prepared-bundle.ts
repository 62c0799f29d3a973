import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { ProjectId } from '#domain/ids.ts'
import { compileTemplate, type Template } from '#bundles/template.ts'
import { openKept } from '#platform/kept.ts'
import { toolGuide } from './tool-guide.ts'
import { compileScript, type CompiledScript } from '#tool-scripts/compiled-script.ts'

/** A bundle ready to run: scripts compiled, templates parsed, tool table built. Shared by all its attempts. */
export type PreparedBundle = {
  bundle: AgentBundle
  scripts: ReadonlyMap<string, CompiledScript>
  systemPrompt: Template
  nodeContext: Template
  /** What the system prompt ends with, where the worker is to tell the tools in it, too. */
  toolGuide: string | undefined
  /** The settings a run gets when it asks for nothing else. */
  settings: Readonly<Record<string, unknown>>
}

export type BundleSource = (project: ProjectId, hash: string) => Promise<AgentBundle>

/** Bundles by hash, prepared once per process. A hash names one content for ever, so nothing is ever refreshed. */
export function openPreparedBundles(
  load: BundleSource,
  how: { toolGuide: boolean } = { toolGuide: false },
): (project: ProjectId, hash: string) => Promise<PreparedBundle> {
  const kept = openKept<PreparedBundle>({ max: 200 })
  return (project, hash) => kept(`${project}/${hash}`, async () => prepareBundle(await load(project, hash), how))
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
