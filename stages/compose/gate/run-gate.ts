import type { ChangeSet } from '#domain/change-set.ts'
import { hasCode } from '#domain/error.ts'
import { type GateReport, type GateRequest, type GateRun, keptOutputs } from '#domain/gate.ts'
import type { LeftOutSet } from '#change-sets/compose-change-sets.ts'
import { type FileResult, inConflict } from '#change-sets/changes-at-path.ts'
import { composeChangeSets } from '#change-sets/compose-change-sets.ts'
import type { Sandbox } from '#sandbox/open-sandbox.ts'
import type { Surroundings } from '#stages/operate/tools/programs/environments.ts'
import type { ChangedFile, ProgramFiles, ProgramResult, SandboxLimits } from '#sandbox/sandboxed-program.ts'
import { contentsOf } from '../contents-of.ts'
import { causeIn } from './cause-in.ts'
import { type Convicted, findWorse, type Judged, type TestWith } from './find-worse.ts'
import { runGateCommand, type RunProgram, type TestResults } from './gate-command.ts'

export type GateDeps = {
  sandbox: Pick<Sandbox, 'run'>
  limits: SandboxLimits
  /** Opens a tar of the snapshot for reading; the descriptor is the caller's to close. */
  archive(): Promise<number>
  /** Returns what the run's setup has made. Throws SETUP_001 when it failed. */
  surroundings(): Promise<Surroundings>
  /** Tells whether the file of the snapshot has the executable bit. */
  isExecutable(path: string): boolean
  readBlob(hash: string): Promise<Uint8Array>
  /** Is kept from one call to the next of the same run. */
  memory: GateMemory
  /** Is told before each run of the command. */
  onRun(runs: number, most: number): Promise<void>
}

/** Holds what the gate leaves of the sets, and what it leaves out, and why: `culprits` with a test, the others unproved. */
export type GateVerdict = {
  left: readonly ChangeSet[]
  leftOut: LeftOutSet[]
  culprits: ReadonlySet<string>
  report: GateReport
}

const mostListed = 50

/** A later run may take so many times as long as the longest one of the original, and at least so long. */
const patience = { times: 5, leastMs: 10_000 }

/** Remembers what was found out: a decision during the composition asks much of it again. `results` is by the sets' ids. */
export type GateMemory = { original?: Original; results: Map<string, TestResults> }

/** Runs the command on the snapshot, without and with the sets, and leaves out what makes it worse. `sets` compose without conflicts. */
export async function runGate(
  { command, runs: originalRuns, maxRuns, limitS }: GateRequest,
  sets: readonly ChangeSet[],
  deps: GateDeps,
  signal: AbortSignal,
): Promise<GateVerdict> {
  const startedAt = performance.now()
  let runs = 0
  const outputs: GateRun[] = []
  const leftMs = () => limitS * 1_000 - (performance.now() - startedAt)
  /** Returns undefined when no more runs may be made, or when this one was ended since the time for all of them is over. */
  const runOn = async (part: readonly ChangeSet[], mostMs = Infinity): Promise<TestResults | undefined> => {
    const wallMs = Math.min(mostMs, leftMs())
    if (runs >= maxRuns || wallMs <= 0) return undefined
    await deps.onRun((runs += 1), maxRuns)
    const files = { base: deps.archive, ...(await changedFiles(composeChangeSets(part).files, deps)) }
    const limits = { ...deps.limits, wallMs }
    const around = await deps.surroundings()
    const run: RunProgram = async (program) =>
      keepEnd(await deps.sandbox.run({ ...around, ...program, files, limits }, signal), part, outputs)
    const results = await runGateCommand(command, run)
    return results.kind === 'unusable' && leftMs() <= 0 && wallMs < mostMs ? undefined : results
  }
  const { memory } = deps
  const original = (memory.original ??= await testOriginal(originalRuns, () => runOn([])))
  const mostMs = Math.max(patience.leastMs, patience.times * original.longestMs)
  const test = inMemory(memory, (part) => runOn(part, mostMs).catch(withoutSandbox))
  const judged: Judged =
    original.fault === undefined
      ? await findWorse(sets, original.mustPass, test)
      : { left: sets, convicted: [], mustPass: original.mustPass, isComplete: true }
  const fault = original.fault ?? (judged.mustPass.size === 0 ? 'nothing passes on the original any more' : undefined)
  const reason = fault ?? (judged.isComplete ? undefined : endedEarly(runs, startedAt))
  const failing = [...original.failing, ...[...original.mustPass].filter((name) => !judged.mustPass.has(name))]
  const report: GateReport = {
    command,
    verdict: fault === undefined ? 'passed' : 'unproved',
    ...(reason === undefined ? {} : { reason }),
    tests: original.namesTests ? judged.mustPass.size : null,
    failing: failing.slice(0, mostListed),
    failingTotal: failing.length,
    runs,
    outputs,
    durationMs: Math.round(performance.now() - startedAt),
    leftOut: judged.convicted.length,
  }
  const proved = judged.convicted.filter(({ tests }) => tests.length > 0)
  const culprits = new Set(proved.map(({ set }) => set.changeSetId))
  return { left: judged.left, leftOut: judged.convicted.map(leftOutOf), culprits, report }
}

type Original = {
  mustPass: ReadonlySet<string>
  failing: string[]
  namesTests: boolean
  longestMs: number
  /** Says why nothing can be judged. */
  fault: string | undefined
}

const nothing = { mustPass: new Set<string>(), failing: [], namesTests: false, longestMs: 0 }

/** Each time that the same sets are tested in one judgement has a result of its own. */
function inMemory({ results }: GateMemory, test: TestWith): TestWith {
  const times = new Map<string, number>()
  return async (sets) => {
    const ids = sets.map(({ changeSetId }) => changeSetId).join(' ')
    times.set(ids, (times.get(ids) ?? 0) + 1)
    const key = `${ids} ${times.get(ids)}`
    const noted = results.get(key) ?? (await test(sets))
    if (noted !== undefined) results.set(key, noted)
    return noted
  }
}

/** Keeps what the agents have done where the sandbox does not work any more: the rest is only not proved. */
function withoutSandbox(error: unknown): undefined {
  if (!hasCode(error, 'TOOL_005', 'SETUP_001')) throw error
}

function keepEnd(result: ProgramResult, part: readonly ChangeSet[], outputs: GateRun[]): ProgramResult {
  const { ending, output } = result
  const how = ending.kind === 'stopped' ? `stopped by its limit of ${ending.reason}` : `exit code ${ending.code}`
  const kept = { changeSets: part.length, ending: how, output: output.trimEnd().slice(-keptOutputs.characters) }
  if (outputs.length < keptOutputs.runs) outputs.push(kept)
  return result
}

/** Finds what passes on each of `times` runs of the original: that must pass with the changes, too. */
async function testOriginal(times: number, run: () => Promise<TestResults | undefined>): Promise<Original> {
  let mustPass: ReadonlySet<string> | undefined
  const seen = new Set<string>()
  let [namesTests, longestMs, output] = [false, 0, '']
  for (let count = 0; count < times; count += 1) {
    const begin = performance.now()
    const results = await run().catch(unusable)
    longestMs = Math.max(longestMs, performance.now() - begin)
    if (results === undefined) return { ...nothing, fault: 'its time was over before the original was tested' }
    if (results.kind === 'unusable') return { ...nothing, fault: `${results.reason}, on the original` }
    namesTests = results.namesTests
    output = results.failed.values().next().value ?? output
    for (const name of [...results.passed, ...results.failed.keys()]) seen.add(name)
    const { passed } = results
    mustPass = mustPass === undefined ? passed : new Set([...mustPass].filter((name) => passed.has(name)))
  }
  const passing = mustPass ?? new Set()
  const failing = [...seen].filter((name) => !passing.has(name))
  const none =
    seen.size === 0
      ? 'it finds no tests on the original'
      : `${causeIn(output)}: nothing that it tests passes on the original`
  return { mustPass: passing, failing, namesTests, longestMs, fault: passing.size === 0 ? none : undefined }
}

function unusable(error: unknown): TestResults {
  if (!hasCode(error, 'TOOL_005', 'SETUP_001')) throw error
  return { kind: 'unusable', reason: `${error.code} ${error.message}` }
}

export async function changedFiles(
  results: readonly FileResult[],
  deps: Pick<GateDeps, 'isExecutable' | 'readBlob'>,
): Promise<Required<Pick<ProgramFiles, 'changed' | 'deleted'>>> {
  const changed: ChangedFile[] = []
  for (const file of results) {
    const { after } = await contentsOf(file, deps)
    const executable = file.executable ?? deps.isExecutable(file.path)
    if (after !== undefined) changed.push({ path: file.path, content: after, executable })
  }
  return { changed, deleted: results.filter(({ kind }) => kind === 'delete').map(({ path }) => path) }
}

function endedEarly(runs: number, startedAt: number): string {
  return `it ended after ${runs} runs and ${Math.round((performance.now() - startedAt) / 1_000)} s, before all changes were proved`
}

const namedTests = 3

function leftOutOf({ set, tests, message, byItself }: Convicted): LeftOutSet {
  const path = set.files[0]?.path ?? ''
  const more = tests.length > namedTests ? ` and ${tests.length - namedTests} more` : ''
  const line = causeIn(message)
  const reason =
    tests.length === 0
      ? "not proved: the run's gate ended before"
      : `with it${byItself ? ' alone' : ' and others before it'}, what passed before fails: ${tests.slice(0, namedTests).join(', ')}${more}${line === '' ? '' : ` (${line.slice(0, 200)})`}`
  return { ...inConflict(set, path), path, errorCode: 'WORK_007', reason, ...(byItself && { byItself }) }
}
