import { asAppError } from '#domain/error.ts'
import { after } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { answerExternal } from './answer-external.ts'
import type { ScriptCall } from './script-call.ts'
import type { ScriptEnding } from './script-ending.ts'
import { startScriptProcess, type ScriptProcess } from './script-process.ts'
import type { FromScriptProcess, ToScriptProcess } from './script-protocol.ts'

/**
 * One process and the calls in it. The process does one step of one script at a time and answers in the order it was
 * asked, so the first of `steps` is the script that runs now, and the one to blame when the process hangs or dies.
 * Scripts that wait for the host cost the process nothing; up to `maxCalls` share it.
 */
export type ScriptLane = {
  readonly load: number
  readonly pid: number | undefined
  start(call: ScriptCall): void
  /** The call is of no interest any more; its slot is free as soon as its script does not run. */
  abandon(call: ScriptCall): void
  /** All that it took on and that has not ended. */
  calls(): ScriptCall[]
  close(): Promise<void>
}

type LaneDeps = {
  log?: Pick<Log, 'warn'> | undefined
  /** A slot is free. */
  onFree(): void
  /** The process went, and this call was not to blame: it can run elsewhere, over its journal. */
  giveBack(call: ScriptCall): void
}

type Lane = LaneDeps & {
  process: ScriptProcess | undefined
  ready: boolean
  /** In the process. Few, and thousands come and go: a Map would keep what it dropped until a full collection. */
  calls: ScriptCall[]
  /** Their process ended while they waited for the host. */
  adrift: Set<ScriptCall>
  /** What the process was asked and has not answered. */
  steps: { call: ScriptCall; ticks: number }[]
  /** The scripts the process knows, by hash, and when each was last used. */
  known: Map<string, number>
  stopWatch: (() => void) | undefined
  hung: ScriptCall | undefined
  closing: { promise: Promise<void>; resolve: () => void } | undefined
}

const maxKnownScripts = 256
/** A call whose processes end this often while none of its own steps ran is not run again. */
const maxLostProcesses = 3
const watchMs = 250
/** On top of the script's own limit, for handing values over. */
const graceMs = 1_000

export function openScriptLane(deps: LaneDeps): ScriptLane {
  const lane: Lane = {
    ...deps,
    process: undefined,
    ready: false,
    calls: [],
    adrift: new Set(),
    steps: [],
    known: new Map(),
    stopWatch: undefined,
    hung: undefined,
    closing: undefined,
  }
  return {
    get load() {
      return lane.calls.length
    },
    get pid() {
      return lane.process?.pid
    },
    start: (call) => startCall(lane, call),
    calls: () => [...lane.calls, ...lane.adrift],
    abandon: (call) => abandon(lane, call),
    close: () => close(lane),
  }
}

/** Never throws: whoever gives a call back has others to think of. */
function startCall(lane: Lane, call: ScriptCall): void {
  try {
    const line = startLine(call)
    lane.process ??= startScriptProcess({
      onMessage: (message) => receive(lane, message),
      onExit: (lastWords) => processEnded(lane, lastWords),
    })
    teach(lane, call)
    ask(lane, call, line)
    lane.calls.push(call)
    call.starts += 1
  } catch (error) {
    call.reject(asAppError(error, 'TOOL_004'))
  }
}

function startLine({ id, script, inputs, limits, journal }: ScriptCall): string {
  const message = { t: 'start', id, hash: script.hash, inputs, limits, journal } satisfies ToScriptProcess
  return JSON.stringify(message)
}

/** The process has to know the script before it starts it. */
function teach(lane: Lane, call: ScriptCall): void {
  const { hash, path, montyCode: code, declarations } = call.script
  if (!lane.known.has(hash)) {
    const names = {
      inputs: declarations.inputs.map(({ name }) => name),
      externals: declarations.externals.map(({ name }) => name),
    }
    send(lane, { t: 'code', hash, path, code, ...names })
  }
  lane.known.set(hash, call.id)
  if (lane.known.size > maxKnownScripts) forgetOldest(lane)
}

function forgetOldest(lane: Lane): void {
  const [oldest] = [...lane.known].reduce((least, other) => (other[1] < least[1] ? other : least))
  lane.known.delete(oldest)
  send(lane, { t: 'forget', hash: oldest })
}

function send(lane: Lane, message: ToScriptProcess): void {
  lane.process?.send(JSON.stringify(message))
}

/** Sends what the process answers with one step of `call`. */
function ask(lane: Lane, call: ScriptCall, line: string): void {
  lane.process?.send(line, { isBusy: lane.steps.length > 0 })
  lane.steps.push({ call, ticks: 0 })
  watch(lane)
}

function receive(lane: Lane, message: FromScriptProcess): void {
  if (message.t === 'ready') {
    lane.ready = true
    return
  }
  const step = lane.steps.shift()
  if (step === undefined || step.call.id !== message.id) {
    lane.process?.kill()
    return
  }
  if (message.t === 'end') return finish(lane, step.call, message)
  if (step.call.settled) return drop(lane, step.call)
  answer(lane, step.call, message).catch((error: unknown) => fail(lane, step.call, error))
}

/** A process that ends meanwhile changes nothing: the answer counts, and the call goes on with it in another one. */
async function answer(lane: Lane, call: ScriptCall, asked: { name: string; args: unknown[] }): Promise<void> {
  const asking = lane.process
  const line = await answerExternal(call, asked)
  if (lane.process !== asking) {
    lane.adrift.delete(call)
    return line === undefined ? undefined : lane.giveBack(call)
  }
  if (!lane.calls.includes(call)) return // it was abandoned
  if (line === undefined) return drop(lane, call)
  ask(lane, call, line)
}

/** What we could not hand over ends its run, and its script is of no interest any more. */
function fail(lane: Lane, call: ScriptCall, error: unknown): void {
  call.reject(asAppError(error, 'TOOL_004'))
  lane.adrift.delete(call)
  abandon(lane, call)
}

function finish(lane: Lane, call: ScriptCall, { ending, ownMs, printedChars }: FromScriptProcess & { t: 'end' }): void {
  removeCall(lane, call)
  call.told = { ownMs, printedChars }
  const isOurFault = ending.kind === 'diverged' && call.starts > 1
  call.resolve(isOurFault ? crashedEnding(`its process ended, and run again ${ending.message}`) : ending)
  lane.onFree()
}

function removeCall(lane: Lane, call: ScriptCall): void {
  const place = lane.calls.indexOf(call)
  if (place !== -1) lane.calls.splice(place, 1)
}

function drop(lane: Lane, call: ScriptCall): void {
  removeCall(lane, call)
  send(lane, { t: 'drop', id: call.id })
  lane.onFree()
}

function abandon(lane: Lane, call: ScriptCall): void {
  const isWaiting = lane.calls.includes(call) && !lane.steps.some((step) => step.call === call)
  if (isWaiting) drop(lane, call)
}

/** Counts how long the same step has been the first; by ticks, so that a busy host blames nobody for its own delay. */
function watch(lane: Lane): void {
  if (lane.stopWatch !== undefined) return
  lane.stopWatch = after(watchMs, () => {
    lane.stopWatch = undefined
    const [first] = lane.steps
    if (first === undefined) return
    if (lane.ready) first.ticks += 1
    if (first.ticks * watchMs > first.call.limits.durationMs + graceMs) {
      lane.hung = first.call
      lane.process?.kill()
      return
    }
    watch(lane)
  })
}

function processEnded(lane: Lane, lastWords: string): void {
  const { hung, closing } = lane
  const blamed = lane.ready ? lane.steps[0]?.call : undefined
  const asked = new Set(lane.steps.map(({ call }) => call))
  lane.stopWatch?.()
  Object.assign(lane, { process: undefined, ready: false, steps: [], stopWatch: undefined, hung: undefined })
  const calls = lane.calls.splice(0)
  lane.known.clear()
  if (closing !== undefined) return closing.resolve()
  lane.log?.warn('a tool-script process ended', { calls: calls.length, script: blamed?.script.path, lastWords })
  blamed?.resolve(blamed === hung ? hungEnding(blamed) : crashedEnding(lastWords))
  for (const call of calls) {
    if (call === blamed) continue
    if (blamed === undefined) call.lostProcesses += 1
    if (call.lostProcesses > maxLostProcesses) call.resolve(crashedEnding(lastWords))
    else if (asked.has(call)) lane.giveBack(call)
    else lane.adrift.add(call) // `answer` gives it back
  }
  lane.onFree()
}

function hungEnding({ limits }: ScriptCall): ScriptEnding {
  const message = `the script did not answer within ${limits.durationMs + graceMs} ms and its process was ended`
  return { kind: 'stopped', code: 'TOOL_003', limit: 'wall_clock', message }
}

function crashedEnding(message: string): ScriptEnding {
  return { kind: 'crashed', code: 'TOOL_004', message }
}

async function close(lane: Lane): Promise<void> {
  lane.stopWatch?.()
  if (lane.process === undefined) return
  lane.closing ??= Promise.withResolvers<void>()
  lane.process.kill()
  await lane.closing.promise
}
