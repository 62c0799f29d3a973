import { type CodeNode, nodeView } from '#domain/code-node.ts'
import { nodePlace, plural } from '#domain/timeline/words.ts'
import { visibleName } from '../terminal-text.ts'
import type { SinceComparison } from './compare-since.ts'

type Change =
  | { what: 'added' | 'removed' | 'changed'; node: CodeNode; from: undefined }
  | { what: 'moved'; node: CodeNode; from: CodeNode }

/** Describes the differences file by file; of a file that was added, removed or moved as a whole only the number of its nodes. */
export function describeComparison(comparison: SinceComparison, since: string): string {
  const files = [...Map.groupBy(changesOf(comparison), ({ node }) => node.path)]
  const lines = files
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([path, changes]) => fileLines(path, changes))
  const { added, removed, changed, moved, unchanged, notCompared } = comparison
  const counts = Object.entries({ added, removed, changed, moved }).map(([what, nodes]) => `${nodes.length} ${what}`)
  if (lines.length > 0) lines.push('')
  lines.push(`Since ${since}: ${counts.join(', ')}, ${unchanged} unchanged`)
  if (notCompared.length > 0) lines.push(`Not compared, because skipped on one side: ${firstOf(notCompared)}`)
  return `${lines.join('\n')}\n`
}

const shown = 5

function firstOf(paths: readonly string[]): string {
  const named = paths.slice(0, shown).map(visibleName).join(', ')
  return paths.length <= shown ? named : `${named} … (${paths.length} files)`
}

function changesOf({ added, removed, changed, moved }: SinceComparison): Change[] {
  return [
    ...added.map((node): Change => ({ what: 'added', node, from: undefined })),
    ...removed.map((node): Change => ({ what: 'removed', node, from: undefined })),
    ...changed.map((node): Change => ({ what: 'changed', node, from: undefined })),
    ...moved.map(({ from, to }): Change => ({ what: 'moved', node: to, from })),
  ]
}

function fileLines(path: string, changes: readonly Change[]): string[] {
  const file = changes.find(({ node }) => node.kind === 'file')
  const inside = changes.filter(({ node }) => node.kind !== 'file')
  const own = inside.filter((change) => file === undefined || !goesWith(change, file))
  const more = inside.length - own.length
  const fate = file === undefined ? '' : `  ${file.what}${fromText(file)}`
  const head = `${visibleName(path)}${fate}${more === 0 ? '' : ` with ${plural(more, 'node')}`}`
  return [head, ...own.toSorted((left, right) => left.node.startByte - right.node.startByte).map(nodeLine)]
}

/** Is true when a node changed in the same way as its whole file. */
function goesWith({ what, from, node }: Change, file: Change): boolean {
  if (what === 'changed' || what !== file.what) return false
  return from === undefined || (from.path === file.from?.path && from.qualifiedName === node.qualifiedName)
}

function nodeLine(change: Change): string {
  const { what, node } = change
  const range = `${node.startLine}-${node.endLine}`
  return `  ${what.padEnd(8)} ${range.padEnd(11)} ${node.kind.padEnd(10)} ${node.qualifiedName}${fromText(change)}`
}

function fromText({ from, node }: Change): string {
  if (from === undefined) return ''
  if (from.kind === 'file') return ` from ${visibleName(from.path)}`
  return ` from ${from.path === node.path ? from.qualifiedName : nodePlace(from.path, from.qualifiedName)}`
}

/** Returns what `--since` adds to the JSON document of `discoveryTexts`. */
export function comparisonView({ added, removed, changed, moved, unchanged, notCompared }: SinceComparison) {
  return {
    added: added.map(nodeView),
    removed: removed.map(nodeView),
    changed: changed.map(nodeView),
    moved: moved.map(({ from, to }) => ({ from: nodeView(from), to: nodeView(to) })),
    unchanged,
    not_compared: notCompared,
  }
}
