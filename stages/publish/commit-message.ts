import type { ChangeSet } from '#domain/change-set.ts'
import type { CodeNode } from '#domain/code-node.ts'
import type { RunId } from '#domain/ids.ts'
import type { PlannedCommit } from '#domain/planned-commit.ts'
import { plural } from './markdown.ts'

/** Holds what the words of a message come from. */
export type CommitWords = {
  run: { runId: RunId }
  /** Says what each change set was made for, by its id. */
  /** By the ids of change sets. */
  nodes: ReadonlyMap<string, Pick<CodeNode, 'path' | 'qualifiedName'>>
  sets: ReadonlyMap<string, Pick<ChangeSet, 'rules' | 'model'>>
  /** The descriptions of agents, by their names. */
  descriptions: ReadonlyMap<string, string>
}

/** Stands in the last paragraph of every commit's message. A commit without it is a person's. */
export const runTrailer = 'Remora-Run'

const titleLength = 72
const andMore = ' and more'
const lineLength = 100
const shownFiles = 50
/** Has room for ` and 1000 more`. */
const moreLength = 14

/** Says what the agents that come with Remora do. */
const works: ReadonlyMap<string, string> = new Map([
  ['lint', 'Fix lint findings'],
  ['docstring', 'Document definitions'],
  ['test', 'Add tests'],
  ['sample_data', 'Add sample data'],
])

/** No text of a model is in it; names, paths and descriptions can neither mention anything nor look like a trailer or an order. */
export function commitMessage(commit: PlannedCommit, words: CommitWords): string {
  const { agent, files } = commit
  const names = namesByPath(commit, words)
  const listed = files.slice(0, shownFiles).map(({ path, content, baseHash }) => {
    const what = content === null ? ' (deleted)' : baseHash === null ? ' (new)' : ''
    return `- ${withNames(`${plain(path)}${what}`, (names.get(path) ?? []).map(plain))}`
  })
  const more = files.length > shownFiles ? [`- and ${files.length - shownFiles} more`] : []
  const rules = lintRulesOf(commit, words).map(plain)
  const why = rules.length === 0 ? [] : [withNames('Lint rules', rules), '']
  const trailers = [`${runTrailer}: ${words.run.runId}`, `Remora-Agent: ${clipped(plain(agent), lineLength)}`]
  return [titleOf(commit, words), '', ...why, ...listed, ...more, '', ...trailers, ''].join('\n')
}

function titleOf({ agent, files }: PlannedCommit, words: Pick<CommitWords, 'descriptions'>): string {
  const where = ` in ${plural(files.length, 'file')}`
  return `${workOf(agent, words, titleLength - where.length)}${where}`
}

/** Is what a squash merge takes as title. It has no numbers: a pull request keeps the title that it was opened with. */
export function jointTitle(commits: readonly PlannedCommit[], words: Pick<CommitWords, 'descriptions'>): string {
  const room = commits.length === 1 ? titleLength : titleLength - andMore.length
  const [first = '', ...others] = new Set(commits.map(({ agent }) => workOf(agent, words, room)))
  const all = [first, ...others.map((work) => work.charAt(0).toLowerCase() + work.slice(1))]
  const listed = all.length < 2 ? first : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
  return listed.length <= titleLength ? listed : `${first}${andMore}`
}

/** Says what an agent does, in the imperative, in at most so many characters. */
function workOf(agent: string, { descriptions }: Pick<CommitWords, 'descriptions'>, most: number): string {
  const known = works.get(agent)
  if (known !== undefined) return known
  // One line for `remora agents`, which begins with what the agent does.
  const [clause = ''] = plain(descriptions.get(agent) ?? '').split(/[.,;:!?](?:\s|$)/)
  const isClause = /^\p{Lu}\p{Ll}+ \S/u.test(clause) && clause.length <= most
  return isClause ? clause : `Apply agent ${clipped(plain(agent), Math.min(40, most - 'Apply agent '.length))}`
}

/** The rules of the mechanical fixes in the commit, sorted: what a model has changed names none. */
export function lintRulesOf({ changeSetIds }: PlannedCommit, { sets }: Pick<CommitWords, 'sets'>): string[] {
  return [...new Set(changeSetIds.flatMap((id) => sets.get(id)?.rules ?? []))].toSorted()
}

function namesByPath({ changeSetIds }: PlannedCommit, { nodes }: CommitWords): Map<string, string[]> {
  const named = changeSetIds.flatMap((id) => nodes.get(id) ?? [])
  const byFile = Map.groupBy(named, ({ path }) => path)
  return new Map(
    Array.from(byFile, ([path, all]) => {
      const names = all.map(({ qualifiedName }) => qualifiedName).filter((name) => name !== '' && name !== path)
      return [path, [...new Set(names)].toSorted()]
    }),
  )
}

/** Adds as many of the names as have room in the line. */
function withNames(subject: string, names: readonly string[]): string {
  let line = clipped(subject, lineLength)
  for (const [at, name] of names.entries()) {
    const longer = `${line}${at === 0 ? ': ' : ', '}${name}`
    const isLast = at === names.length - 1
    const room = lineLength - (isLast ? 0 : moreLength)
    if (longer.length > room) return at === 0 ? line : `${line} and ${names.length - at} more`
    line = longer
  }
  return line
}

/** Writes a text in one line without what a code host or git acts on: mentions, references, links, orders in brackets. */
function plain(text: string): string {
  return text
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .replaceAll('@', '(at)')
    .replaceAll('#', 'no. ')
    .replaceAll(/\bGH-(?=\d)/gi, 'GH ')
    .replaceAll(/:\/\//g, ': //')
    .replaceAll('[', '(')
    .replaceAll(']', ')')
    .replaceAll('***', '* * *')
    .trim()
}

function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`
}
