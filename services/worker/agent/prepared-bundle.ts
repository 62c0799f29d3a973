import { LRUCache } from 'lru-cache'
import type { AgentBundle } from '#domain/agent-bundle.ts'
import type { ProjectId } from '#domain/ids.ts'
import { compileTemplate, type Template } from '#bundles/template.ts'
import { compileScript, type CompiledScript } from '#tool-scripts/compiled-script.ts'

/** A bundle ready to run: scripts compiled, templates parsed, tool table built. Shared by all its attempts. */
export type PreparedBundle = {
  bundle: AgentBundle
  scripts: ReadonlyMap<string, CompiledScript>
  systemPrompt: Template
  nodeContext: Template
  /** The settings a run gets when it asks for nothing else. */
  settings: Readonly<Record<string, unknown>>
}

export type BundleSource = (project: ProjectId, hash: string) => Promise<AgentBundle>

/** Bundles by hash, prepared once per process. A hash names one content for ever, so nothing is ever refreshed. */
export function openPreparedBundles(load: BundleSource): (project: ProjectId, hash: string) => Promise<PreparedBundle> {
  const prepared = new LRUCache<string, Promise<PreparedBundle>>({ max: 200 })
  return (project, hash) => {
    const key = `${project}/${hash}`
    const known = prepared.get(key)
    if (known !== undefined) return known
    const preparing = load(project, hash).then(prepareBundle)
    prepared.set(key, preparing)
    preparing.catch(() => prepared.delete(key))
    return preparing
  }
}

async function prepareBundle(bundle: AgentBundle): Promise<PreparedBundle> {
  const { initial_context: prompts, settings, profile } = bundle.file
  const scripts = new Map<string, CompiledScript>()
  for (const [tool, script] of Object.entries(bundle.scripts)) scripts.set(tool, await compileScript(script, profile))
  return {
    bundle,
    scripts,
    systemPrompt: compileTemplate(prompts.system_prompt),
    nodeContext: compileTemplate(prompts.node_context),
    settings: Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, setting.default])),
  }
}
