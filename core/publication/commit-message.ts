import type { CodeNode } from '#domain/code-node.ts'
import type { RunId } from '#domain/ids.ts'
import type { PlannedCommit } from '#domain/planned-commit.ts'

/** What the words of a message come from. */
export type CommitWords = {
  run: { runId: RunId }
  /** What each change set was made for, by its id. */
  nodes: ReadonlyMap<string, Pick<CodeNode, 'path' | 'qualifiedName'>>
  /** The descriptions of agents, by their names. */
  descriptions: ReadonlyMap<string, string>
}

/** In the last paragraph of every commit's message. A commit without it is a person's. */
export const runTrailer = 'Remora-Run'

const titleLength = 72
const lineLength = 100
const shownFiles = 50
const shownNames = 10

/** What the agents that come with Remora do to files. */
const titles: ReadonlyMap<string, string> = new Map([
  ['lint', 'Fix lint findings in'],
  ['docstring', 'Document definitions in'],
  ['test', 'Add tests in'],
  ['sample_data', 'Add sample data in'],
  ['article_section', 'Mend articles in'],
  ['article_summary', 'Add summaries in'],
])

/**
 * The message of a commit: what the agent did, to which definitions of which files, and the run. No text of a model is in it, and
 * names, paths and descriptions can neither mention or refer to anything, nor look like a trailer or an order to the code host.
 */
export function commitMessage(commit: PlannedCommit, words: CommitWords): string {
  const { agent, files } = commit
  const names = namesByPath(commit, words)
  const listed = files.slice(0, shownFiles).map(({ path, content, baseHash }) => {
    const what = content === null ? ' (deleted)' : baseHash === null ? ' (new)' : ''
    return `- ${clipped(`${plain(path)}${what}${listOf(names.get(path) ?? [])}`, lineLength)}`
  })
  const more = files.length > shownFiles ? [`- and ${files.length - shownFiles} more`] : []
  const trailers = [`${runTrailer}: ${words.run.runId}`, `Remora-Agent: ${plain(agent)}`]
  return [titleOf(commit, words), '', ...listed, ...more, '', ...trailers, ''].join('\n')
}

function titleOf({ agent, files }: PlannedCommit, { descriptions }: CommitWords): string {
  const count = files.length === 1 ? '1 file' : `${files.length} files`
  const known = titles.get(agent)
  if (known !== undefined) return `${known} ${count}`
  // One line for `remora agents`, which begins with what the agent does.
  const [clause = ''] = plain(descriptions.get(agent) ?? '').split(/[.,;:!?](?:\s|$)/)
  const own = `${clause} (${count})`
  const isClause = /^\p{Lu}\p{Ll}+ \S/u.test(clause) && own.length <= titleLength
  return isClause ? own : `Apply ${clipped(plain(agent), 40)} to ${count}`
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

function listOf(names: readonly string[]): string {
  if (names.length === 0) return ''
  const more = names.length > shownNames ? ` and ${names.length - shownNames} more` : ''
  return `: ${names.slice(0, shownNames).map(plain).join(', ')}${more}`
}

/**
 * A text of a repository or a bundle in one line, without what a code host or git acts on: mentions, references and links, which
 * can close issues, orders in brackets such as those that skip checks, and characters that nobody sees.
 */
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
