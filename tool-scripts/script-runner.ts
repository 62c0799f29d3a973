import type { Wrapper } from '#platform/run-program.ts'
import { asAppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { answerExternal } from './answer-external.ts'
import type { ScriptCall } from './script-call.ts'
import type { ScriptEnding } from './script-ending.ts'
import type { LimitedProcess } from './limited-process.ts'
import { type FromScriptProcess, startScriptProcess, type ToScriptProcess } from './script-process.ts'

/** Is one process and its calls. It executes one step at a time, in order, so the first of `steps` is to blame when it hangs or dies. */
export type ScriptRunner = ReturnType<typeof openScriptRunner>

type RunnerDeps = {
  log?: Pick<Log, 'warn'> | undefined
  wrapper?: Wrapper | undefined
  onFree(): void
  /** Takes back a call whose process ended through no fault of the call: it can run elsewhere, over its journal. */
  requeue(call: ScriptCall): void
}

type Runner = RunnerDeps & {
  process: LimitedProcess | undefined
  ready: boolean
  /** Holds the calls in the process. It is an array, since a Map would hold deleted entries until a full garbage collection. */
  calls: ScriptCall[]
  /** Calls whose process ended while they waited for the host. */
  orphaned: Set<ScriptCall>
  /** Steps that the process was asked for and has not answered. */
  steps: { call: ScriptCall; ticks: number }[]
  known: Map<string, number>
  stopWatch: (() => void) | undefined
  hung: ScriptCall | undefined
  closing: { promise: Promise<void>; resolve: () => void } | undefined
}

const maxKnownScripts = 256
/** A call is given up when its processes ended more often than this while none of its own steps ran. */
const maxLostProcesses = 3
const watchMs = 250
/** Is added to the script's own limit, for transferring values. */
const graceMs = 1_000

export function openScriptRunner(deps: RunnerDeps) {
  const runner: Runner = {
    ...deps,
    process: undefined,
    ready: false,
    calls: [],
    orphaned: new Set(),
    steps: [],
    known: new Map(),
    stopWatch: undefined,
    hung: undefined,
    closing: undefined,
  }
  return {
    load: () => runner.calls.length,
    pid: () => runner.process?.pid,
    start: (call: ScriptCall) => startCall(runner, call),
    calls: () => [...runner.calls, ...runner.orphaned],
    abandon: (call: ScriptCall) => abandon(runner, call),
    close: () => close(runner),
  }
}

/** Never throws, since the caller may have more calls to start. */
function startCall(runner: Runner, call: ScriptCall): void {
  try {
    const { id, script, inputs, limits, journal } = call
    const start = { t: 'start', id, hash: script.hash, inputs, limits, journal } satisfies ToScriptProcess
    const line = JSON.stringify(start)
    const onMessage = (message: FromScriptProcess) => receive(runner, message)
    const onExit = (lastWords: string) => processEnded(runner, lastWords)
    runner.process ??= startScriptProcess({ onMessage, onExit }, runner.wrapper)
    ensureKnown(runner, call)
    ask(runner, call, line)
    runner.calls.push(call)
    call.starts += 1
  } catch (error) {
    call.reject(asAppError(error, 'TOOL_004'))
  }
}

function ensureKnown(runner: Runner, call: ScriptCall): void {
  const { hash, path, montyCode: code, declarations } = call.script
  if (!runner.known.has(hash)) {
    const inputs = declarations.inputs.map(({ name }) => name)
    const externals = declarations.externals.map(({ name }) => name)
    send(runner, { t: 'code', hash, path, code, inputs, externals })
  }
  runner.known.set(hash, call.id)
  if (runner.known.size > maxKnownScripts) forgetOldest(runner)
}

function forgetOldest(runner: Runner): void {
  const [oldest] = [...runner.known].reduce((least, other) => (other[1] < least[1] ? other : least))
  runner.known.delete(oldest)
  send(runner, { t: 'forget', hash: oldest })
}

function send(runner: Runner, message: ToScriptProcess): void {
  runner.process?.send(JSON.stringify(message))
}

function ask(runner: Runner, call: ScriptCall, line: string): void {
  runner.process?.send(line, { isBusy: runner.steps.length > 0 })
  runner.steps.push({ call, ticks: 0 })
  watch(runner)
}

function receive(runner: Runner, message: FromScriptProcess): void {
  if (message.t === 'ready') {
    runner.ready = true
    return
  }
  const step = runner.steps.shift()
  if (step === undefined || step.call.id !== message.id) return runner.process?.kill()
  if (message.t === 'end') return finish(runner, step.call, message)
  if (step.call.settled) return drop(runner, step.call)
  answer(runner, step.call, message).catch((error: unknown) => fail(runner, step.call, error))
}

/** When the process ends meanwhile, the answer still counts, and the call goes on with it in another process. */
async function answer(runner: Runner, call: ScriptCall, asked: { name: string; args: unknown[] }): Promise<void> {
  const asking = runner.process
  const line = await answerExternal(call, asked)
  if (runner.process !== asking) {
    runner.orphaned.delete(call)
    return line === undefined ? undefined : runner.requeue(call)
  }
  if (!runner.calls.includes(call)) return // it was abandoned
  if (line === undefined) return drop(runner, call)
  ask(runner, call, line)
}

function fail(runner: Runner, call: ScriptCall, error: unknown): void {
  call.reject(asAppError(error, 'TOOL_004'))
  runner.orphaned.delete(call)
  abandon(runner, call)
}

function finish(runner: Runner, call: ScriptCall, ended: FromScriptProcess & { t: 'end' }): void {
  const { ending, ownMs, printedChars } = ended
  removeCall(runner, call)
  call.reported = { ownMs, printedChars }
  const isOurFault = ending.kind === 'diverged' && call.starts > 1
  call.resolve(isOurFault ? crashedEnding(`its process ended, and run again ${ending.message}`) : ending)
  runner.onFree()
}

function removeCall(runner: Runner, call: ScriptCall): void {
  const index = runner.calls.indexOf(call)
  if (index !== -1) runner.calls.splice(index, 1)
}

function drop(runner: Runner, call: ScriptCall): void {
  removeCall(runner, call)
  send(runner, { t: 'drop', id: call.id })
  runner.onFree()
}

function abandon(runner: Runner, call: ScriptCall): void {
  const isWaiting = runner.calls.includes(call) && !runner.steps.some((step) => step.call === call)
  if (isWaiting) drop(runner, call)
}

/** Kills a process whose step takes too long. Counts ticks, so that a busy host blames no script for its own delay. */
function watch(runner: Runner): void {
  if (runner.stopWatch !== undefined) return
  runner.stopWatch = after(watchMs, () => {
    runner.stopWatch = undefined
    const [first] = runner.steps
    if (first === undefined) return
    if (runner.ready) first.ticks += 1
    if (first.ticks * watchMs > first.call.limits.durationMs + graceMs) {
      runner.hung = first.call
      runner.process?.kill()
    } else watch(runner)
  })
}

function processEnded(runner: Runner, lastWords: string): void {
  const { hung, closing } = runner
  const blamed = runner.ready ? runner.steps[0]?.call : undefined
  const running = new Set(runner.steps.map(({ call }) => call))
  runner.stopWatch?.()
  Object.assign(runner, { process: undefined, ready: false, steps: [], stopWatch: undefined, hung: undefined })
  const calls = runner.calls.splice(0)
  runner.known.clear()
  if (closing !== undefined) return closing.resolve()
  runner.log?.warn('a tool-script process ended', { calls: calls.length, script: blamed?.script.path, lastWords })
  blamed?.resolve(blamed === hung ? hungEnding(blamed) : crashedEnding(lastWords))
  for (const call of calls) {
    if (call === blamed) continue
    if (blamed === undefined) call.lostProcesses += 1
    if (call.lostProcesses > maxLostProcesses) call.resolve(crashedEnding(lastWords))
    else if (running.has(call)) runner.requeue(call)
    else runner.orphaned.add(call) // `answer` requeues it
  }
  runner.onFree()
}

function hungEnding({ limits }: ScriptCall): ScriptEnding {
  const message = `the script did not answer within ${limits.durationMs + graceMs} ms and its process was ended`
  return { kind: 'stopped', code: 'TOOL_003', limit: 'wall_clock', message }
}

function crashedEnding(message: string): ScriptEnding {
  return { kind: 'crashed', code: 'TOOL_004', message }
}

async function close(runner: Runner): Promise<void> {
  runner.stopWatch?.()
  if (runner.process === undefined) return
  runner.closing ??= Promise.withResolvers<void>()
  runner.process.kill()
  await runner.closing.promise
}
