import type { Composition } from '#objects/composition.ts'
import type { PlannedCommit } from '#domain/planned-commit.ts'
import type { Run } from '#domain/run.ts'
import type { GateReport } from '#domain/gate.ts'
import { cell, code, plural, table } from './markdown.ts'

export type PullParts = {
  run: Pick<Run, 'runId' | 'commit'>
  composition: Pick<Composition, 'files'> & { gate?: Composition['gate'] }
  commits: readonly PlannedCommit[]
  /** The agent whose pull request it is; null: that of all. */
  agent: string | null
  /** By agent. */
  descriptions: ReadonlyMap<string, string>
  /** What each change set was made for. */
  nodes: ReadonlyMap<string, { path: string; qualifiedName: string }>
  /** How many changes wait for a later one, since this one would be too large. */
  left: number
  /** How many changes of earlier runs were in the pull request, and do not fit the code any more. */
  lost: number
  runUrl: string | undefined
  isRehearsal: boolean
  /** Whether people may say what they want of it in comments. */
  takesComments: boolean
}

const shownFiles = 100
/** Of the list of files, in characters. */
const mostListed = 40_000
/** GitHub takes 65,536 characters. */
const mostCharacters = 60_000

/** What a person needs to judge the pull request: what was done and why, how it was proved, and how to say no to a part of it. */
export function pullText(parts: PullParts): { title: string; body: string } {
  const { commits, composition, run, left, lost, runUrl, isRehearsal } = parts
  const body = [
    isRehearsal
      ? '> [!WARNING]\n> The rehearsal model (no LLM) has made these changes: they only show how it works.'
      : '',
    introOf(parts),
    agentsTable(parts),
    '### How it was checked',
    evidenceTable(composition),
    composition.gate === undefined
      ? 'No gate: the repository names no command for its tests (`verify.command` in `remora.yaml`), so this is a draft.'
      : gateText(composition.gate),
    filesText(parts),
    left === 0
      ? ''
      : `${plural(left, 'change')} more wait for a later pull request, since this one would be too large.`,
    lost === 0 ? '' : `${plural(lost, 'earlier change')} left out, since the same lines were changed meanwhile.`,
    howToReject(parts),
    runUrl === undefined ? `Run ${code(run.runId)}.` : `Run [${run.runId}](${runUrl}).`,
  ].filter((part) => part !== '')
  return { title: titleOf(commits, parts.agent), body: clipped(body.join('\n\n')) }
}

function titleOf(commits: readonly PlannedCommit[], agent: string | null): string {
  const files = new Set(commits.flatMap((commit) => commit.files.map(({ path }) => path))).size
  const who = agent ?? [...new Set(commits.map((commit) => commit.agent))].join(', ')
  return `Remora: ${who} in ${plural(files, 'file')}`.slice(0, 200)
}

function introOf({ run, commits }: PullParts): string {
  const sets = commits.reduce((sum, { changeSetIds }) => sum + changeSetIds.length, 0)
  const at = run.commit === null ? '' : ` for ${run.commit}`
  return `${plural(sets, 'change')} in ${plural(commits.length, 'commit')}, one for each agent${at}.`
}

function agentsTable({ commits, descriptions }: PullParts): string {
  const rows = commits.map(({ agent, changeSetIds, files }) => [
    code(agent),
    cell(descriptions.get(agent) ?? ''),
    String(changeSetIds.length),
    String(files.length),
  ])
  return table(['agent', 'what it does', 'changes', 'files'], rows)
}

/** Each check with how often it passed. A check that could not be made is named, since it proves nothing. */
function evidenceTable({ files }: Pick<Composition, 'files'>): string {
  const evidence = files.flatMap((file) => file.evidence)
  const groups = Map.groupBy(evidence, ({ check, of }) => (check === 'not_checked' ? (of ?? check) : check))
  const rows = [...groups].map(([check, all]) => {
    const passed = all.filter((one) => one.ok && one.check !== 'not_checked').length
    const unchecked = all.filter((one) => one.check === 'not_checked').length
    const tools = [...new Set(all.map(({ tool }) => tool))].slice(0, 3)
    return [code(check), String(passed), unchecked === 0 ? '' : String(unchecked), tools.map(code).join(', ')]
  })
  if (rows.length === 0) return 'Nothing was checked.'
  return table(['check', 'files passed', 'not checked', 'by'], rows)
}

function filesText({ commits, nodes }: PullParts): string {
  const sets = new Map(commits.flatMap(({ changeSetIds }) => changeSetIds.map((id) => [id, nodes.get(id)] as const)))
  const paths = [...new Set(commits.flatMap((commit) => commit.files.map(({ path }) => path)))].toSorted()
  const lines = paths.slice(0, shownFiles).map((path) => {
    const names = [...sets.values()].flatMap((node) => (node?.path === path ? node.qualifiedName : []))
    const shown = [...new Set(names)].filter((name) => name !== path && !path.endsWith(`/${name}`))
    const list = shown.slice(0, 10).map(code).join(', ')
    return `- ${code(path)}${list === '' ? '' : `: ${list}${shown.length > 10 ? ` and ${shown.length - 10} more` : ''}`}`
  })
  // What comes after the list must not be cut.
  for (let length = lines.join('\n').length; length > mostListed;) length -= (lines.pop()?.length ?? length) + 1
  const more = paths.length > lines.length ? [`- and ${paths.length - lines.length} more`] : []
  return [`<details><summary>${plural(paths.length, 'file')}</summary>`, '', ...lines, ...more, '', '</details>'].join(
    '\n',
  )
}

function howToReject({ run: { runId }, takesComments }: PullParts): string {
  const how = takesComments
    ? [
        'Comment `/remora reject PATH` (a file or a glob): its changes leave this branch. `/remora explain OPERATION` says how a change',
        'came about, `/remora retry` does again what failed. What you close is not proposed again. A commit of yours on this branch is',
      ]
    : [
        `Reject it with \`remora review ${runId}\` and publish again: its changes leave this branch. A commit of yours on this branch is`,
      ]
  return ['### To say no to a part', '', ...how, 'never overwritten: then nothing more is published here.'].join('\n')
}

export function gateText({ command, verdict, reason, tests, failing }: GateReport): string {
  const known = failing.length === 0 ? '' : `; ${plural(failing.length, 'test')} failed before, too, and judged nothing`
  const what = tests === null ? 'its exit code' : `${plural(tests, 'test')} that passed before`
  return verdict === 'passed'
    ? `Gate ${code(command)}: passed, judged by ${what}${known}.`
    : `Gate ${code(command)}: not proved${reason === undefined ? '' : ` (${cell(reason)})`}.`
}

function clipped(text: string): string {
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}\n\n… (cut)`
}
