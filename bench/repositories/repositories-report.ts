import { type Column, sectionHead, table } from '../reports/markdown-report.ts'
import { ruffVersion } from './bench-packages.ts'
import { linterName, type Coverage } from './compare-states.ts'
import type { Diagnostic } from './diagnostics.ts'
import { findHarm, findIdleness, type MeasuredPackage, sumCoverage } from './measure-package.ts'
import { replyMs } from './run-remora.ts'
import type { Verdicts } from './sample.ts'

/** Says how many diagnostics of one package are named one by one. */
const namedDiagnostics = 20

export function renderRepositories(measured: readonly MeasuredPackage[], verdicts: Verdicts): string {
  const idle = findIdleness(measured)
  return `${sectionHead('Changes on repositories that nobody here wrote', { command: 'node bench/repositories-bench.ts' })}Ruff ${ruffVersion}.

\`remora run --agents lint,docstring\` with the rehearsal model, over sdists of PyPI as they are ([table](../repositories/bench-packages.ts)). Their
tests, linter and type checker run before and after; a test that does not pass after is run once more, alone, on both trees. Findings are
compared by file, rule and message. Faults with a safe fix are those that Ruff fixes safely under the repository's own rules, but for the rules
that [the record](../repositories/safe-rules.md) refuses; a definition is public as pydocstyle has it, \`__all__\` included.

${table(columns, measured)}

${totalsText(measured)}
${idle.length === 0 ? '' : `\nToo little is done: ${idle.join('; ')}.\n`}
${sampleText(verdicts)}
${measured.map(details).join('')}`
}

const columns: readonly Column<MeasuredPackage>[] = [
  ['', ({ one }) => `**${one.name}** ${one.version}`],
  ['tests passed → still', testsText],
  [
    'linter: findings, new',
    ({ one, before, after, comparison }) =>
      `${linterName(one)}: ${before.lint.length} → ${after.lint.length}, ${comparison.newLint.length} new`,
  ],
  ['types: errors, new', typesText],
  ['files changed', ({ hunks }) => new Set(hunks.map(({ file }) => file)).size],
  ['operations', ({ run }) => run.planned],
  ['requests, tokens for each proposed change', costText],
  ['time', ({ run }) => inSeconds(run.wallMs)],
  ['faults with a safe fix that are gone', ({ comparison }) => coverText(comparison.safeFaults)],
  ['public definitions that got a docstring', ({ comparison }) => coverText(comparison.docstrings)],
  ['verdict', (result) => (findHarm(result).length === 0 ? 'unharmed' : 'worse')],
]

function costText({ run }: Pick<MeasuredPackage, 'run'>): string {
  const asking = Object.entries(run.asked).filter(([, { requests, succeeded }]) => requests > 0 && succeeded > 0)
  const costs = asking.map(([name, { requests, tokens, succeeded }]) => {
    return `${name}: ${(requests / succeeded).toFixed(2)}, ${Math.round(tokens / succeeded)}`
  })
  return costs.length === 0 ? 'none asked' : costs.join('; ')
}

function testsText({ before, comparison: { worseTests, flakyTests } }: MeasuredPackage): string {
  const flaky = flakyTests.length === 0 ? '' : ` (${flakyTests.length} flaky)`
  return `${before.passed.length} → ${before.passed.length - worseTests.length}${flaky}`
}

function typesText({ one, before, after, comparison }: MeasuredPackage): string {
  if (one.types.length === 0) return 'none'
  const tools = [...new Set(one.types.map(({ tool }) => tool))].join(', ')
  return `${tools}: ${before.types.length} → ${after.types.length}, ${comparison.newTypes.length} new`
}

function totalsText(measured: readonly MeasuredPackage[]): string {
  const total = (of: (result: MeasuredPackage) => number) => measured.reduce((sum, result) => sum + of(result), 0)
  const faults = sumCoverage(measured.map(({ comparison }) => comparison.safeFaults))
  const docstrings = sumCoverage(measured.map(({ comparison }) => comparison.docstrings))
  const lost = total(({ comparison }) => comparison.lostComments.length)
  const foreign = total(({ comparison }) => comparison.foreignFiles.length)
  return `All together: ${total(({ run }) => run.tokens)} tokens, ${inSeconds(total(({ run }) => run.wallMs))}; ${coverText(faults)} of the faults and ${coverText(docstrings)} of the definitions. The time is that of the machinery: a reply takes
milliseconds; with ${replyMs / 1000} s a reply it is ${inSeconds(total(({ run }) => run.slowMs))}. The rest of the faults: ${restText(faults)}. The rest of the definitions: ${restText(docstrings)}.
${lost} comments lost, ${foreign} foreign files changed.`
}

function sampleText({ accepted, refused, open }: Verdicts): string {
  const unread = open === 0 ? '' : `, ${open} are not read yet`
  return `Of a [sample of ${accepted + refused + open} hunks](../repositories/sample.json) ${accepted} would be accepted and ${refused} refused${unread}.\n`
}

/** What went wrong in one package, item by item. */
function details({ one, run, comparison }: MeasuredPackage): string {
  const diagnosticLine = ({ file, line, rule, message }: Diagnostic) => `${file}:${line} ${rule} ${message}`
  const lists: [string, string[]][] = [
    ['tests that got worse', comparison.worseTests],
    ['tests that are flaky', comparison.flakyTests],
    ['new findings of its linter', comparison.newLint.map(diagnosticLine)],
    ['new type errors', comparison.newTypes.map(diagnosticLine)],
    ['comments lost', comparison.lostComments.map(({ file, text }) => `${file} ${text}`)],
    ['foreign files changed', comparison.foreignFiles],
    ['failures of the run', run.failures],
  ]
  const shown = lists.filter(([, items]) => items.length > 0)
  if (shown.length === 0) return ''
  const blocks = shown.map(([what, items]) => {
    const more = items.length > namedDiagnostics ? [`- … and ${items.length - namedDiagnostics} more`] : []
    return [
      `${items.length} ${what}:`,
      '',
      ...items.slice(0, namedDiagnostics).map((item) => `- ${codeSpan(item)}`),
      ...more,
      '',
    ].join('\n')
  })
  return `\n## ${one.name}\n\n${blocks.join('\n')}`
}

function codeSpan(text: string): string {
  const oneLine = text.replaceAll(/\s+/g, ' ').slice(0, 200)
  return `\`${oneLine.replaceAll('`', "'")}\``
}

function coverText({ possible, done }: Coverage): string {
  return possible === 0 ? 'none asked for' : `${done} of ${possible} (${Math.floor((done * 100) / possible)} %)`
}

function restText({ rest }: Coverage): string {
  return Object.entries(rest)
    .map(([reason, count]) => `${reason} ${count}`)
    .join(', ')
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`
}
