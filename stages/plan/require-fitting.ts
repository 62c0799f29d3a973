import type { CodeNode } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { pathGlobs } from '#domain/path-globs.ts'
import type { RunRequest } from '#domain/run.ts'
import { languageName, languageOf } from '#languages/syntax/grammars.ts'
import { takes } from './node-work.ts'
import type { PinnedBundle } from './pin-bundles.ts'

type Filters = Pick<RunRequest, 'paths' | 'exclude' | 'languages' | 'nodeKinds'>

/**
 * INTAKE_007 when no node fits the languages and kinds of any bundle: the wrong agents were chosen, or the wrong files. It
 * is no error if nodes fit and none needs work. The message says what the agents work on, what was found, and which filters
 * of the request left out files that would have fitted. `files` are those of the repository.
 */
export function requireFitting(
  nodes: readonly CodeNode[],
  bundles: readonly PinnedBundle[],
  request: Filters,
  files: readonly { path: string }[],
): void {
  if (nodes.some((node) => bundles.some(({ bundle }) => takes(bundle, node)))) return
  const worksOn = new Set(bundles.flatMap(({ bundle }) => bundle.file.languages))
  const inLanguage = nodes.filter(({ language }) => worksOn.has(language))
  const agents = bundles.length === 1 ? 'this agent works' : 'these agents work'
  const names = listed([...worksOn].map(languageName))
  if (inLanguage.length > 0) {
    const kinds = new Set(bundles.flatMap(({ bundle }) => bundle.file.node_kinds))
    const kindNames = inLanguage.map(({ kind }) => kind)
    const what = `${agents} on ${listed([...kinds])} nodes in ${names}; found: ${countsOf(kindNames, 'nodes')}`
    const others = request.nodeKinds?.length ? `; others are left out by --kinds ${request.nodeKinds.join(',')}` : ''
    throw new AppError('INTAKE_007', `${what}${others}`)
  }
  const leftOut = filesLeftOut(files, worksOn, request)
  if (nodes.length === 0 && leftOut === undefined && request.paths?.length) {
    throw new AppError('INTAKE_007', `no source file matches the paths ${request.paths.join(', ')}`)
  }
  const own = nodes.length === 0 && leftOut !== undefined ? [] : [filesFound(nodes)]
  throw new AppError('INTAKE_007', `${agents} on ${names}; found: ${own.concat(leftOut ?? []).join('; ')}`)
}

/**
 * `Python 12 files, left out by --languages go`: files in the agents' languages, among the paths that were asked for, and the
 * filters that left them out; undefined when there are none.
 */
function filesLeftOut(
  files: readonly { path: string }[],
  worksOn: ReadonlySet<string>,
  { paths = [], exclude = [], languages = [], nodeKinds = [] }: Filters,
): string | undefined {
  const isAsked = paths.length === 0 ? () => true : pathGlobs(paths)
  const isExcluded = exclude.length === 0 ? () => false : pathGlobs(exclude)
  const filters = new Set<string>()
  const names = files.flatMap(({ path }) => {
    const language = languageOf(path)
    if (language === undefined || !worksOn.has(language) || !isAsked(path)) return []
    if (languages.length > 0 && !languages.includes(language)) filters.add(`--languages ${languages.join(',')}`)
    else if (isExcluded(path)) filters.add(`--exclude ${exclude.join(' ')}`)
    else if (nodeKinds.length > 0) filters.add(`--kinds ${nodeKinds.join(',')}`)
    else return []
    return [languageName(language)]
  })
  return names.length === 0 ? undefined : `${countsOf(names, 'files')}, left out by ${listed([...filters])}`
}

function filesFound(nodes: readonly CodeNode[]): string {
  if (nodes.length === 0) return 'no source files'
  const files = nodes.filter(({ kind }) => kind === 'file')
  const names = (files.length === 0 ? nodes : files).map(({ language }) => languageName(language))
  return countsOf(names, files.length === 0 ? 'nodes' : 'files')
}

/** The most frequent first: `Go 41 files, Markdown 2 files`. */
function countsOf(names: readonly string[], what: 'files' | 'nodes'): string {
  const counts = [...Map.groupBy(names, (name) => name)].map(([name, group]) => ({ name, count: group.length }))
  const sorted = counts.toSorted((left, right) => right.count - left.count || (left.name < right.name ? -1 : 1))
  return sorted.map(({ name, count }) => `${name} ${count} ${count === 1 ? what.slice(0, -1) : what}`).join(', ')
}

/** Lists names in alphabetical order, each once: `Go, Python and TypeScript`. */
export function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format([...new Set(names)].toSorted())
}
