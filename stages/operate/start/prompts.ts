import { contextVariables } from '#bundles/prompt-variables.ts'
import { docLanguageOf } from '#languages/comments/doc-language.ts'
import { charactersPerToken } from '#domain/turn.ts'
import { type PreparedBundle, withToolGuide } from '../agent/prepared-bundle.ts'
import { joinSections } from '../context/render-context.ts'
import { faultContext, faultLines, lintNode, type LintDeps } from '../tools/lint/lint-node.ts'
import { nodeExcerpt } from '../tools/shorten.ts'
import { linesOfNode, type TargetNode } from '../tools/target-node.ts'
import type { StartContext } from './start-context.ts'

/** The share of a conversation's tokens that the node's text may take; tools and answers need the rest. */
const nodeShare = 1 / 3

export type PromptParts = {
  bundle: PreparedBundle
  target: TargetNode
  context: StartContext
  /** The context length of the model; undefined where no server reports it. */
  modelTokens: number | undefined
}

function indentedStart(source: string, start: number): number {
  const lineStart = source.lastIndexOf('\n', start - 1) + 1
  return source.slice(lineStart, start).trim() === '' ? lineStart : start
}

/** Fills in the prompts for one node; sections that neither names follow the second. A text too large for the model is shortened, or shown around its faults. */
export async function promptsFor(
  { bundle, target, context, modelTokens }: PromptParts,
  deps: LintDeps,
): Promise<{ system: string; node: string }> {
  const located = await target.locate()
  const { source, start, end } = located
  const lines = linesOfNode(located)
  const { node } = target
  const { text } = target.rules
  const { systemPrompt, nodeContext } = bundle
  const tokens = Math.min(bundle.bundle.file.limits.context_tokens, modelTokens ?? Infinity)
  const shown = { firstLine: lines.first, maxCharacters: Math.floor(tokens * charactersPerToken * nodeShare) }
  const asksFaults = systemPrompt.names.has('lint_faults') || nodeContext.names.has('lint_faults')
  const lint = asksFaults ? await lintNode(target, deps) : undefined
  const isTooLarge = end - start > shown.maxCharacters
  const showsFaults = lint !== undefined && (node.parentId === null || isTooLarge)
  const variables = {
    node_text: showsFaults
      ? faultContext(lint, shown.maxCharacters)
      : nodeExcerpt(source.slice(indentedStart(source, start), end), shown),
    node_name: node.name,
    node_kind: node.kind,
    node_start_line: lines.first,
    node_end_line: lines.last,
    qualified_name: node.qualifiedName,
    file_path: node.path,
    language: node.language,
    docstring_style: docLanguageOf(node.language)?.style ?? text.docstringStyle,
    line_length: Math.min(text.lineLength, text.docLength ?? text.lineLength),
    turns: bundle.bundle.file.turns,
    settings: bundle.settings,
    lint_faults: lint === undefined ? '' : faultLines(lint),
    ...context,
  }
  const unnamed = contextVariables.filter((name) => !systemPrompt.names.has(name) && !nodeContext.names.has(name))
  const about = nodeContext.render(variables)
  const added = joinSections(unnamed.map((name) => context[name]))
  const plain = systemPrompt.render(variables)
  const system = bundle.toolGuide === undefined ? plain : withToolGuide(plain, bundle.toolGuide)
  return { system, node: added === '' ? about : `${about.trimEnd()}\n\n${added}\n` }
}
