import type { CommandFigures, PlanFigures, WaitingFigures } from '../ledger/measure-redis.ts'
import type { MemoryFigures } from '../ledger/memory-curve.ts'
import { type Column, median, sectionHead, spread, table } from './markdown-report.ts'

export type LedgerFigures = {
  planned: number
  settled: number
  rounds: number
  redisVersion: string
  plans: { ledger: PlanFigures; floor: PlanFigures }[]
  commands: CommandFigures[]
  memory: MemoryFigures[]
  waiting: WaitingFigures
}

const aims = { planMs: 3_000, bytes: 1_200, settleMs: 0.3, waitingBytes: 10_000 }
const mebibyte = 2 ** 20

/** results/ledger.md. */
export function renderLedger(figures: LedgerFigures): string {
  const { redisVersion } = figures
  const heading = sectionHead('The ledger', { command: 'node bench/ledger-bench.ts', redisVersion })
  return [heading, planSection(figures), commandSection(figures), memorySection(figures), waitingSection(figures)].join(
    '\n',
  )
}

/** Whether the figures meet the aims, by their medians. */
export function meetsAims({ plans, commands, waiting }: LedgerFigures): boolean {
  const wallMs = median(plans.map(({ ledger }) => ledger.wallMs))
  const bytes = median(plans.map(({ ledger }) => ledger.bytesPerOperation))
  const settleMs = median(commands.map(({ settle }) => settle.commandMs))
  const waitingBytes = waiting.state + waiting.events
  return wallMs <= aims.planMs && bytes <= aims.bytes && settleMs <= aims.settleMs && waitingBytes <= aims.waitingBytes
}

function planSection({ plans, planned, rounds }: LedgerFigures): string {
  type Row = { name: string; pick: (figures: PlanFigures) => number; aim?: string }
  const columns: readonly Column<Row>[] = [
    ['', ({ name }) => name],
    ['ledger', spread(({ pick }) => plans.map(({ ledger }) => pick(ledger)), 0)],
    ['floor', spread(({ pick }) => plans.map((one) => pick(one.floor)), 0)],
    ['ratio', spread(({ pick }) => plans.map((one) => pick(one.ledger) / pick(one.floor)), 2, '×')],
    ['aim', ({ aim }) => aim ?? ''],
  ]
  const rows: readonly Row[] = [
    { name: 'wall time, ms', pick: (one) => one.wallMs, aim: `≤ ${count(aims.planMs)}` },
    { name: 'Redis: time in commands, ms', pick: (one) => one.commandMs },
    { name: 'Redis: CPU of the server, ms', pick: (one) => one.cpuMs },
    {
      name: 'memory per operation, bytes',
      pick: (one) => one.bytesPerOperation,
      aim: `≤ ${count(aims.bytes)}`,
    },
  ]
  return `## Planning ${count(planned)} operations

With ${count(planned)} dependencies, in slices of 1,000, on a Redis of its own on the same machine, append-only file on,
${rounds} rounds; median (min–max). The floor is one plain HSET an operation with the same bytes, in the same slices, one pipeline
each. What carries over to another machine is the ratio.

${table(columns, rows)}
`
}

function commandSection({ commands, settled, rounds }: LedgerFigures): string {
  type Row = { name: string; command: keyof CommandFigures; aim?: string }
  const columns: readonly Column<Row>[] = [
    ['command', ({ name }) => name],
    ['ms in the command', spread(({ command }) => commands.map((one) => one[command].commandMs), 3)],
    [
      'against the floor',
      spread(({ command }) => commands.map((one) => one[command].commandMs / one.floor.commandMs), 1, '×'),
    ],
    ['aim', ({ aim }) => aim ?? ''],
    ['CPU ms', spread(({ command }) => commands.map((one) => one[command].cpuMs), 3)],
  ]
  const rows: readonly Row[] = [
    { name: 'dispatch, per operation, by the hundred', command: 'dispatch' },
    { name: 'claim', command: 'claim' },
    { name: 'append', command: 'append' },
    { name: 'settle', command: 'settle', aim: `≤ ${aims.settleMs}` },
    { name: 'floor', command: 'floor' },
  ]
  return `## Redis' time per command

Of ${count(settled)} operations each, with 32 commands under way, by Redis' own count (\`INFO commandstats\`), and as CPU of the whole server; ${rounds} rounds, median (min–max). An
append brings three events. The floor is a script of one XADD and one HSET with a settle's bytes.

${table(columns, rows)}
`
}

function memorySection({ memory, planned }: LedgerFigures): string {
  const mib = (bytes = Number.NaN) => (bytes / mebibyte).toFixed(0)
  const at = ({ samples }: MemoryFigures, phase: string, which: number) =>
    samples.filter((one) => one.phase === phase).at(which)?.bytes
  const columns: readonly Column<MemoryFigures>[] = [
    ['', ({ name }) => name],
    ['planned, MiB', (one) => mib(at(one, 'plan', -1))],
    ['at most', ({ samples }) => mib(Math.max(...samples.map(({ bytes }) => bytes)))],
    ['run ended', (one) => mib(at(one, 'after', 0))],
    ['run forgotten', (one) => mib(at(one, 'after', -1))],
    ['events', ({ events }) => count(events)],
    ['of them archived', ({ archived }) => count(archived.events)],
  ]
  return `## Redis' memory over a run of ${count(planned)} operations

The run is played through the ledger without a worker: 18 events and three appends an operation; results are passed on and segments of
events archived every 1,024 operations. A forgotten run leaves the stream of results, which is cut by its own length.

${table(columns, memory)}

![Redis' memory during and after the run](../../docs/images/redis-memory.svg)
`
}

function waitingSection({ waiting }: LedgerFigures): string {
  const { operations, state, events } = waiting
  const total = ((state + events) * operations) / 1e6
  return `## Operations that wait for a person

${count(operations)} operations with a question wait in one run, each without process, lease or slot:
${count(Math.round(state))} bytes an operation more than a ready one takes, and ${count(Math.round(events))} in its events from its dispatch on, until these are
archived. Together ${total.toFixed(1)} MB; the aim is ${(aims.waitingBytes * 1000) / 1e6} MB for 1,000.
`
}

function count(value: number): string {
  return value.toLocaleString('en')
}
