import { WorkspaceFault } from '../../workspace/workspace-fault.ts'
import type { Workspace } from '../../workspace/open-workspace.ts'
import type { TargetNode } from '../target-node.ts'
import { optionalInteger, text } from './host-arguments.ts'
import type { HostFunction } from './host-function.ts'

/** `edit_node` on the attempt's node: its new text, or that of some of its lines. Nothing outside the node changes. */
export function nodeFunctions(workspace: Workspace, target: TargetNode): Record<string, HostFunction> {
  return {
    async edit_node([newText, startLine, endLine]) {
      const located = await target.locate()
      const from = optionalInteger(startLine, 'start_line')
      const to = optionalInteger(endLine, 'end_line') ?? from
      if (from === undefined && to !== undefined) {
        throw new WorkspaceFault('refused', 'end_line needs start_line: name both')
      }
      const written = text(newText, 'text').replaceAll('\r\n', '\n')
      const isWhole = from === undefined || to === undefined
      if (isWhole && target.node.parentId === null) {
        throw new WorkspaceFault('refused', 'the node is a whole file: name start_line and end_line of what to replace')
      }
      const edited = isWhole ? replaceNode(located, written) : replaceLines(located, { from, to }, written)
      const newline = located.source.includes('\r\n') ? '\r\n' : '\n'
      await workspace.writeText(target.node.path, newline === '\n' ? edited : edited.replaceAll(/\r?\n/g, newline))
      return { path: target.node.path, lines: written.split('\n').length }
    },
  }
}

type Located = { source: string; start: number; end: number }

/** A node begins behind its indentation and ends before its newline; a text with either counts as without. */
function replaceNode({ source, start, end }: Located, written: string): string {
  return `${source.slice(0, start)}${written
    .replace(/^[ \t]*\n/, '')
    .trimStart()
    .trimEnd()}${source.slice(end)}`
}

/** Lines are 1-based and inclusive, of the file as it stands. */
function replaceLines({ source, start, end }: Located, { from, to }: { from: number; to: number }, written: string) {
  const lines = source.split('\n')
  const [first, last] = [lineAt(source, start), lineAt(source, Math.max(start, end - 1))]
  if (from > to) throw new WorkspaceFault('refused', `start_line (${from}) must be <= end_line (${to})`)
  if (from < first || to > last) {
    throw new WorkspaceFault(
      'refused',
      `lines ${from} to ${to} are not in the node, which has lines ${first} to ${last}`,
    )
  }
  const replacement = written === '' ? [] : written.replace(/\n$/, '').split('\n')
  return [...lines.slice(0, from - 1), ...replacement, ...lines.slice(to)].join('\n')
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length
}
