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
import { attemptReports, type AttemptReportDeps } from './attempt-reports.ts'
import type { RunningAttempt } from './running-attempt.ts'
import { attemptPrograms, type AttemptPrograms, type ProgramDeps } from '../tools/programs/attempt-programs.ts'
import type { ToolsBeside } from '../tools/programs/tools-beside.ts'
import { nodeInputs } from '../tools/provided-inputs.ts'

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
