import { type Command, InvalidArgumentError, Option } from 'commander'
import type { RunSummary } from '#schemas/run-schema.ts'
import type { CliContext } from '../cli-context.ts'
import { formatSeconds, plural, waitingText } from '#domain/timeline/words.ts'
import { clip, onOneLine, textTable, visible, visibleName } from '../terminal-text.ts'
import { figure } from '#domain/figure.ts'
import { costOfEach, shortTime, shownPath } from '../wording.ts'
import { resumeCommand } from '../run/unfinished-runs.ts'
import { withRuns } from '../run/reach-service.ts'
import { waitingView } from '../run/describe-run.ts'
import { positiveUpTo } from './shared-options.ts'
import { resolve } from 'node:path'
import { byPath } from '#domain/repo-path.ts'
import { FindingSeverity } from '#domain/code-finding.ts'
import type { FindingView } from '#schemas/finding-schema.ts'
import { allFindings } from '../api-lists.ts'
import { requireWritable, writeWhole } from '../run/output-file.ts'
import type { WorkerView } from '#schemas/worker-schema.ts'
import type { UsageView } from '#schemas/usage-schema.ts'
import { loadBundles, type LoadedBundle } from '#bundles/load-bundle.ts'
import { untilAborted } from '#platform/clock.ts'
import { agentsHere } from '../run/known-agents.ts'
import { sha256 } from '#domain/ids.ts'
import { packageVersion } from '#platform/package-version.ts'

export function addRunsCommand(command: Command, context: CliContext): void {
  command
    .option('--limit <count>', 'at most this many', positiveUpTo(100), 20)
    .option('--before <run>', 'only runs older than this one')
    .option('--json', 'print one JSON document')
    .action(async ({ limit, before, json }: { limit: number; before?: string; json?: true }) => {
      await withRuns(context, async (service) => {
        const page = await service.client.listRuns({ limit, before })
        const isWaiting = service.isIdle
        const runs = page.runs.map((run) => ({ ...run, ...waitingView(run, isWaiting) }))
        context.io.out(json ? `${JSON.stringify({ ...page, runs })}\n` : visible(runLines(runs, context)))
      })
    })
}

type ListedRun = RunSummary & ReturnType<typeof waitingView>

function runLines(runs: readonly ListedRun[], { config, cwd }: CliContext): string {
  const service = config.apiUrl ?? shownPath(config.dataDir, cwd)
  if (runs.length === 0) return `no runs to show in ${service}\n`
  const waiting = runs.find((run) => run.waits_for_stack)
  const lines = runs.map((run) => `${runLine(run)}\n`).join('')
  if (waiting === undefined) return lines
  const resume = resumeCommand(waiting, config.modelUrls)
  return `${lines}Nothing works now on the runs that have not ended: "${resume}" continues one, "remora up" all of them.\n`
}

function runLine(run: ListedRun): string {
  const operations = Object.values(run.counts).reduce((total, count) => total + count, 0)
  const took = run.duration_ms === null ? '-' : formatSeconds(run.duration_ms)
  const when = run.accepted_at.slice(0, 19).replace('T', ' ')
  const failed = run.counts.failed + run.counts.blocked
  const waits = run.waits_for_stack ? '' : waitingText(run.waiting_for)
  const figures = `${plural(operations, 'operation')}, ${failed} failed${waits === '' ? '' : `, ${waits}`}`
  return `${run.run_id}  ${when}  ${run.status.padEnd(9)}  ${took.padStart(9)}  ${wantedText(run.request)}  ${figures}`
}

function wantedText({ agents, objective = '' }: ListedRun['request']): string {
  return agents.length > 0 ? agents.join(',') : `"${clip(objective, 40)}"`
}

const formats = ['text', 'json', 'sarif'] as const
type FindingsOptions = {
  format: (typeof formats)[number]
  json?: true
  agent?: string
  path?: string
  severity?: string
  out?: string
}

export function addFindingsCommand(command: Command, context: CliContext): void {
  command
    .argument('<run>', 'run id')
    .addOption(new Option('--format <format>', 'how to print').choices(formats).default('text'))
    .option('--json', 'the same as --format json')
    .option('--agent <name>', 'only those of this agent')
    .option('--path <glob>', 'only those in files that match')
    .addOption(new Option('--severity <severity>', 'only those of this severity').choices(FindingSeverity.options))
    .option('-o, --out <file>', 'write them to a file instead')
    .action(async (runId: string, { json, out, format: given, ...filter }: FindingsOptions) => {
      const path = out === undefined ? undefined : resolve(context.cwd, out)
      if (path !== undefined) await requireWritable(path)
      const all = await withRuns(context, ({ client }) => Array.fromAsync(allFindings(client, runId, filter)))
      const findings = all.toSorted((left, right) => byPath(left, right) || left.line - right.line)
      const text = formatted(runId, findings, json ? 'json' : given)
      if (path === undefined) context.io.out(text)
      else await writeWhole(path, [text])
    })
}

function formatted(runId: string, findings: readonly FindingView[], format: FindingsOptions['format']): string {
  if (format === 'json') return `${JSON.stringify({ run_id: runId, findings })}\n`
  if (format === 'sarif') return `${JSON.stringify(findingsSarif(runId, findings), null, 2)}\n`
  return [...findings.map(findingText), `${summaryOf(findings)}\n`].join('\n')
}

/** Writes a finding as editors read it, `path:line: severity: claim`, then who says so and the line. */
function findingText(finding: FindingView): string {
  const { path, line, end_line: endLine, severity, claim, rule, confidence, agent, line_text: text } = finding
  const until = endLine === line ? '' : `, to line ${endLine}`
  const source = `${agent}${rule === null ? '' : ` ${rule}`}, confidence ${confidence}${until}`
  const shown = text === '' ? '' : `    ${visible(text)}\n`
  return `${visibleName(path)}:${line}: ${severity}: ${onOneLine(claim)} (${source})\n${shown}`
}

function summaryOf(findings: readonly FindingView[]): string {
  if (findings.length === 0) return 'no findings'
  const counts = FindingSeverity.options.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return count === 0 ? [] : [plural(count, severity)]
  })
  return `${plural(findings.length, 'finding')}: ${counts.join(', ')}`
}

export function addWorkersCommand(command: Command, context: CliContext): void {
  command.option('--json', 'print one JSON document').action(async ({ json }: { json?: true }) => {
    const page = await withRuns(context, ({ client }) => client.listWorkers())
    const lines = page.workers.length === 0 ? 'no worker lives\n' : page.workers.map(workerLines).join('')
    context.io.out(json ? `${JSON.stringify(page)}\n` : visible(lines))
  })
}

function workerLines(worker: WorkerView): string {
  const { worker_id: id, version, started_at: startedAt, slots, requests_waiting: waiting, models, servers } = worker
  const store = worker.object_store === null ? [] : [`  object store ${worker.object_store}`]
  const takes = slots === 0 ? 'takes nothing now' : `takes ${plural(slots, 'operation')}`
  const queue = waiting === 0 ? [] : [`${plural(waiting, 'request')} waiting for a server`]
  const since = `since ${shortTime(startedAt)}`
  const about = [id, takes, ...queue, `version ${version}`, since]
  const away = models.flatMap(({ model, away_since: at }) =>
    at ? `  model ${model}: away since ${shortTime(at)}` : [],
  )
  const at = servers.map(({ url, limit, max_in_flight: most }) => {
    const room =
      limit === 0
        ? 'gets no requests: it failed several times in a row, or is silent'
        : `${limit} of ${most} requests at once`
    return `  ${url}: ${room}`
  })
  return [about.join('  '), ...store, ...away, ...at].map((line) => `${line}\n`).join('')
}

type UsageOptions = { since?: string; until?: string; by: string; project?: string; json?: true }

export function addUsageCommand(command: Command, context: CliContext): void {
  command
    .option('--since <day>', 'the first day in UTC, as in 2026-11-27 (default: 29 days before the last)', day)
    .option('--until <day>', 'the last day (default: today)', day)
    .addOption(new Option('--by <what>', 'day, agent or project').choices(['day', 'agent', 'project']).default('day'))
    .option('--project <id>', 'of this project (only the operator: the token that the service was started with)')
    .option('--json', 'print one JSON document')
    .action(async ({ since, until, by, project, json }: UsageOptions) => {
      const usage = await withRuns(context, ({ client }) => client.getUsage({ since, until, by, project_id: project }))
      context.io.out(json ? `${JSON.stringify(usage)}\n` : visible(usageLines(usage)))
    })
}

function usageLines({ by, rows, total, since, until }: UsageView): string {
  if (rows.length === 0) return `no operation ended from ${since} to ${until}\n`
  const head = [
    by,
    'operations',
    'requests',
    'tokens in',
    'tokens out',
    'time',
    'proposed',
    'accepted',
    'each proposed',
    'each accepted',
  ]
  const lines = [...rows, { ...total, of: 'total' }].map((row) => {
    const { turns: requests, prompt_tokens: read, completion_tokens: written, proposed, accepted } = row
    const used = { requests, tokens: read + written }
    return [
      row.of,
      ...[row.operations, requests, read, written].map(figure),
      formatSeconds(row.duration_ms),
      ...[proposed, accepted].map(figure),
      ...[proposed, accepted].map((changes) => costOfEach(used, changes)),
    ]
  })
  return `${textTable([head, ...lines]).join('\n')}\n`
}

function day(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw new InvalidArgumentError('It must be a day, as in 2026-11-27.')
}

export function addAgentsCommand(command: Command, { io, cwd, signal, config }: CliContext): void {
  command.option('--json', 'print one JSON document').action(async ({ json }: { json?: true }) => {
    const { agentsDir } = config
    await agentsHere(config)
    const loaded = await untilAborted(loadBundles(agentsDir), signal)
    const bundles = [...loaded.values()].map((bundle) => agentView(bundle))
    if (json) io.out(`${JSON.stringify({ agents: bundles })}\n`)
    else io.out(visible(bundles.map((view) => describe(view, cwd)).join('\n')))
  })
}

function agentView({ dir, bundle: { file } }: LoadedBundle) {
  return {
    name: file.name,
    description: file.description,
    node_kinds: file.node_kinds,
    languages: file.languages,
    after: file.after,
    after_optional: file.after_optional,
    tools: file.tools.map((tool) => ('builtin' in tool ? tool.builtin : tool.name)),
    limits: file.limits,
    settings: file.settings,
    from: dir,
  }
}

function limitText(value: number | object): string {
  if (typeof value === 'number') return String(value)
  return Object.entries(value)
    .map(([name, limit]) => (name === 'preset' ? limit : `${name} ${limit}`))
    .join(' ')
}

function describe(view: ReturnType<typeof agentView>, cwd: string): string {
  const limits = Object.entries(view.limits).map(([name, value]) => `${name} ${limitText(value)}`)
  const rows = [
    ['takes', `${view.node_kinds.join(', ')} in ${view.languages.join(', ')}`],
    ['after', [...view.after, ...view.after_optional.map((name) => `${name} (optional)`)].join(', ')],
    ['tools', view.tools.join(', ')],
    ['limits', limits.join(', ')],
    ['from', shownPath(view.from, cwd)],
  ]
  const lines = rows.flatMap(([name = '', value = '']) => (value === '' ? [] : [`  ${name.padEnd(7)} ${value}\n`]))
  return `${view.name}: ${view.description}\n${lines.join('')}`
}

/** Writes a SARIF 2.1.0 log. A rule is an agent and its kind of finding; a fingerprint stays while the lines of a file move. */
function findingsSarif(runId: string, findings: readonly FindingView[]): object {
  const rules = [...new Set(findings.map(ruleOf))].toSorted()
  const indexOf = new Map(rules.map((id, index) => [id, index]))
  const results = findings.map((finding) => resultOf(finding, indexOf.get(ruleOf(finding)) ?? -1))
  const driver = { name: 'Remora', version: packageVersion(), rules: rules.map((id) => ({ id })) }
  const run = { tool: { driver }, automationDetails: { id: `remora/${runId}` }, columnKind: 'utf16CodeUnits', results }
  return { $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }
}

function ruleOf({ agent, rule }: FindingView): string {
  return rule === null ? agent : `${agent}/${rule}`
}

const levels: ReadonlySet<string> = new Set(['error', 'warning', 'note'])

function resultOf(finding: FindingView, ruleIndex: number): object {
  const { claim, path, line, end_line: endLine, line_text: text, severity, confidence } = finding
  const ruleId = ruleOf(finding)
  const region = { startLine: line, endLine }
  const uri = path.split('/').map(encodeURIComponent).join('/')
  return {
    ruleId,
    ruleIndex,
    level: levels.has(severity) ? severity : 'none',
    message: { text: claim },
    locations: [{ physicalLocation: { artifactLocation: { uri, uriBaseId: '%SRCROOT%' }, region } }],
    partialFingerprints: { 'remoraFinding/v1': sha256([ruleId, path, text, claim].join('\0')) },
    rank: Math.round(confidence * 1000) / 10,
    properties: { confidence, agent: finding.agent, operation_id: finding.operation_id },
  }
}
