import { type Column, sectionHead, table } from '../../reports/markdown-report.ts'
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
  const seen = rules.filter(({ trials }) => trials.size > 0)
  const of = (verdict: Verdict) => rules.filter((rule) => verdictOf(rule) === verdict)
  const facts = [`Ruff ${ruffVersion}`, `Python ${python}`]
  return `${sectionHead('Which fixes of Ruff are safe, as measured', { command: 'node bench/safe-rules-bench.ts', facts })}
Every stable rule that has a fix, over ${corpora.join(', ')}. Per rule, alone: \`ruff check --isolated --target-version
py310 --fix --no-unsafe-fixes --select RULE\`, so only fixes that Ruff itself marks safe. A comment is lost when it is there
less often; it is moved when it stood at the end of a line and stands alone now or the reverse, or when its statement has none
of the words it had. New faults are F821, F811 and E9 that were not there. Then, in each corpus, the fixes of all rules
that nothing spoke against there are made at once, and its tests run (for the standard library: a part of its own, in a
copy of the interpreter without frozen modules); when a test changes, halving finds the rules that do it alone, and the
others are tried again until the whole suite passes. Fixtures that tests read as data are left as they are. A test that
compares its own source or line numbers changes with any edit of its file: a rule that changes no test once the files of
tests are left alone is safe outside of tests. UP009, RUF100 and RUF102 may remove the comments they are about; RUF100 is tried
with the configuration of the packages that have one, for what is unused depends on all rules they select.

${of('safe').length} safe, ${of('safe outside of tests').length} safe outside of tests, ${of('refused').length} refused, ${of('not seen').length} without a single fix here.
${together.length === 0 ? '' : `\nTests that only several rules together change: ${together.join(', ')}.\n`}
${verdictLists(of)}

## Every rule that has a fix here

${table(columns, seen)}

Not seen: \`${of('not seen')
    .map(({ code }) => code)
    .join(' ')}\`

## What speaks against the others

${[...of('refused'), ...of('safe outside of tests')].map(reasons).join('\n')}
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

function verdictLists(of: (verdict: Verdict) => readonly RuleFigures[]): string {
  const list = (verdict: Verdict) =>
    `\`${of(verdict)
      .map(({ code }) => code)
      .join(' ')}\``
  return [
    '## Safe',
    list('safe'),
    '## Safe outside of the files of tests',
    list('safe outside of tests'),
    '## Refused',
    list('refused'),
  ].join('\n\n')
}

const columns: readonly Column<RuleFigures>[] = [
  ['rule', ({ code, name }) => `${code} ${name}`],
  ['fixes', ({ trials }) => [...trials.values()].reduce((sum, { fixes }) => sum + fixes, 0)],
  ['in', ({ trials }) => trials.size],
  ['comments lost', countOf('lost')],
  ['moved', countOf('moved')],
  ['new faults', countOf('newFaults')],
  ['tests changed', ({ tests }) => tests.length],
  ['of them by sources', ({ testsOfSources }) => testsOfSources.length],
  ['verdict', verdictOf],
]

function countOf(what: 'lost' | 'moved' | 'newFaults'): (rule: RuleFigures) => number {
  return ({ trials }) => [...trials.values()].reduce((sum, trial) => sum + trial[what].length, 0)
}

const shownExamples = 2

function reasons(rule: RuleFigures): string {
  const all = [...rule.trials.values()]
  const examples = [
    ...all.flatMap(({ lost }) => lost).slice(0, shownExamples),
    ...all.flatMap(({ moved }) => moved).slice(0, shownExamples),
    ...all
      .flatMap(({ newFaults }) => newFaults)
      .map(({ file, line, rule: code, message }) => `${file}:${line} ${code} ${message}`)
      .slice(0, shownExamples),
    ...(rule.testsOfSources.length > 0 ? rule.testsOfSources : rule.tests).slice(0, shownExamples),
  ].map((text) => `\`${text.replaceAll('`', "'").replaceAll(/\s+/g, ' ').slice(0, 160)}\``)
  const tests = rule.tests.length === 0 ? [] : [`${rule.tests.length} tests changed`]
  const why = [...objectionsTo(rule), ...tests].join('; ')
  return `- ${rule.code}: ${why}${examples.length === 0 ? '' : `, such as ${examples.join(', ')}`}`
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
