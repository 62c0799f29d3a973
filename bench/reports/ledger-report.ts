import { machineText, median, spreadText } from './markdown-report.ts'
import type { CommandFigures, PlanFigures, WaitingFigures } from '../ledger/measure-redis.ts'
import type { MemoryFigures } from '../ledger/memory-curve.ts'

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
  const heading = `# The ledger\n\n${machineText('node bench/ledger-bench.ts', { redisVersion })}\n`
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
  const row = (name: string, pick: (figures: PlanFigures) => number, digits: number, aim: string) => {
    const [ours, floor] = [plans.map(({ ledger }) => pick(ledger)), plans.map((one) => pick(one.floor))]
    const ratios = ours.map((value, at) => value / (floor[at] ?? Number.NaN))
    return `| ${[name, spreadText(ours, digits), spreadText(floor, digits), `${spreadText(ratios, 2)}×`, aim].join(' | ')} |`
  }
  return `## Planning ${count(planned)} operations

With ${count(planned)} dependencies, in slices of 1,000, on a Redis of its own on the same machine, append-only file on,
${rounds} rounds; median (min–max). The floor is one plain HSET an operation with the same bytes, in the same slices, one pipeline
each: it counts, sorts and orders nothing. What carries over to another machine is the ratio.

| | ledger | floor | ratio | aim |
| --- | --- | --- | --- | --- |
${row('wall time, ms', (one) => one.wallMs, 0, `≤ ${count(aims.planMs)}`)}
${row('Redis: time in commands, ms', (one) => one.commandMs, 0, '')}
${row('Redis: CPU of the server, ms', (one) => one.cpuMs, 0, '')}
${row('memory per operation, bytes', (one) => one.bytesPerOperation, 0, `≤ ${count(aims.bytes)}`)}
`
}

function commandSection({ commands, settled, rounds }: LedgerFigures): string {
  const row = (name: string, command: keyof CommandFigures, aim = '') => {
    const times = commands.map((one) => one[command].commandMs)
    const ratios = commands.map((one) => one[command].commandMs / one.floor.commandMs)
    const cpu = commands.map((one) => one[command].cpuMs)
    return `| ${[name, spreadText(times, 3), `${spreadText(ratios, 1)}×`, aim, spreadText(cpu, 3)].join(' | ')} |`
  }
  return `## Redis' time per command

Of ${count(settled)} operations each, with 32 commands under way, by Redis' own count (\`INFO commandstats\`), which includes time
in which the kernel ran something else, and as CPU of the whole server, append-only file and all; ${rounds} rounds, median (min–max). An
append brings three events; a settle three and the ledger's own, outcome, result, and one dependent that becomes ready. The
floor is a script of one XADD and one HSET with a settle's bytes.

| command | ms in the command | against the floor | aim | CPU ms |
| --- | --- | --- | --- | --- |
${row('dispatch, per operation, by the hundred', 'dispatch')}
${row('claim', 'claim')}
${row('append', 'append')}
${row('settle', 'settle', `≤ ${aims.settleMs}`)}
${row('floor', 'floor')}
`
}

function memorySection({ memory, planned }: LedgerFigures): string {
  const rows = memory.map(({ name, samples, events, archived }) => {
    const at = (phase: string, which: number) =>
      samples.filter((one) => one.phase === phase).at(which)?.bytes ?? Number.NaN
    const most = Math.max(...samples.map(({ bytes }) => bytes))
    const mib = (bytes: number) => (bytes / mebibyte).toFixed(0)
    const cells = [
      name,
      mib(at('plan', -1)),
      mib(most),
      mib(at('after', 0)),
      mib(at('after', -1)),
      count(events),
      count(archived.events),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return `## Redis' memory over a run of ${count(planned)} operations

The run is played through the ledger without a worker: 18 events and three appends an operation, in the sizes of a real run of
\`docstring\`; results are passed on and whole segments of events archived every 1,024 operations. The archive of the bench
drops what it is given. After the end the run is forgotten, as retention does it, which leaves the stream of results (cut by its
own length).

| | planned, MiB | at most | run ended | run forgotten | events | of them archived |
| --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}

![Redis' memory during and after the run](../../docs/images/redis-memory.svg)
`
}

function waitingSection({ waiting }: LedgerFigures): string {
  const { operations, state, events } = waiting
  const total = ((state + events) * operations) / 1e6
  return `## Operations that wait for a person

${count(operations)} operations with a question of 100 characters and three choices wait in one run, each without process, lease or slot:
${count(Math.round(state))} bytes an operation more than a ready one takes, and ${count(Math.round(events))} in its events from its dispatch on, until these are
archived. Together ${total.toFixed(1)} MB; the aim is ${(aims.waitingBytes * 1000) / 1e6} MB for 1,000.
`
}

function count(value: number): string {
  return value.toLocaleString('en')
}
