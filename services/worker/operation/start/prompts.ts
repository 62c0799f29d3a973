import { contextVariables } from '#bundles/context-variables.ts'
import type { PreparedBundle } from '../../agent/prepared-bundle.ts'
import { withToolGuide } from '../../agent/tool-guide.ts'
import { joinSections } from '../../context/render-context.ts'
import type { TargetNode } from '../../tools/target-node.ts'
import type { StartContext } from './start-context.ts'

export type Prompts = { system: string; node: string }

/**
 * The bundle's prompts, filled in for one node. What of the context neither of them names follows the second; where there
 * is none, both are what the bundle says, to the byte.
 */
export async function promptsFor(bundle: PreparedBundle, target: TargetNode, context: StartContext): Promise<Prompts> {
  const { source, start, end } = await target.locate()
  const { node } = target
  const { text } = target.rules
  const { systemPrompt, nodeContext } = bundle
  const variables = {
    node_text: source.slice(start, end),
    node_name: node.name,
    node_kind: node.kind,
    qualified_name: node.qualifiedName,
    file_path: node.path,
    language: node.language,
    docstring_style: text.docstringStyle,
    line_length: Math.min(text.lineLength, text.docLength ?? text.lineLength),
    settings: bundle.settings,
    ...context,
  }
  const unnamed = contextVariables.filter((name) => !systemPrompt.names.has(name) && !nodeContext.names.has(name))
  const about = nodeContext.render(variables)
  const added = joinSections(unnamed.map((name) => context[name]))
  const told = systemPrompt.render(variables)
  const system = bundle.toolGuide === undefined ? told : withToolGuide(told, bundle.toolGuide)
  return { system, node: added === '' ? about : `${about.trimEnd()}\n\n${added}\n` }
}
