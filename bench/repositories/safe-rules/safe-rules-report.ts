import { sectionHead } from '../../reports/markdown-report.ts'
import { ruffVersion } from '../bench-packages.ts'
import { type CandidateRule, commentsThatMayGo, refusedOnGround, triedAsConfigured } from './candidate-rules.ts'
import type { RuleTrial } from './fix-tree.ts'
import type { CorpusFigures } from './measure-corpus.ts'
import type { SecondLook } from './second-look.ts'

type RuleFigures = CandidateRule & {
  /** By corpus, only those where it has a fix. Comments that its purpose is to remove do not count as lost. */
  trials: ReadonlyMap<string, RuleTrial>
  /** Tests its fixes change, with the corpus's name. */
  tests: readonly string[]
  /** Of `tests`, those that also change when the files of tests are left alone. */
  testsOfSources: readonly string[]
}

type Verdict = 'safe' | 'safe outside of tests' | 'refused' | 'not seen'

/** repositories/safe-rules.md */
export function renderSafeRules(
  rules: readonly RuleFigures[],
  { corpora, python, together }: { corpora: readonly string[]; python: string; together: readonly string[] },
): string {
  const of = (verdict: Verdict) => rules.filter((rule) => verdictOf(rule) === verdict)
  const facts = [`Ruff ${ruffVersion}`, `Python ${python}`]
  return `${sectionHead('Which fixes of Ruff are safe, as measured', { command: 'node bench/safe-rules-bench.ts', facts })}
Every stable rule that has a fix, over ${corpora.join(', ')}. First each rule alone, with the fixes that Ruff marks
safe: a comment is lost when it is there less often, and moved when its statement has none of the words it had. Then, in each corpus, the
fixes of all rules that nothing spoke against are made at once, and its tests run; when a test changes, halving finds the rules that do it.
A rule that changes no test once the files of tests are left alone is safe outside of tests. UP009, RUF100 and RUF102 may remove the
comments they are about. The figures of every rule are in [safe-rules.json](safe-rules.json).

${of('safe').length} safe, ${of('safe outside of tests').length} safe outside of tests, ${of('refused').length} refused, ${of('not seen').length} without a single fix here.
${together.length === 0 ? '' : `\nTests that only several rules together change: ${together.join(', ')}.\n`}
## Safe

\`${of('safe')
    .map(({ code }) => code)
    .join(' ')}\`

## Safe outside of the files of tests

${of('safe outside of tests').map(reasons).join('\n')}

## Refused

${of('refused').map(reasons).join('\n')}
`
}

/** Reasons to refuse a rule, besides tests. */
function objectionsTo({ code, trials }: RuleFigures): string[] {
  const all = [...trials.values()]
  const ground = refusedOnGround[code]
  const some = (count: number, what: string) => (count === 0 ? [] : [`${count} ${what}`])
  return [
    ...(ground === undefined ? [] : [ground]),
    ...some(all.flatMap(({ lost }) => lost).length, 'comments lost'),
    ...some(all.flatMap(({ moved }) => moved).length, 'comments moved to another statement'),
    ...some(all.flatMap(({ newFaults }) => newFaults).length, 'new F821, F811 or E9'),
  ]
}

function verdictOf(rule: RuleFigures): Verdict {
  if (objectionsTo(rule).length > 0 || rule.testsOfSources.length > 0) return 'refused'
  if (rule.tests.length > 0) return 'safe outside of tests'
  return rule.trials.size === 0 ? 'not seen' : 'safe'
}

/** repositories/safe-rules.json: a line for each rule that has a fix here. */
export function safeRulesJson(rules: readonly RuleFigures[]): string {
  const lines = rules.filter(({ trials }) => trials.size > 0).map((rule) => `  ${JSON.stringify(figuresOf(rule))}`)
  return `[\n${lines.join(',\n')}\n]\n`
}

const shownExamples = 2

function figuresOf(rule: RuleFigures) {
  const { code, name, tests, testsOfSources } = rule
  const trials = [...rule.trials.values()]
  const [lost, moved, newFaults] = [
    trials.flatMap((trial) => trial.lost),
    trials.flatMap((trial) => trial.moved),
    trials.flatMap((trial) => trial.newFaults),
  ]
  const faults = newFaults.map(({ file, line, rule: fault, message }) => `${file}:${line} ${fault} ${message}`)
  const examples = [lost, moved, faults, testsOfSources.length > 0 ? testsOfSources : tests].flatMap((texts) =>
    texts.slice(0, shownExamples),
  )
  return {
    rule: code,
    name,
    fixes: trials.reduce((sum, { fixes }) => sum + fixes, 0),
    corpora: trials.length,
    commentsLost: lost.length,
    commentsMoved: moved.length,
    newFaults: newFaults.length,
    testsChanged: tests.length,
    changedBySources: testsOfSources.length,
    verdict: verdictOf(rule),
    examples,
  }
}

function reasons(rule: RuleFigures): string {
  const tests = rule.tests.length === 0 ? [] : [`${rule.tests.length} tests changed`]
  return `- ${rule.code}: ${[...objectionsTo(rule), ...tests].join('; ')}`
}

/** The results of both looks at one corpus. */
export type Looks = { first: CorpusFigures; second: SecondLook }

/** The figures of each rule over all corpora. */
export function joinLooks(candidates: readonly CandidateRule[], measured: readonly Looks[]): RuleFigures[] {
  return candidates.map((rule) => {
    const { code } = rule
    const trials = new Map<string, RuleTrial>()
    const tests: string[] = []
    const testsOfSources: string[] = []
    for (const { first, second } of measured) {
      const trial = trialOf(code, { first, second })
      if (trial !== undefined && trial.fixes > 0) trials.set(first.name, trial)
      const named = (ids: readonly string[] = []) => ids.map((id) => `${first.name}: ${id}`)
      const byRemover = named(second.removers[code]?.tests)
      tests.push(...named(first.culprits[code]), ...byRemover)
      testsOfSources.push(...named(second.outsideOfTests[code]), ...byRemover)
    }
    return { ...rule, trials, tests, testsOfSources }
  })
}

/** The rule's trial, without the comments that its purpose is to remove. */
function trialOf(code: string, { first, second }: Looks): RuleTrial | undefined {
  const trial = first.trials[code]
  const remover = second.removers[code]
  if (triedAsConfigured.has(code))
    return remover && { fixes: remover.fixes, lost: remover.otherComments, moved: [], newFaults: [] }
  const purpose = commentsThatMayGo[code]
  if (trial === undefined || purpose === undefined) return trial
  return { ...trial, lost: trial.lost.filter((text) => !purpose.test(text)) }
}
