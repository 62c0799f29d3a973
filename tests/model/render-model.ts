import { loadavg } from 'node:os'
import { type Column, machineName, sectionHead, table } from '../../bench/reports/markdown-report.ts'
import type { HarnessReport, RunFigures } from './measure-server.ts'
import type { ServerPlan } from './start-server.ts'

export type ServerFigures = { plan: ServerPlan; harness: HarnessReport; run: RunFigures }
export type ModelScale = { slots: number; threads: number; contextPerSlot: number }

/** results/real-servers.md. */
export function renderModel(scale: ModelScale, servers: readonly ServerFigures[], missing: readonly string[]): string {
  const packages = new Set(servers.flatMap(({ plan }) => plan.packages))
  const facts = [machineName(), `Node ${process.version}`, ...packages]
  return `${sectionHead('Real model servers', { command: 'npm run e2e:model', facts })}
Gemma 3 270M (base model, Q4_K_M, from PyPI): ${scale.slots} slots of ${scale.contextPerSlot} tokens, ${scale.threads} thread(s), no GPU. It
is a base model of 270 million parameters that was never tuned for tools: the rates say whether the whole path works with a
real server, not what a useful model does. Times depend on what else the machine does: at the end its load was ${loadavg()[2]?.toFixed(1)} over a
quarter of an hour, of which the model server is about ${scale.threads}.

## remora harness

${table(rateColumns, servers)}

${table(speedColumns, servers)}

${servers.map(harnessNotes).join('\n')}
${runSection(servers)}
## Known of these servers beforehand, not found by this run

${servers.map(({ plan }) => `- ${plan.name}: ${plan.different}`).join('\n')}
${missing.map((why) => `- Could not be installed here: ${why}\n`).join('')}`
}

const nameColumn: Column<ServerFigures> = ['', ({ plan }) => plan.name]

const rateColumns: readonly Column<ServerFigures>[] = [
  nameColumn,
  ['requests', ({ harness }) => harness.sides[0].total.requests],
  ['called', rateOf('called')],
  ['right tool', rateOf('right_tool')],
  ['right arguments', rateOf('right_arguments')],
  ['submitted', rateOf('submitted')],
  ['calls read from text', rateOf('parsed_from_content')],
]

function rateOf(name: Exclude<keyof HarnessReport['sides'][0]['total'], 'requests'>) {
  return ({ harness }: ServerFigures) => `${Math.round(harness.sides[0].total[name] * 100)} %`
}

const speedColumns: readonly Column<ServerFigures>[] = [
  nameColumn,
  ['replies', ({ harness }) => harness.sides[0].replies],
  ['first reply p50 / p95, s', firstReplyText],
  ['completion tokens/s of one reply', ({ harness }) => harness.sides[0].tokens.per_s_of_reply.toFixed(1)],
  ['of all together', ({ harness }) => harness.sides[0].tokens.per_s.toFixed(1)],
]

function firstReplyText({ harness }: ServerFigures): string {
  const first = harness.sides[0].latency_ms.first_reply
  return first === null ? '–' : `${seconds(first.p50)} / ${seconds(first.p95)}`
}

const runColumns: readonly Column<ServerFigures>[] = [
  nameColumn,
  ['operations', ({ run }) => run.operations],
  ['replies with a call', ({ run }) => `${run.repliesWithCall} of ${run.replies}`],
  ['tool calls carried out', ({ run }) => `${run.carriedOut} of ${run.toolCalls}`],
  ['valid submissions', ({ run }) => `${run.validSubmissions} of ${run.submissions}`],
  ['tokens/s of one reply', ({ run }) => run.tokensPerSecondOfReply.toFixed(1)],
]

function runSection(servers: readonly ServerFigures[]): string {
  return `## remora run examples/inventory

${table(runColumns, servers)}

${servers.map(({ plan: { name }, run }) => `- ${name}: exit code ${run.exitCode}; ${counted(run.endings)}`).join('\n')}
`
}

function harnessNotes({ plan: { name }, harness }: ServerFigures): string {
  const [{ workarounds, errors }] = harness.sides
  const faults = errors.slice(0, 5).map(({ code, message, count }) => `${count} × ${code} ${message.slice(0, 120)}`)
  return `- ${name}: workarounds ${counted(workarounds)}; faults: ${faults.join('; ') || 'none'}\n`
}

function counted(counts: Readonly<Record<string, number>>): string {
  return (
    Object.entries(counts)
      .map(([name, count]) => `${count} × ${name}`)
      .join(', ') || 'none'
  )
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
