import type { PreparedBundle } from '../agent/prepared-bundle.ts'
import type { TargetNode } from '../tools/target-node.ts'

export type Prompts = { system: string; node: string }

/** The bundle's prompts, filled in for one node. */
export async function promptsFor(bundle: PreparedBundle, target: TargetNode): Promise<Prompts> {
  const { source, start, end } = await target.locate()
  const { node } = target
  const variables = {
    node_text: source.slice(start, end),
    node_name: node.name,
    node_kind: node.kind,
    qualified_name: node.qualifiedName,
    file_path: node.path,
    language: node.language,
    settings: bundle.settings,
  }
  return { system: bundle.systemPrompt.render(variables), node: bundle.nodeContext.render(variables) }
}
