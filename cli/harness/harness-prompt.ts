import { join } from 'node:path'
import { bundleNames } from '#bundles/bundle-names.ts'
import { loadBundle } from '#bundles/load-bundle.ts'
import { resolveSettings } from '#bundles/resolve-settings.ts'
import { compileTemplate } from '#bundles/template.ts'
import { builtinAgents, harnessAgent } from '../run/known-agents.ts'

/**
 * The system prompt of the bundle `harness`: of the one in `agentsDir`, or where that folder has none, of the one that
 * comes with Remora. AGENT_001 for one that is broken, or whose system prompt speaks of a node.
 */
export async function harnessPrompt(agentsDir: string): Promise<string> {
  const names = await bundleNames(agentsDir)
  const { bundle } = await loadBundle(join(names.includes(harnessAgent) ? agentsDir : builtinAgents, harnessAgent))
  const settings = resolveSettings(bundle, {})
  return compileTemplate(bundle.file.initial_context.system_prompt).render({ settings })
}
