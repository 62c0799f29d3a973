import type { CodeNode, EdgeDirection, EdgeKind, NodeEdge } from '#domain/code-node.ts'
import { parseRepoPath } from '#domain/repo-path.ts'
import { type ExternalFunction, ScriptError } from '#tool-scripts/script-call.ts'
import { optionalInteger, text } from './external-arguments.ts'

export const relationWords: Record<EdgeDirection, Record<EdgeKind, string>> = {
  out: { calls: 'Calls', inherits: 'Inherits from', tests: 'Tests', imports: 'Imports' },
  in: { calls: 'Called by', inherits: 'Inherited by', tests: 'Tested by', imports: 'Imported by' },
}

/** Finds the innermost node at a line of the run's snapshot, and its edges; undefined where none is known. */
export type FindRelated = (
  path: string,
  line: number,
) => Promise<{ node: CodeNode; edges: readonly NodeEdge[] } | undefined>

/** Makes `related_nodes`: the definition at a line, and what it needs and what needs it. */
export function relatedNodes(find: FindRelated): ExternalFunction {
  return async ([path, line]) => {
    const at = { path: parseRepoPath(text(path, 'path'), 'TOOL_007'), line: optionalInteger(line, 'line') }
    if (at.line === undefined) throw new ScriptError('TypeError', 'line must be an integer')
    const found = await find(at.path, at.line)
    if (found === undefined) throw new ScriptError('ValueError', `no node of this run is at ${at.path}:${at.line}`)
    const related = found.edges.map(({ direction, kind, certainty, node }) => {
      return { relation: relationWords[direction][kind], certainty, node: shown(node) }
    })
    return { node: shown(found.node), related }
  }
}

function shown(node: NodeEdge['node']) {
  const { kind, qualifiedName: name, path, startLine, endLine } = node
  return { kind, name, path, start_line: startLine, end_line: endLine }
}
