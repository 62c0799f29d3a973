import type { OperationFigures, OperationScale } from '../real/measure-operations.ts'
import type { CommandFigures } from '../real/measure-command.ts'
import type { SurveyFigures } from '../real/measure-survey.ts'
import type { RealTree } from '../subjects/real-trees.ts'
import { type Column, median, notProved, packageText, sectionHead, spread, table } from './markdown-report.ts'

export type RealRound = { survey: SurveyFigures; work: OperationFigures }
export type MeasuredTree = { tree: RealTree; rounds: readonly RealRound[] }

type Quantity = { name: string; of(round: RealRound): number; digits: number; aim?: string }

const survey: readonly Quantity[] = [
  { name: '`remora discover`, CPU s', of: ({ survey: { discover } }) => discover.cpuMs / 1000, digits: 1 },
  { name: 'dry run of lint and docstring, CPU s', of: ({ survey: { dryRun } }) => dryRun.cpuMs / 1000, digits: 1 },
  {
    name: 'dry run, wall s',
    of: ({ survey: { dryRun } }) => dryRun.wallMs / 1000,
    digits: 1,
  },
  {
    name: 'dry run against discover, CPU',
    of: ({ survey: { dryRun, discover } }) => dryRun.cpuMs / discover.cpuMs,
    digits: 2,
    aim: '≤ 2.2',
  },
  {
    name: 'wall time of the dry run against its CPU',
    of: ({ survey: { dryRun } }) => dryRun.wallMs / dryRun.cpuMs,
    digits: 2,
    aim: '≤ 0.65 when quiet',
  },
  {
    name: 'ast-grep’s scan for the definitions, CPU s',
    of: ({ survey: { astGrep } }) => astGrep.cpuMs / 1000,
    digits: 1,
  },
  { name: 'the linter’s own check, CPU s', of: ({ survey: { linter } }) => linter.cpuMs / 1000, digits: 1 },
]

const each = (of: (work: OperationFigures) => number) => {
  return ({ work }: RealRound) => of(work) / work.operations
}
const workerCpu = ({ spent: { cpu } }: OperationFigures) => cpu.worker + cpu.scripts
const elseCpu = ({ spent: { cpu } }: OperationFigures) => cpu.api + cpu.discovery + cpu.redis + cpu.s3

const operations: readonly Quantity[] = [
  { name: 'worker, CPU ms', of: each(workerCpu), digits: 1, aim: '≤ 12' },
  { name: 'API, discovery and both stores, CPU ms', of: each(elseCpu), digits: 1 },
  { name: 'Redis scripts', of: each(({ spent }) => spent.redis.scripts), digits: 1 },
  { name: 'Redis commands, those of scripts too', of: each(({ spent }) => spent.redis.commands), digits: 0 },
  { name: 'requests to the object store', of: each(({ spent }) => spent.storeRequests), digits: 1 },
  {
    name: 'requests to the model for a proposed change',
    of: ({ work }) => work.requests / work.proposed,
    digits: 2,
    aim: '≤ 1.15',
  },
  { name: 'tokens for a proposed change', of: ({ work }) => work.tokens / work.proposed, digits: 0, aim: '≤ 1300' },
  { name: 'the bare loop, CPU ms', of: ({ work: { bare } }) => bare.cpuMs / bare.docstrings, digits: 1 },
  { name: 'the bare loop, tokens', of: ({ work: { bare } }) => bare.tokens / bare.docstrings, digits: 0 },
]

const composition: readonly Quantity[] = [
  { name: 'files of the patch', of: ({ work }) => work.composition.files, digits: 0 },
  {
    name: 'composition, CPU ms for each',
    of: ({ work: { composition: made } }) => made.cpuMs / made.files,
    digits: 1,
  },
  {
    name: 'reading, hashing and parsing it, CPU ms',
    of: ({ work: { composition: made } }) => made.readingCpuMs / made.files,
    digits: 1,
  },
  {
    name: 'composition above reading',
    of: ({ work: { composition: made } }) => (made.cpuMs - made.readingCpuMs) / made.files,
    digits: 1,
    aim: '≤ 5',
  },
]

/** results/real.md. */
export function renderReal(
  measured: readonly MeasuredTree[],
  scale: OperationScale & { rounds: number; tookMs: number; load: number },
): string {
  const { limit, slots, rounds, load, tookMs } = scale
  const redisVersion = measured[0]?.rounds[0]?.work.redisVersion ?? ''
  const origin = { command: `node bench/real-bench.ts --limit ${limit}`, tookMs, redisVersion }
  const trees = measured.map(({ tree: { name, files, language } }) => `${name} (${files} files of ${language})`)
  return `${sectionHead('What runs of real repositories cost', origin)}${packageText('@ast-grep/napi')}, ${packageText('oxlint')}.

${trees.join(' and ')}, each ${rounds} times with nothing kept from before; medians (least–most). Beside it the machine had other
work: ${load.toFixed(1)} processes wanted its processors on the average. CPU is user and system time of a program and all that it starts.

The linter is Ruff for Python, oxlint for TypeScript, with the rules that Remora checks by default. Neither it nor ast-grep looks for
docstrings, or plans anything.

${quantities(survey, measured)}

A run of docstring is limited to ${limit} operations, ${slots} at once, with one worker and the rehearsal model (no LLM), each service a process of
its own, after a run of twenty. For each operation, between the first and the last:

${quantities(operations, measured)}

Commands and CPU are of the whole system, with its loops. The bare loop sends one request for
each of the same definitions and writes the answer into the file: no queue, no ledger, no evidence.

${quantities(composition, measured)}

The most memory of each process, in MB, of the largest of its kind:

${memory(measured)}
${notProved(measured.flatMap((one) => one.rounds.flatMap(({ work }) => work.faults)))}`
}

function quantities(rows: readonly Quantity[], measured: readonly MeasuredTree[]): string {
  const columns: readonly Column<Quantity>[] = [
    ['', ({ name }) => name],
    ...measured.map(({ tree, rounds }): Column<Quantity> => {
      return [tree.language, (row) => spread(() => rounds.map((round) => row.of(round)), row.digits)(row)]
    }),
    ['aim', ({ aim }) => aim ?? ''],
  ]
  return table(columns, rows)
}

type Peak = { what: string; program: string }

/** The processes that take more than a shell does. */
const leastMb = 20

function memory(measured: readonly MeasuredTree[]): string {
  const sources: readonly { what: string; of(round: RealRound): CommandFigures['peaksMb'] }[] = [
    { what: 'discover', of: (round) => round.survey.discover.peaksMb },
    { what: 'dry run', of: (round) => round.survey.dryRun.peaksMb },
    { what: 'ast-grep', of: (round) => round.survey.astGrep.peaksMb },
    { what: 'linter', of: (round) => round.survey.linter.peaksMb },
    { what: 'run', of: (round) => round.work.peaksMb },
  ]
  const peakOf = ({ rounds }: MeasuredTree, { what, program }: Peak) => {
    const source = sources.find((one) => one.what === what)
    const seen = rounds.flatMap((round) => (source?.of(round) ?? []).filter(([name]) => name === program))
    return seen.length === 0 ? undefined : median(seen.map(([, mb]) => mb))
  }
  const named = sources.flatMap(({ what, of }) => {
    const programs = measured
      .flatMap(({ rounds }) => rounds.flatMap(of))
      .flatMap(([name, mb]) => (mb < leastMb ? [] : [name]))
    return [...new Set(programs)].map((program): Peak => ({ what, program }))
  })
  const columns: readonly Column<Peak>[] = [
    ['', ({ what, program }) => `${what}: ${program}`],
    ...measured.map((one): Column<Peak> => [one.tree.language, (row) => peakOf(one, row)?.toFixed(0) ?? '']),
  ]
  return table(columns, named)
}
