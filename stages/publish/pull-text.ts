import { checkOf, type Evidence, isMade } from '#domain/change-set.ts'
import { checkRows } from '#domain/checks.ts'
import type { Run } from '#domain/run.ts'
import type { GateReport } from '#domain/gate.ts'
import type { Composition } from '#store/objects/composition.ts'
import { type CommitWords, jointTitle, lintRulesOf } from './commit-message.ts'
import type { SizedCommit } from './plan-commits.ts'
import { cell, clipped, code, collapsed, plural, table } from './markdown.ts'

export type PullParts = Omit<CommitWords, 'run'> & {
  run: Pick<Run, 'runId' | 'commit'>
  composition: Pick<Composition, 'files'> & { gate?: Composition['gate'] }
  commits: readonly SizedCommit[]
  /** The branch that it is for; null: nobody knows. */
  target: string | null
  /** Counts the changes that were in it before this run. */
  carried: number
  /** Counts the changes that wait for a later one, since this one would be too large. */
  left: number
  /** Counts the changes of earlier runs that were in the pull request, and do not fit the code any more. */
  lost: number
  runUrl: string | undefined
  isRehearsal: boolean
  /** Is true when people may say what they want of it in comments. */
  takesComments: boolean
}

const proofs = new Map<string, string>(checkRows.map(({ check, proves }) => [check, proves]))
const shownFiles = 100
const shownRules = 20
const shownModels = 5
/** Bounds the list of files, in characters. */
const mostListed = 40_000
/** GitHub takes 65,536 characters. */
const mostCharacters = 60_000

/** Tells a person what they need to judge the pull request. */
export function pullText(parts: PullParts): { title: string; body: string } {
  const { commits, composition, left, lost, isRehearsal } = parts
  const body = [
    isRehearsal
      ? '> [!WARNING]\n> The rehearsal model (no LLM) has made these changes: they only show how it works.'
      : '',
    introOf(parts),
    agentsTable(parts),
    left === 0
      ? ''
      : `${plural(left, 'change')} more ${left === 1 ? 'waits' : 'wait'} for the next pull request, since this one would be too large (\`github.max_files\`, \`github.max_lines\`).`,
    lost === 0
      ? ''
      : `${plural(lost, 'earlier change')} left this pull request, since somebody has changed the same lines meanwhile.`,
    '### How it was checked',
    composition.gate === undefined
      ? '**Tests:** none were run, so this is a draft. `verify.command` in `remora.yaml` names the command that runs them.'
      : gateText(composition.gate),
    evidenceTable(composition),
    filesText(parts),
    howToReject(parts),
  ].filter((part) => part !== '')
  return { title: jointTitle(commits, parts), body: clipped(body.join('\n\n'), mostCharacters) }
}

function introOf({ run, commits, carried, target }: PullParts): string {
  const sets = commits.reduce((sum, { changeSetIds }) => sum + changeSetIds.length, 0)
  const at = run.commit === null ? '' : ` at ${run.commit}`
  const each = commits.length === 1 ? 'one commit' : `${commits.length} commits, one for each agent`
  const before = carried === 0 ? '' : ` ${carried} of them ${carried === 1 ? 'is' : 'are'} of earlier runs.`
  const to = target === null ? '' : ` to ${code(target)}`
  return `${plural(sets, 'change')}${to}${at}, in ${each}.${before}`
}

function agentsTable({ commits, descriptions, sets }: PullParts): string {
  const rows = commits.map((commit) => [
    code(commit.agent),
    `${cell(descriptions.get(commit.agent) ?? '')}${rulesText(lintRulesOf(commit, { sets }))}`,
    makersOf(commit, sets),
    String(commit.changeSetIds.length),
    String(commit.files.length),
    `+${commit.lines.added} −${commit.lines.removed}`,
  ])
  return table(['agent', 'what it does', 'made by', 'changes', 'files', 'lines'], rows)
}

/** What no model has made is a fix of a linter. */
function makersOf({ changeSetIds }: SizedCommit, sets: PullParts['sets']): string {
  const made = changeSetIds.flatMap((id) => sets.get(id) ?? [])
  const models = [...new Set(made.flatMap(({ model }) => model ?? []))].toSorted()
  const byRule = made.some(({ model }) => model === undefined) ? ['no model'] : []
  return [...byRule, ...models.slice(0, shownModels).map(code)].join(', ')
}

function rulesText(rules: readonly string[]): string {
  if (rules.length === 0) return ''
  const more = rules.length > shownRules ? ` and ${rules.length - shownRules} more` : ''
  return ` (rules ${rules.slice(0, shownRules).map(code).join(', ')}${more})`
}

/** Lists each check with the number of files for which it holds. One that could not be made, or does not apply, is counted apart. */
function evidenceTable({ files }: Pick<Composition, 'files'>): string {
  const evidence = files.flatMap((file) => file.evidence)
  const groups = Map.groupBy(evidence, checkOf)
  const rows = [...groups].map(([check, all]) => {
    const held = all.filter((proof) => proof.ok && isMade(proof))
    const inPart = held.filter((proof) => proof.inPart).length
    const count = (state: Evidence['check']) => all.filter((proof) => proof.check === state).length
    const [unchecked, inapplicable] = [count('not_checked'), count('not_applicable')]
    const meaning = `${proofs.get(check)}${check === 'docstring_only' ? needlessText(all) : ''}`
    const part = inPart === 0 ? '' : `, ${inPart} of them for some of the changes`
    const of = `${held.length}${part}${unchecked === 0 ? '' : `; ${unchecked} not checked`}${inapplicable === 0 ? '' : `; not applicable to ${inapplicable}`}`
    return [meaning, of, code(check)]
  })
  if (rows.length === 0) return 'Nothing was checked.'
  return table(['what was proved', 'files', 'check'], rows)
}

/** Only the evidence of a file in which a placeholder went with the docstring has a detail. */
function needlessText(evidence: readonly Evidence[]): string {
  const files = evidence.filter(({ ok, detail }) => ok && detail !== undefined).length
  return files === 0 ? '' : `, and in ${plural(files, 'file')} a \`pass\` or \`...\` went that it makes needless`
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
  return collapsed(plural(paths.length, 'file'), [...lines, ...more].join('\n'))
}

function howToReject({ run, runUrl, takesComments }: PullParts): string {
  const name = runUrl === undefined ? code(run.runId) : `[${run.runId}](${runUrl})`
  const change = '- **Change it:** commit to this branch. Remora leaves your commit alone, and adds nothing more here.'
  const ways = takesComments
    ? [
        '- **Reject a part:** comment `/remora reject PATH`, with a path, a path and the name of a definition, or a pattern such as `docs/**`. Its changes leave this branch, and the same ones are not proposed again.',
        '- **Reject everything:** close this pull request. The same changes are not proposed again.',
        change,
        '- **Ask:** `/remora explain PATH`, or the name of a definition instead, says how a change was made and checked. `/remora retry` works again on what failed.',
      ]
    : [`- **Reject a part:** \`remora review ${run.runId}\`, and publish again. Its changes leave this branch.`, change]
  const comments = takesComments ? 'Comments count from people who may write to this repository. ' : ''
  const end = `${comments}This is run ${name} of Remora; \`remora review ${run.runId}\` shows every change by itself.`
  return ['### If you do not want all of it', '', ...ways, '', end].join('\n')
}

/** Says whether the repository's own tests show that nothing got worse. */
export function gateText({ command, verdict, reason, tests, failingTotal: failing }: GateReport): string {
  if (verdict === 'unproved') {
    const why = reason === undefined ? '' : `: ${cell(reason)}`
    return `**Tests:** ${code(command)} could not tell whether something got worse${why}.`
  }
  const known = failing === 0 ? '' : ` The other ${failing} did not pass without them either, and judge nothing.`
  return tests === null
    ? `**Tests:** ${code(command)} passes with these changes, as it did without them.${known}`
    : `**Tests:** with these changes ${tests} of ${plural(tests + failing, 'test')} of ${code(command)} pass, all that passed without them.${known}`
}
