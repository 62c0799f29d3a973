import { after } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { plainValue } from './plain-value.ts'
import type { ScriptCall } from './script-call.ts'
import type { ScriptEnding } from './script-ending.ts'
import { ScriptError } from './script-error.ts'
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
  close(): Promise<void>
}

type LaneDeps = {
  log?: Pick<Log, 'warn'> | undefined
  /** A slot is free. */
  onFree(): void
  /** The process went before this call had begun: it can run elsewhere. */
  giveBack(call: ScriptCall): void
}

type Lane = LaneDeps & {
  process: ScriptProcess | undefined
  ready: boolean
  failedStarts: number
  calls: Map<number, ScriptCall>
  /** What the process was asked and has not answered. */
  steps: { call: ScriptCall; begins: boolean; ticks: number }[]
  /** Hashes of the scripts the process knows, least recently used first. */
  known: Set<string>
  stopWatch: (() => void) | undefined
  hung: ScriptCall | undefined
  closing: { promise: Promise<void>; resolve: () => void } | undefined
}

const maxKnownScripts = 256
const maxFailedStarts = 3
const watchMs = 250
/** On top of the script's own limit, for handing values over. */
const graceMs = 1_000

export function openScriptLane(deps: LaneDeps): ScriptLane {
  const lane: Lane = {
    ...deps,
    process: undefined,
    ready: false,
    failedStarts: 0,
    calls: new Map(),
    steps: [],
    known: new Set(),
    stopWatch: undefined,
    hung: undefined,
    closing: undefined,
  }
  return {
    get load() {
      return lane.calls.size
    },
    get pid() {
      return lane.process?.pid
    },
    start: (call) => startCall(lane, call),
    abandon: (call) => abandon(lane, call),
    close: () => close(lane),
  }
}

function startCall(lane: Lane, call: ScriptCall): void {
  lane.process ??= startScriptProcess({
    onMessage: (message) => receive(lane, message),
    onExit: (lastWords) => processEnded(lane, lastWords),
  })
  lane.calls.set(call.id, call)
  const { hash, path, montyCode: code, declarations } = call.script
  if (!lane.known.delete(hash)) {
    const names = {
      inputs: declarations.inputs.map(({ name }) => name),
      externals: declarations.externals.map(({ name }) => name),
    }
    send(lane, { t: 'code', hash, path, code, ...names })
  }
  lane.known.add(hash)
  forgetOldest(lane)
  ask(lane, call, JSON.stringify({ t: 'start', id: call.id, hash, inputs: call.inputs, limits: call.limits }))
}

function forgetOldest(lane: Lane): void {
  const [oldest] = lane.known
  if (lane.known.size <= maxKnownScripts || oldest === undefined) return
  lane.known.delete(oldest)
  send(lane, { t: 'forget', hash: oldest })
}

function send(lane: Lane, message: ToScriptProcess): void {
  lane.process?.send(JSON.stringify(message))
}

/** Sends what the process answers with one step of `call`. */
function ask(lane: Lane, call: ScriptCall, line: string, begins = true): void {
  lane.steps.push({ call, begins, ticks: 0 })
  lane.process?.send(line)
  watch(lane)
}

function receive(lane: Lane, message: FromScriptProcess): void {
  if (message.t === 'ready') {
    lane.ready = true
    lane.failedStarts = 0
    return
  }
  const step = lane.steps.shift()
  if (step === undefined || step.call.id !== message.id) {
    lane.process?.kill()
    return
  }
  if (message.t === 'end') return finish(lane, step.call, message.ending)
  if (step.call.settled) return drop(lane, step.call)
  void answer(lane, step.call, message)
}

async function answer(lane: Lane, call: ScriptCall, asked: { name: string; args: unknown[] }): Promise<void> {
  const line = await answerLine(call, asked)
  if (lane.calls.get(call.id) !== call) return // the process has gone, and the call with it
  if (line === undefined) return drop(lane, call)
  ask(lane, call, line, false)
}

/** The host's answer as it is sent; undefined when the call ended here, by the host's error or while it waited. */
async function answerLine(call: ScriptCall, asked: { name: string; args: unknown[] }): Promise<string | undefined> {
  try {
    const external = call.externals[asked.name]
    if (external === undefined) throw new Error(`external ${asked.name} is not answered`)
    const value = plainValue(await external(asked.args))
    if (call.settled) return undefined
    const line = JSON.stringify({ t: 'answer', id: call.id, value })
    if (line.length <= call.limits.valueBytes) return line
    throw new ScriptError('ValueError', `the answer of ${asked.name} is larger than ${call.limits.valueBytes} bytes`)
  } catch (error) {
    if (call.settled) return undefined
    if (error instanceof ScriptError) {
      return JSON.stringify({ t: 'raise', id: call.id, type: error.pythonType, message: error.message })
    }
    call.reject(error)
    return undefined
  }
}

function finish(lane: Lane, call: ScriptCall, ending: ScriptEnding): void {
  lane.calls.delete(call.id)
  call.resolve(ending)
  lane.onFree()
}

function drop(lane: Lane, call: ScriptCall): void {
  lane.calls.delete(call.id)
  send(lane, { t: 'drop', id: call.id })
  lane.onFree()
}

function abandon(lane: Lane, call: ScriptCall): void {
  const isWaiting = lane.calls.has(call.id) && !lane.steps.some((step) => step.call === call)
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
  const [first] = lane.steps
  const blamed = lane.ready ? first?.call : undefined
  lane.failedStarts += lane.ready ? 0 : 1
  const begun = new Set(lane.ready ? lane.steps.filter((step) => !step.begins).map((step) => step.call.id) : [])
  const queued = new Set(lane.steps.filter((step) => step.call !== blamed).map((step) => step.call.id))
  const calls = [...lane.calls.values()]
  const { hung, closing } = lane
  lane.stopWatch?.()
  Object.assign(lane, { process: undefined, ready: false, steps: [], stopWatch: undefined, hung: undefined })
  lane.calls.clear()
  lane.known.clear()
  if (closing !== undefined) return closing.resolve()
  lane.log?.warn('a tool-script process ended', { calls: calls.length, script: blamed?.script.path, lastWords })
  for (const call of calls) {
    const neverBegan = queued.has(call.id) && !begun.has(call.id)
    if (call === hung) call.resolve(hungEnding(call))
    else if (neverBegan && lane.failedStarts < maxFailedStarts) lane.giveBack(call)
    else call.resolve(crashedEnding(call === blamed ? lastWords : `a process that it shared ended: ${lastWords}`))
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
