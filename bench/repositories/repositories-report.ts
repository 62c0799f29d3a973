import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { type Column, sectionHead, table } from '../reports/markdown-report.ts'
import { ruffVersion } from './bench-packages.ts'
import { linterName, type Coverage } from './compare-states.ts'
import type { Diagnostic } from './diagnostics.ts'
import { findHarm, findIdleness, type MeasuredPackage, sumCoverage } from './measure-package.ts'
import { replyMs } from './run-remora.ts'
import type { Verdicts } from './sample.ts'

const FirstFigures = z.record(
  z.string(),
  z.strictObject({
    planned: z.number(),
    turns: z.number(),
    tokens: z.number(),
    wallMs: z.number().optional(),
    slowMs: z.number().optional(),
  }),
)
/**
 * By package: what a run took before the product was changed for this bench (commit 5e5d684). `wallMs` was measured on
 * 2026-11-23, one package after the other, on the machine of the figures of that day; so was `slowMs`, the time with replies of
 * `replyMs`, on another machine of the kind, with other work next to it that yielded to it (nice 19).
 */
type FirstFigures = z.infer<typeof FirstFigures>

/** Says how many diagnostics of one package are named one by one. */
const namedDiagnostics = 20

export async function renderRepositories(measured: readonly MeasuredPackage[], verdicts: Verdicts): Promise<string> {
  const path = new URL('first-figures.json', import.meta.url)
  const first = FirstFigures.parse(JSON.parse(await readFile(path, 'utf8')))
  const idle = findIdleness(measured)
  return `${sectionHead('Changes on repositories that nobody here wrote', { command: 'node bench/repositories-bench.ts' })}Ruff ${ruffVersion}.

\`remora run --agents lint,docstring\` with the rehearsal model, over sdists of PyPI as they are
([table](../repositories/bench-packages.ts)), in virtual environments of their own. Their tests, linter and type
checker run before and after. A test counts when it passed before; one that does not pass after it is run once more,
alone, on both trees. Findings are compared one by one, by file, rule and message. Faults with a safe fix are those that
Ruff fixes safely under the repository's own rules, but for the rules that [the record](../repositories/safe-rules.md)
refuses; a definition is public as pydocstyle has it, \`__all__\` included.

${table(harmColumns, measured)}

${workTable(measured, first)}

${coverageTable(measured)}
${idle.length === 0 ? '' : `\nToo little is done: ${idle.join('; ')}.\n`}
${sampleText(verdicts)}
${measured.map(details).join('')}`
}

const harmColumns: readonly Column<MeasuredPackage>[] = [
  ['', ({ one }) => `**${one.name}**`],
  ['version', ({ one }) => one.version],
  ['tests passed → still', testsText],
  [
    'linter: findings, new',
    ({ one, before, after, comparison }) =>
      `${linterName(one)}: ${before.lint.length} → ${after.lint.length}, ${comparison.newLint.length} new`,
  ],
  ['types: errors, new', typesText],
  ['comments lost', ({ comparison }) => comparison.lostComments.length],
  ['foreign files', ({ comparison }) => comparison.foreignFiles.length],
  ['exit', ({ run }) => String(run.exitCode)],
  ['verdict', (result) => (findHarm(result).length === 0 ? 'unharmed' : 'worse')],
]

function testsText({ before, comparison: { worseTests, flakyTests } }: MeasuredPackage): string {
  const flaky = flakyTests.length === 0 ? '' : ` (${flakyTests.length} flaky)`
  return `${before.passed.length} → ${before.passed.length - worseTests.length}${flaky}`
}

function typesText({ one, before, after, comparison }: MeasuredPackage): string {
  if (one.types.length === 0) return 'none'
  const tools = [...new Set(one.types.map(({ tool }) => tool))].join(', ')
  return `${tools}: ${before.types.length} → ${after.types.length}, ${comparison.newTypes.length} new`
}

function workTable(measured: readonly MeasuredPackage[], first: FirstFigures): string {
  const hunksOf = (agent: string) => (one: MeasuredPackage) => one.hunks.filter((hunk) => hunk.agent === agent).length
  const before = ({ one }: MeasuredPackage) => first[one.name]
  const columns: readonly Column<MeasuredPackage>[] = [
    ['', ({ one }) => `**${one.name}**`],
    ['files', ({ hunks }) => new Set(hunks.map(({ file }) => file)).size],
    ['hunks of lint', hunksOf('lint')],
    ['hunks of docstring', hunksOf('docstring')],
    ['nodes', ({ run }) => run.nodes],
    ['operations', (one) => `${one.run.planned}${before(one) === undefined ? '' : ` (${before(one)?.planned})`}`],
    ['turns', ({ run }) => run.turns],
    ['tokens (first)', (one) => `${one.run.tokens}${share(one.run.tokens, before(one)?.tokens)}`],
    ['time (first)', (one) => `${inSeconds(one.run.wallMs)}${share(one.run.wallMs, before(one)?.wallMs)}`],
    [
      `time with ${replyMs / 1000} s a reply (first)`,
      (one) => `${inSeconds(one.run.slowMs)}${share(one.run.slowMs, before(one)?.slowMs)}`,
    ],
    ['left out', ({ run }) => run.leftOut],
    ['failed', ({ run }) => (run.endings['failed'] ?? 0) + (run.endings['blocked'] ?? 0)],
  ]
  const tokens = sumPairs(measured.map(({ one, run }) => [run.tokens, first[one.name]?.tokens]))
  const ms = sumPairs(measured.map(({ one, run }) => [run.wallMs, first[one.name]?.wallMs]))
  const slow = sumPairs(measured.map(({ one, run }) => [run.slowMs, first[one.name]?.slowMs]))
  const note =
    'In brackets: of what the product took before it was changed for this bench (commit 5e5d684). With the rehearsal model a ' +
    'turn takes milliseconds, so its time is that of the machinery around a model; the other time is with ' +
    `\`REMORA_REHEARSAL_LATENCY_MS=${replyMs}\`. All together: ${tokens.now} tokens${share(tokens.now, tokens.first)}, ` +
    `${inSeconds(ms.now)}${share(ms.now, ms.first)}, with ${replyMs / 1000} s a reply ${inSeconds(slow.now)}${share(slow.now, slow.first)}.`
  return `${table(columns, measured)}\n\n${note}`
}

type CoverageRow = { name: string; faults: Coverage; docstrings: Coverage }

const coverageColumns: readonly Column<CoverageRow>[] = [
  ['', ({ name }) => name],
  ['faults with a safe fix that are gone', ({ faults }) => coverText(faults)],
  ['the rest', ({ faults }) => restText(faults)],
  ['public definitions that got a docstring', ({ docstrings }) => coverText(docstrings)],
  ['the rest', ({ docstrings }) => restText(docstrings)],
]

function coverageTable(measured: readonly MeasuredPackage[]): string {
  const rows = measured.map(({ one, comparison: { safeFaults: faults, docstrings } }): CoverageRow => {
    return { name: `**${one.name}**`, faults, docstrings }
  })
  const all = {
    name: 'all',
    faults: sumCoverage(rows.map(({ faults }) => faults)),
    docstrings: sumCoverage(rows.map(({ docstrings }) => docstrings)),
  }
  return table(coverageColumns, [...rows, all])
}

function sampleText({ accepted, refused, open }: Verdicts): string {
  const unread = open === 0 ? '' : `, ${open} are not read yet`
  return `Of a [sample of ${accepted + refused + open} hunks](../repositories/sample.md) ${accepted} would be accepted and ${refused} refused${unread}.\n`
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

function share(now: number, then: number | undefined): string {
  return then === undefined || then === 0 ? '' : ` (${((now * 100) / then).toFixed(1)} %)`
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`
}

/** Only of the pairs that have both. */
function sumPairs(pairs: readonly (readonly [now: number, first: number | undefined])[]) {
  const sum = { now: 0, first: 0 }
  for (const [now, first] of pairs) {
    if (first === undefined) continue
    sum.now += now
    sum.first += first
  }
  return sum
}
