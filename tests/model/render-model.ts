import { cpus, loadavg, totalmem } from 'node:os'
import type { HarnessReport } from './measure-harness.ts'
import type { RunFigures } from './measure-run.ts'
import type { ServerPlan } from './server-plan.ts'

export type ServerFigures = { plan: ServerPlan; harness: HarnessReport; run: RunFigures }
export type ModelScale = { slots: number; threads: number; contextPerSlot: number }

/** results/real-servers.md. */
export function renderModel(scale: ModelScale, servers: readonly ServerFigures[], missing: readonly string[]): string {
  const packages = [...new Set(servers.flatMap(({ plan }) => plan.packages))]
  const [cpu] = cpus()
  const machine = `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB`
  return `# Real model servers

Written by \`npm run e2e:model\` on ${new Date().toISOString().slice(0, 10)}: ${machine}, Node ${process.version}, ${packages.join(', ')}.

Gemma 3 270M (base model, Q4_K_M, from PyPI): ${scale.slots} slots of ${scale.contextPerSlot} tokens, ${scale.threads} thread(s), no GPU. It
is a base model of 270 million parameters that was never tuned for tools: the rates say whether the whole path works with a
real server, not what a useful model does. Times depend on what else the machine does: at the end its load was ${loadavg()[2]?.toFixed(1)} over a
quarter of an hour, of which the model server is about ${scale.threads}.

## remora harness

${table(
  ['', 'requests', 'called', 'right tool', 'right arguments', 'submitted', 'calls read from text'],
  servers.map(({ plan: { name }, harness }) => {
    const { total } = harness.sides[0]
    const rates = [total.called, total.right_tool, total.right_arguments, total.submitted, total.parsed_from_content]
    return [name, `${total.requests}`, ...rates.map(percent)]
  }),
)}

${table(
  ['', 'replies', 'first reply p50 / p95, s', 'completion tokens/s of one reply', 'of all together'],
  servers.map(({ plan: { name }, harness }) => {
    const [{ replies, latency_ms: latency, tokens }] = harness.sides
    const first = latency.first_reply
    const times = first === null ? '–' : `${seconds(first.p50)} / ${seconds(first.p95)}`
    return [name, `${replies}`, times, tokens.per_s_of_reply.toFixed(1), tokens.per_s.toFixed(1)]
  }),
)}

${servers.map(harnessNotes).join('\n')}
${runSection(servers)}
## Known of these servers beforehand, not found by this run

${servers.map(({ plan }) => `- ${plan.name}: ${plan.different}`).join('\n')}
${missing.map((why) => `- Could not be installed here: ${why}\n`).join('')}`
}

function runSection(servers: readonly ServerFigures[]): string {
  return `## remora run examples/inventory

${table(
  ['', 'operations', 'replies with a call', 'tool calls carried out', 'valid submissions', 'tokens/s of one reply'],
  servers.map(({ plan: { name }, run }) => [
    name,
    `${run.operations}`,
    `${run.repliesWithCall} of ${run.replies}`,
    `${run.carriedOut} of ${run.toolCalls}`,
    `${run.validSubmissions} of ${run.submissions}`,
    run.tokensPerSecondOfReply.toFixed(1),
  ]),
)}

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

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
