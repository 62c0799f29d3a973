import type { Node, Tree } from 'web-tree-sitter'
import { hasCode } from '#domain/error.ts'
import { readChangedPart } from '#languages/python/changed-part.ts'
import { findDocstringSite, outermost } from '#languages/python/docstring-site.ts'
import { isTrivia } from '#languages/python/python-nodes.ts'
import { type Workspace, refusal } from '../../workspace/open-workspace.ts'
import type { LintDeps } from '../lint/lint-node.ts'
import { linesOfNode, type LocatedNode, type TargetNode } from '../target-node.ts'
import { optionalInteger, text } from './external-arguments.ts'
import type { ExternalFunction } from '#tool-scripts/script-call.ts'

/**
 * `edit_node`: replaces the text of the attempt's node, or some of its lines. Nothing outside the node changes.
 * Refuses, with a reason that lets the model correct it, a text that is not valid Python or that turns the node into
 * another definition or several.
 */
export function editNode(workspace: Workspace, target: TargetNode, deps: LintDeps): ExternalFunction {
  return async ([newText, startLine, endLine]) => {
    const located = await target.locate()
    const from = optionalInteger(startLine, 'start_line')
    const to = optionalInteger(endLine, 'end_line') ?? from
    if (from === undefined && to !== undefined) throw refusal('end_line needs start_line: name both')
    const written = text(newText, 'text').replaceAll(/\r\n?/g, '\n')
    const isWhole = from === undefined || to === undefined
    if (isWhole && target.node.parentId === null)
      throw refusal('the node is a whole file: name start_line and end_line of what to replace')
    const inFile = written.replaceAll('\n', newlineOf(located))
    // A node excludes its indentation and final newline, so they are trimmed from the new text.
    const edited = isWhole
      ? located.source.slice(0, located.start) + inFile.trim() + located.source.slice(located.end)
      : replaceLines(located, { from, to }, inFile)
    requireSameSurroundings(located, edited)
    if (target.node.language === 'python' || target.rules.lint.suffix !== undefined)
      await requireSoundNode(located, edited, target, deps)
    await workspace.writeText(target.node.path, edited)
    return { path: target.node.path, lines: written.split('\n').length }
  }
}

function newlineOf({ source, start, end }: LocatedNode): string {
  return (/\r\n|\r|\n/.exec(source.slice(start, end)) ?? /\r\n|\r|\n/.exec(source))?.[0] ?? '\n'
}

/** Lines are 1-based and inclusive, of the current file. */
function replaceLines(located: LocatedNode, { from, to }: { from: number; to: number }, written: string) {
  const lines = located.source.split(/(?<=\n|\r(?!\n))/) // each with its line ending
  const { first, last } = linesOfNode(located)
  if (from > to) throw refusal(`start_line (${from}) must be <= end_line (${to})`)
  if (from < first || to > last)
    throw refusal(`lines ${from} to ${to} are not in the node, which has lines ${first} to ${last}`)
  const replaced = lines[to - 1] ?? ''
  const lineEnd = /[\r\n]+$/.exec(replaced)?.[0] ?? ''
  const replacement = written === '' ? '' : `${written.replace(/(?:\r\n|\r|\n)$/, '')}${lineEnd}`
  return `${lines.slice(0, from - 1).join('')}${replacement}${lines.slice(to).join('')}`
}

/** The node's first and last line may contain more than the node, such as its indentation or a comment after it. */
function requireSameSurroundings({ source, start, end }: LocatedNode, edited: string): void {
  const [before, behind] = [source.slice(0, start), source.slice(end)]
  const isKept = edited.length >= before.length + behind.length && edited.startsWith(before) && edited.endsWith(behind)
  if (isKept) return
  const shown = [/[^\r\n]*$/.exec(before)?.[0], /^[^\r\n]*/.exec(behind)?.[0]].map((part) => JSON.stringify(part))
  throw refusal(
    `only the node may change: its first line begins with ${shown[0]} and its last line ends with ${shown[1]}`,
  )
}

async function requireSoundNode(
  located: LocatedNode,
  edited: string,
  target: TargetNode,
  deps: LintDeps,
): Promise<void> {
  const { source, start, end } = located
  const [had, has] = [await syntaxErrors(source, target, deps), await syntaxErrors(edited, target, deps)]
  const [fault] = has
  if (fault !== undefined && has.length > had.length) {
    const column = /[^\r\n]*$/.exec(source.slice(0, start))?.[0].length ?? 0
    const indented = column === 0 ? '' : `; the node is indented by ${column}, and so are all lines of its text`
    throw refusal(`the file would not parse: line ${fault.line}: ${fault.message}${indented}`)
  }
  if (target.node.parentId === null || target.node.language !== 'python') return
  const before = deps.python.read(source, (tree) => definitionAt(tree, start))
  const now = (tree: Tree) => definitionAt(tree, start)
  const after = readChangedPart(deps.python, [source, edited], ({ tree }) => now(tree)) ?? deps.python.read(edited, now)
  if (before === undefined) return
  const what = `the ${before.kind} ${before.name}`
  if (after === undefined) throw refusal(`the text must be ${what}`)
  if (after.kind !== before.kind || after.name !== before.name)
    throw refusal(`the text must be ${what}, and not the ${after.kind} ${after.name}`)
  if (after.next < end + edited.length - source.length) throw refusal(`the text must be ${what} and nothing else`)
}

async function syntaxErrors(source: string, target: TargetNode, { linter }: LintDeps) {
  try {
    return (await linter.lint(source, target.rules.lint)).syntaxErrors
  } catch (error) {
    if (!hasCode(error, 'TOOL_006')) throw error
    return [{ line: 1, message: error.message }]
  }
}

function definitionAt(tree: Tree, index: number) {
  const site = findDocstringSite(tree, index)
  if (site === undefined) return undefined
  const name = site.definition.childForFieldName('name')?.text ?? ''
  return { kind: site.kind, name, next: nextAfter(outermost(site.definition))?.startIndex ?? Infinity }
}

function nextAfter(node: Node): Node | undefined {
  for (let around: Node | null = node; around !== null; around = around.parent) {
    let next = around.nextSibling
    while (next !== null && isTrivia(next)) next = next.nextSibling
    if (next !== null) return next
  }
  return undefined
}
