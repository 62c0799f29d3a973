import { type Column, machineName, sectionHead, table } from '../../bench/reports/markdown-report.ts'
import type { BareRates } from '../../bench/peers/harness-client.ts'
import type { ServerParts } from './measure-parts.ts'
import type { ObjectiveFigures } from './measure-objective.ts'
import type { PrefixFigures } from './measure-prefix.ts'
import { type HarnessReport, maxTokens, type RunFigures } from './measure-server.ts'
import type { ServerPlan } from './start-server.ts'

export type ServerFigures = ServerParts & { plan: ServerPlan }
export type ModelScale = { slots: number; threads: number; contextPerSlot: number }

/** results/real-servers.md. */
export function renderModel(scale: ModelScale, servers: readonly ServerFigures[], missing: readonly string[]): string {
  const packages = new Set(servers.flatMap(({ plan }) => plan.packages))
  const facts = [machineName(), `Node ${process.version}`, ...packages]
  return `${sectionHead('Real model servers', { command: 'npm run e2e:model', facts })}
Gemma 3 270M (base model, Q4_K_M, from PyPI), never tuned for tools, ${scale.slots} slots of ${scale.contextPerSlot} tokens, without a GPU: the rates say whether the whole path works with a
real server, not what a useful model does, and times say nothing.

## remora harness, and a bare client

The bare client sends the same requests (${maxTokens} tokens for a reply) through the \`openai\` package, in the loop of agent frameworks:
\`tool_choice\` with every turn, at most four turns, no constraint of its own. A call counts when the server gives it as one.

${table(rateColumns, servers.flatMap(rateRows))}

${servers.flatMap(harnessNotes).join('\n')}

## docstring with one turn

The first functions and classes of boltons that have no docstring. Valid: written, submitted, and its evidence holds.
Of texts that were read one by one, about a third said roughly what the code does: none should be accepted unread.

${table(docstringColumns, servers.flatMap(docstringRow))}

${servers.flatMap(docstringNotes).join('\n')}
${runSection(servers.flatMap((server) => (server.run === undefined ? [] : [{ plan: server.plan, run: server.run }])))}
${prefixSection(servers)}${objectiveSection(servers)}
## Known of these servers beforehand

${servers.map(({ plan, measured }) => `- ${plan.name}, measured on ${measured ?? 'no day'}: ${plan.different}`).join('\n')}
${missing.map((why) => `- Could not be installed here: ${why}\n`).join('')}`
}

type RateRow = BareRates & { server: string; side: string; parsed: number | undefined }

const rateColumns: readonly Column<RateRow>[] = [
  ['', ({ server }) => server],
  ['side', ({ side }) => side],
  ['requests', ({ requests }) => requests],
  ['called', ({ called }) => percent(called)],
  ['right tool', ({ rightTool }) => percent(rightTool)],
  ['right arguments', ({ rightArguments }) => percent(rightArguments)],
  ['submitted', ({ submitted }) => percent(submitted)],
  ['calls read from text', ({ parsed }) => (parsed === undefined ? '–' : percent(parsed))],
]

function rateRows({ plan: { name: server }, harness, ...bare }: ServerFigures): RateRow[] {
  const rows: RateRow[] = harness === undefined ? [] : [{ server, side: 'remora', ...harnessRates(harness) }]
  for (const choice of ['required', 'auto'] as const) {
    const rates = bare[`bare_${choice}`]
    if (rates !== undefined) rows.push({ server, side: `bare, ${choice}`, ...rates, parsed: undefined })
  }
  return rows
}

function harnessRates({ sides: [{ total }] }: HarnessReport) {
  const { requests, called, right_tool: rightTool, right_arguments: rightArguments, submitted } = total
  return { requests, called, rightTool, rightArguments, submitted, parsed: total.parsed_from_content }
}

function percent(rate: number): string {
  return `${Math.round(rate * 100)} %`
}

type RunRow = { plan: ServerPlan; run: RunFigures }

const docstringColumns: readonly Column<RunRow>[] = [
  ['', ({ plan }) => plan.name],
  ['operations', ({ run }) => run.operations],
  ['valid submissions', ({ run }) => run.endings['succeeded'] ?? 0],
  ['refused texts', ({ run }) => sum(run.refused)],
  ['docstrings in the patch', ({ run }) => run.docstrings.length],
  ['different ones', ({ run }) => new Set(run.docstrings).size],
]

function docstringRow({ plan, docstring: run }: ServerFigures): RunRow[] {
  return run === undefined ? [] : [{ plan, run }]
}

const shownDocstrings = 4

function docstringNotes({ plan: { name }, docstring: run }: ServerFigures): string[] {
  if (run === undefined) return []
  const every = Math.max(1, Math.floor(run.docstrings.length / shownDocstrings))
  const shown = run.docstrings.filter((_, at) => at % every === 0).slice(0, shownDocstrings)
  const texts = shown.map((text) => `"${text.replaceAll(/\s+/g, ' ')}"`)
  return [`- ${name}: ${counted(run.endings)}. Some of them: ${texts.join(', ')}`]
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}

const runColumns: readonly Column<RunRow>[] = [
  ['', ({ plan }) => plan.name],
  ['operations', ({ run }) => run.operations],
  ['replies with a call', ({ run }) => `${run.repliesWithCall} of ${run.replies}`],
  ['tool calls carried out', ({ run }) => `${run.carriedOut} of ${run.toolCalls}`],
  ['valid submissions', ({ run }) => `${run.validSubmissions} of ${run.submissions}`],
]

function runSection(rows: readonly RunRow[]): string {
  if (rows.length === 0) return ''
  return `## remora run examples/inventory

${table(runColumns, rows)}

${rows.map(({ plan: { name }, run }) => `- ${name}: exit code ${run.exitCode}; ${counted(run.endings)}`).join('\n')}
`
}

type PrefixRow = { plan: ServerPlan; prefix: PrefixFigures }

const prefixColumns: readonly Column<PrefixRow>[] = [
  ['', ({ plan }) => plan.name],
  ['operations', ({ prefix }) => prefix.operations],
  ['requests', ({ prefix }) => prefix.requests],
  ['tokens of a prompt', ({ prefix }) => Math.round(prefix.promptTokens / prefix.requests)],
  ['read before', ({ prefix }) => percent(prefix.cachedTokens / prefix.promptTokens)],
]

function prefixSection(servers: readonly ServerFigures[]): string {
  const rows = servers.flatMap(({ plan, prefix }) => (prefix === undefined ? [] : [{ plan, prefix }]))
  if (rows.length === 0) return ''
  return `## Prompts that begin alike

The first definitions of examples/inventory without a docstring. The rehearsal model answers; the server with the real model reads each
prompt and writes one token. Read before: the share of the prompts' tokens that the server counts as cached. A template
without tools leaves these out, which are common to all.

${table(prefixColumns, rows)}
`
}

type ObjectiveRow = { plan: ServerPlan; objective: ObjectiveFigures }

const objectiveColumns: readonly Column<ObjectiveRow>[] = [
  ['', ({ plan }) => plan.name],
  ['runs', ({ objective }) => objective.runs],
  ['decisions', ({ objective }) => counted(objective.decisions)],
  ['ended', ({ objective }) => counted(objective.ends)],
  ['windows of the watcher', ({ objective }) => counted(objective.reviews)],
]

function objectiveSection(servers: readonly ServerFigures[]): string {
  const rows = servers.flatMap(({ plan, objective }) => (objective === undefined ? [] : [{ plan, objective }]))
  if (rows.length === 0) return ''
  return `
## remora run examples/inventory --objective

The model plans, and judges windows of failures as the watcher. A decision that cannot be carried out is explained to it once, and
blocks the run when it comes again: what the model does well or badly here says nothing of larger ones.

${table(objectiveColumns, rows)}

${rows.map(({ plan: { name }, objective }) => `- ${name}: ${objective.reasons.join('; ') || 'no reasons'}`).join('\n')}
`
}

function harnessNotes({ plan: { name }, harness }: ServerFigures): string[] {
  if (harness === undefined) return []
  const [{ workarounds, errors }] = harness.sides
  const faults = errors.slice(0, 5).map(({ code, message, count }) => `${count} × ${code} ${message.slice(0, 120)}`)
  return [`- ${name}: workarounds ${counted(workarounds)}; faults: ${faults.join('; ') || 'none'}`]
}

function counted(counts: Readonly<Record<string, number>>): string {
  return (
    Object.entries(counts)
      .map(([name, count]) => `${count} × ${name}`)
      .join(', ') || 'none'
  )
}
