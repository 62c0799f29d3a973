import type { CodeNode } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { RunRequest } from '#domain/run.ts'
import { languageName } from '#syntax/language-name.ts'
import { takes } from './node-work.ts'
import type { PinnedBundle } from './pinned-bundle.ts'

/**
 * INTAKE_007 when no node fits the languages and kinds of any bundle: the wrong agents were chosen, or the wrong files. That
 * nodes fit and none needs work is no error. The message says what the agents work on and what was found.
 */
export function requireFitting(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  { paths = [] }: Pick<RunRequest, 'paths'>,
): void {
  if (nodes.some((node) => bundles.some(({ bundle }) => takes(bundle, node)))) return
  if (nodes.length === 0 && paths.length > 0) {
    throw new AppError('INTAKE_007', `no source file matches the paths ${paths.join(', ')}`)
  }
  const worksOn = new Set(bundles.flatMap(({ bundle }) => bundle.file.languages))
  const inLanguage = nodes.filter(({ language }) => worksOn.has(language))
  const agents = bundles.length === 1 ? 'this agent works' : 'these agents work'
  const names = listed([...worksOn].map(languageName))
  if (inLanguage.length === 0) {
    throw new AppError('INTAKE_007', `${agents} on ${names}; found: ${filesFound(nodes)}`)
  }
  const kinds = new Set(bundles.flatMap(({ bundle }) => bundle.file.node_kinds))
  throw new AppError(
    'INTAKE_007',
    `${agents} on ${listed([...kinds])} nodes in ${names}; found: ${kindsFound(inLanguage)}`,
  )
}

function filesFound(nodes: readonly CodeNode[]): string {
  const files = nodes.filter(({ kind }) => kind === 'file')
  if (files.length === 0)
    return nodes.length === 0 ? 'no source files' : countsBy(nodes, ({ language }) => languageName(language), 'nodes')
  return countsBy(files, ({ language }) => languageName(language), 'files')
}

function kindsFound(nodes: readonly CodeNode[]): string {
  return countsBy(nodes, ({ kind }) => kind, 'nodes')
}

/** The most frequent first: `Go 41 files, Markdown 2 files`. */
function countsBy(nodes: readonly CodeNode[], nameOf: (node: CodeNode) => string, what: 'files' | 'nodes'): string {
  const counts = [...Map.groupBy(nodes, nameOf)].map(([name, group]) => ({ name, count: group.length }))
  const sorted = counts.toSorted((one, other) => other.count - one.count || (one.name < other.name ? -1 : 1))
  return sorted.map(({ name, count }) => `${name} ${count} ${count === 1 ? what.slice(0, -1) : what}`).join(', ')
}

function listed(names: readonly string[]): string {
  const sorted = [...new Set(names)].toSorted()
  return sorted.length < 2 ? sorted.join('') : `${sorted.slice(0, -1).join(', ')} and ${sorted.at(-1) ?? ''}`
}
