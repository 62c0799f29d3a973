import { needsApproval } from '#domain/agent-bundle.ts'
import { allowedPrograms } from '#domain/allowed-programs.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { limitsOfBundle } from '#tool-scripts/script-limits.ts'
import type { ScriptPool } from '#tool-scripts/script-pool.ts'
import { type ExternalDeps, attemptExternals } from '../tools/externals/attempt-externals.ts'
import { scriptOf, scriptTool } from '../tools/script-tool.ts'
import type { Tool, ToolSet } from '../tools/tool-set.ts'
import type { ReadRunFacts, RelatedNodes } from '../start/run-facts.ts'
import type { RunningAttempt } from './running-attempt.ts'
import { attemptPrograms, type AttemptPrograms, type ProgramDeps } from '../tools/programs/attempt-programs.ts'
import type { ToolsBeside } from '../tools/programs/tools-beside.ts'
import { nodeInputs } from '../tools/provided-inputs.ts'
import { operationId, recordIds } from '#domain/ids.ts'
import type { Report } from '#domain/reports.ts'
import type { Attempt } from '#store/ledger/attempt.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { getReports, putArtifact } from '#store/objects/stored-records.ts'
import type { ReportDeps } from '../tools/externals/report-externals.ts'

export type AttemptToolDeps = Omit<ExternalDeps, 'programs' | 'tests' | 'rulesOf' | 'signal' | 'related' | 'reports'> &
  AttemptReportDeps & {
    ledger: Pick<Ledger, 'isAllowed'>
    scripts: Pick<ScriptPool, 'run'>
    relatedPaths: RelatedNodes['paths']
    relatedAt: RelatedNodes['at']
    programs: ProgramDeps
    runFacts: ReadRunFacts
    beside: ToolsBeside
  }

/** The bundle's tools, bound to this attempt's workspace and node. `submit_result` is part of the loop instead. */
export function attemptTools(
  running: Pick<
    RunningAttempt,
    'attempt' | 'bundle' | 'workspace' | 'target' | 'built' | 'transcript' | 'journal' | 'from' | 'tests' | 'rules'
  >,
  deps: AttemptToolDeps,
  signal: AbortSignal,
): ToolSet {
  const { bundle, scripts } = running.bundle
  const { workspace, target, tests, rules } = running
  const programs = programsOf(running, deps, signal)
  const related = (path: string, line: number) => deps.relatedAt(running.attempt, { path, line })
  const reports = attemptReports(running, deps)
  const externals = attemptExternals(
    workspace,
    target,
    { ...deps, programs, tests, rulesOf: rules.of, signal, related, reports },
    calledBefore(running),
  )
  const bound = new Map<string, Tool>()
  for (const definition of bundle.tools) {
    if (bundle.scripts[definition.name] === undefined) continue
    const names = bundle.hostInputs[definition.name] ?? []
    const parts = {
      definition,
      script: scriptOf(scripts, definition.name),
      providedInputs: () => inputValues(names, running, deps.relatedPaths),
      externals,
      limits: limitsOfBundle(bundle.file.limits.script),
      pool: deps.scripts,
      log: deps.log,
    }
    const tool = scriptTool(parts)
    bound.set(definition.name, needsApproval(bundle.file, definition.name) ? gated(tool, running.attempt, deps) : tool)
  }
  return { definitions: bundle.tools, get: (name) => bound.get(name) }
}

/** It runs alone, as all that may wait do: what comes after it in the same reply waits with it. */
function gated(tool: Tool, attempt: RunningAttempt['attempt'], { ledger }: Pick<AttemptToolDeps, 'ledger'>): Tool {
  return { ...tool, effects: 'writes', isAllowed: () => ledger.isAllowed(attempt, tool.definition.name) }
}

/** The programs that are run for this attempt, over its files. */
export function programsOf(
  { attempt, bundle, workspace, built }: Pick<RunningAttempt, 'attempt' | 'bundle' | 'workspace' | 'built'>,
  { programs, runFacts }: Pick<AttemptToolDeps, 'programs' | 'runFacts'>,
  signal: AbortSignal,
): AttemptPrograms {
  const allowed = allowedPrograms(bundle.bundle.file)
  const environment = async () => (await runFacts(attempt)).environment
  return attemptPrograms({ attempt, workspace, built: built?.layer, allowed, environment }, programs, signal)
}

/** Lists the calls of tool scripts in attempts that this one continues, also of the script that waited. */
function calledBefore({ transcript, from }: Pick<RunningAttempt, 'transcript' | 'from'>): JournalEntry[] {
  const asking = from !== undefined && 'answered' in from ? (from.answered.waiting?.journal ?? []) : []
  return [...transcript.toolRuns.flatMap(({ externals }) => externals), ...asking]
}

async function inputValues(
  names: readonly string[],
  { attempt, bundle, workspace, target }: Pick<RunningAttempt, 'attempt' | 'bundle' | 'workspace' | 'target'>,
  relatedPaths: RelatedNodes['paths'],
): Promise<Record<string, unknown>> {
  const known: Record<string, () => unknown> = {
    ...nodeInputs(target, workspace, () => relatedPaths(attempt)),
    workspace_id: () => attempt.operationId,
    settings: () => bundle.settings,
  }
  const filled = names.map(async (name) => [name, await known[name]?.()] as const)
  return Object.fromEntries(await Promise.all(filled))
}

type AttemptReportDeps = { ledger: Pick<Ledger, 'endedOperations' | 'getRun'>; objects: ObjectStore }

/** Returns what the reports of an attempt are checked against, and where they go before it ends. */
function attemptReports(
  { attempt, transcript, journal }: Pick<RunningAttempt, 'attempt' | 'transcript' | 'journal'>,
  deps: AttemptReportDeps,
): ReportDeps {
  const isCall = (id: string) => transcript.toolRuns.some(({ callId }) => callId === id)
  const isEvent = async (seq: number) => seq >= 1 && seq <= (await deps.ledger.getRun(attempt.runId)).seq
  return {
    operationId: attempt.operationId,
    turn: () => transcript.turns,
    exists: (reference) => ('call' in reference ? isCall(reference.call) : isEvent(reference.event)),
    reportedBefore: () => reportedBefore(attempt, deps),
    storeArtifact: (content) => putArtifact(deps.objects, attempt, content),
    emit: (event) => journal.emit(event),
  }
}

/** Reads the reports of the last record of this agent on this node, without those whose work was done once more, also by this one. */
async function reportedBefore(
  { runId, projectId, generation, node, bundle, repeats }: Attempt,
  { ledger, objects }: AttemptReportDeps,
): Promise<readonly Report[]> {
  if (generation === 1) return []
  const ended = await ledger.endedOperations(runId, recordIds(operationId(node.nodeId, bundle), generation - 1))
  const done = new Set([repeats, ...ended.map((one) => one.repeats)].map((one) => one?.supersedes))
  const last = ended.findLast((one) => !done.has(one.operationId))
  const { recordHash } = last?.outcome ?? {}
  return recordHash === undefined ? [] : getReports(objects, projectId, recordHash)
}
