import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { machineText } from '../reports/markdown-report.ts'
import { ruffVersion } from './bench-packages.ts'
import { linterName, type Coverage } from './compare-states.ts'
import { findHarm, findIdleness, sumCoverage } from './find-harm.ts'
import type { MeasuredPackage } from './measure-package.ts'
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
 * `replyMs`, on another machine of the kind, with other work beside it that yielded to it (nice 19).
 */
type FirstFigures = z.infer<typeof FirstFigures>

/** How many findings of one package are named one by one. */
const namedFindings = 20

export async function renderRepositories(measured: readonly MeasuredPackage[], verdicts: Verdicts): Promise<string> {
  const path = new URL('first-figures.json', import.meta.url)
  const first = FirstFigures.parse(JSON.parse(await readFile(path, 'utf8')))
  const idle = findIdleness(measured)
  return `# Changes on repositories that nobody here wrote

${machineText('node bench/repositories-bench.ts', {})}
Ruff ${ruffVersion}.

\`remora run --agents lint,docstring\` with the rehearsal model, over sdists of PyPI as they are
([table](../repositories/bench-packages.ts)), in virtual environments of their own. Their tests, linter and type
checker run before and after. A test counts when it passed before; one that does not pass after it is run once more,
alone, on both trees. Findings are compared one by one, by file, rule and message. Faults with a safe fix are those that
Ruff fixes safely under the repository's own rules, but for the rules that [the record](../repositories/safe-rules.md)
refuses; a definition is public as pydocstyle has it, \`__all__\` included.

${harmTable(measured)}

${workTable(measured, first)}

${coverageTable(measured)}
${idle.length === 0 ? '' : `\nToo little is done: ${idle.join('; ')}.\n`}
${sampleText(verdicts)}
${measured.map(details).join('')}`
}

function harmTable(measured: readonly MeasuredPackage[]): string {
  return table(
    [
      '',
      'version',
      'tests passed → still',
      'linter: findings, new',
      'types: errors, new',
      'comments lost',
      'foreign files',
      'exit',
      'verdict',
    ],
    measured.map((result) => {
      const { one, before, after, run, comparison } = result
      const still = before.passed.length - comparison.worseTests.length
      const types = one.types.length === 0 ? 'none' : [...new Set(one.types.map(({ tool }) => tool))].join(', ')
      return [
        `**${one.name}**`,
        one.version,
        `${before.passed.length} → ${still}${comparison.flakyTests.length === 0 ? '' : ` (${comparison.flakyTests.length} flaky)`}`,
        `${linterName(one)}: ${before.lint.length} → ${after.lint.length}, ${comparison.newLint.length} new`,
        types === 'none'
          ? types
          : `${types}: ${before.types.length} → ${after.types.length}, ${comparison.newTypes.length} new`,
        String(comparison.lostComments.length),
        String(comparison.foreignFiles.length),
        String(run.exitCode),
        findHarm(result).length === 0 ? 'unharmed' : 'worse',
      ]
    }),
  )
}

function workTable(measured: readonly MeasuredPackage[], first: FirstFigures): string {
  const head = [
    '',
    'files',
    'hunks of lint',
    'hunks of docstring',
    'nodes',
    'operations',
    'turns',
    'tokens (first)',
    'time (first)',
    `time with ${replyMs / 1000} s a reply (first)`,
    'left out',
    'failed',
  ]
  const rows = measured.map(({ one, run, hunks }) => {
    const of = (agent: string) => String(hunks.filter((hunk) => hunk.agent === agent).length)
    const then = first[one.name]
    return [
      `**${one.name}**`,
      String(new Set(hunks.map(({ file }) => file)).size),
      of('lint'),
      of('docstring'),
      String(run.nodes),
      `${run.planned}${then === undefined ? '' : ` (${then.planned})`}`,
      String(run.turns),
      `${run.tokens}${share(run.tokens, then?.tokens)}`,
      `${(run.wallMs / 1000).toFixed(0)} s${share(run.wallMs, then?.wallMs)}`,
      `${(run.slowMs / 1000).toFixed(0)} s${share(run.slowMs, then?.slowMs)}`,
      String(run.leftOut),
      String((run.endings['failed'] ?? 0) + (run.endings['blocked'] ?? 0)),
    ]
  })
  const tokens = sumPairs(measured.map(({ one, run }) => [run.tokens, first[one.name]?.tokens]))
  const ms = sumPairs(measured.map(({ one, run }) => [run.wallMs, first[one.name]?.wallMs]))
  const slow = sumPairs(measured.map(({ one, run }) => [run.slowMs, first[one.name]?.slowMs]))
  const note =
    'In brackets: of what the product took before it was changed for this bench (commit 5e5d684). With the rehearsal model a ' +
    'turn takes milliseconds, so its time is that of the machinery around a model; the other time is with ' +
    `\`REMORA_REHEARSAL_LATENCY_MS=${replyMs}\`. All together: ${tokens.now} tokens${share(tokens.now, tokens.first)}, ` +
    `${inSeconds(ms.now)}${share(ms.now, ms.first)}, with ${replyMs / 1000} s a reply ${inSeconds(slow.now)}${share(slow.now, slow.first)}.`
  return `${table(head, rows)}\n\n${note}`
}

function coverageTable(measured: readonly MeasuredPackage[]): string {
  const row = (name: string, faults: Coverage, docstrings: Coverage) => [
    name,
    coverText(faults),
    restText(faults),
    coverText(docstrings),
    restText(docstrings),
  ]
  const all = (pick: (one: MeasuredPackage) => Coverage) => sumCoverage(measured.map(pick))
  const head = [
    '',
    'faults with a safe fix that are gone',
    'the rest',
    'public definitions that got a docstring',
    'the rest',
  ]
  return table(head, [
    ...measured.map(({ one, comparison }) => row(`**${one.name}**`, comparison.safeFaults, comparison.docstrings)),
    row(
      'all',
      all(({ comparison }) => comparison.safeFaults),
      all(({ comparison }) => comparison.docstrings),
    ),
  ])
}

function sampleText({ accepted, refused, open }: Verdicts): string {
  const unread = open === 0 ? '' : `, ${open} are not read yet`
  return `Of a [sample of ${accepted + refused + open} hunks](../repositories/sample.md) ${accepted} would be accepted and ${refused} refused${unread}.\n`
}

/** What went wrong in one package, item by item. */
function details({ one, run, comparison }: MeasuredPackage): string {
  const finding = ({ file, line, rule, message }: { file: string; line: number; rule: string; message: string }) =>
    `${file}:${line} ${rule} ${message}`
  const lists: [string, string[]][] = [
    ['tests that got worse', comparison.worseTests],
    ['tests that are flaky', comparison.flakyTests],
    ['new findings of its linter', comparison.newLint.map(finding)],
    ['new type errors', comparison.newTypes.map(finding)],
    ['comments lost', comparison.lostComments.map(({ file, text }) => `${file} ${text}`)],
    ['foreign files changed', comparison.foreignFiles],
    ['failures of the run', run.failures],
  ]
  const shown = lists.filter(([, items]) => items.length > 0)
  if (shown.length === 0) return ''
  const blocks = shown.map(([what, items]) => {
    const more = items.length > namedFindings ? [`- … and ${items.length - namedFindings} more`] : []
    return [
      `${items.length} ${what}:`,
      '',
      ...items.slice(0, namedFindings).map((item) => `- ${codeSpan(item)}`),
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

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${' --- |'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
