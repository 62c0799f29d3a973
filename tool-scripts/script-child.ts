import { collectGarbage } from '#platform/collect-garbage.ts'
import { readLines, writeLine } from './line-channel.ts'
import { type MontyRun, type MontyScript, resumeMonty, type ScriptStep, startMonty } from './monty-run.ts'
import type { ExternalAnswer } from './replay-journal.ts'
import type { FromScriptProcess, ToScriptProcess } from './script-process.ts'

/**
 * The process that runs tool scripts. It has nothing but its pipes: it reads a message, executes it and answers before
 * it reads the next one, so the host always knows which script is running. It ends when the host closes its side. Reads
 * and writes block, since there is nothing else to do, and turns of the event loop would cost more than the scripts.
 */
const input = 0
const output = 1
const scripts = new Map<string, MontyScript>()
const runs = new Map<number, MontyRun>()

/** Returns about how many bytes Monty may hold because of the message. */
function carryOut(message: ToScriptProcess): number {
  switch (message.t) {
    case 'code':
      scripts.set(message.hash, message)
      return 0
    case 'forget':
      scripts.delete(message.hash)
      return 0
    case 'start':
      return start(message)
    case 'answer':
      return resume(message.id, { value: message.value })
    case 'raise':
      return resume(message.id, { type: message.type, message: message.message })
    case 'drop':
      return drop(message.id)
  }
}

function start({ id, hash, inputs, limits, journal = [] }: ToScriptProcess & { t: 'start' }): number {
  const script = scripts.get(hash)
  if (script === undefined) throw new Error(`script ${hash} was never sent`)
  const { run, step } = startMonty(script, { inputs, limits, journal })
  runs.set(id, run)
  return report(id, run, step)
}

function resume(id: number, answer: ExternalAnswer): number {
  const run = runs.get(id)
  if (run === undefined) throw new Error(`script ${id} does not wait`)
  return report(id, run, resumeMonty(run, answer))
}

/** A waiting script holds all its memory; its dump is about as large, and is freed with it. */
function drop(id: number): number {
  const dump = runs.get(id)?.waiting?.dump()
  runs.delete(id)
  return 2 * (dump?.length ?? 0)
}

function report(id: number, run: MontyRun, step: ScriptStep): number {
  const line = JSON.stringify(messageOf(id, run, step))
  const isTooLarge = line.length > run.limits.valueBytes + run.limits.printedBytes
  if (step.kind === 'end' || isTooLarge) runs.delete(id)
  writeLine(output, isTooLarge ? JSON.stringify(messageOf(id, run, tooLarge(run, step))) : line)
  const bytes = line.length + run.copiedBytes
  run.copiedBytes = 0
  return bytes
}

function tooLarge({ limits }: MontyRun, step: ScriptStep): ScriptStep {
  const message = `${step.kind === 'call' ? `the arguments of ${step.name}` : 'the result'} is larger than ${limits.valueBytes} bytes`
  return { kind: 'end', ending: { kind: 'stopped', code: 'TOOL_006', limit: 'value_size', message } }
}

function messageOf(id: number, run: MontyRun, step: ScriptStep): FromScriptProcess {
  if (step.kind === 'call') return { t: 'call', id, name: step.name, args: step.args }
  return { t: 'end', id, ending: step.ending, ownMs: run.ownMs, printedChars: run.printed.length }
}

/** A turn of the event loop costs a few microseconds, and small values hold little memory. */
const messagesPerTurn = 64
/** A garbage collection costs a few milliseconds, less than the transfer of so much. */
const bytesPerCollection = 8 * 1024 * 1024

let messages = 0
let heldBytes = 0

/** Frees Monty's native memory after `bytes` were transferred: V8 does not know how much there is. Returns a promise when a turn is due. */
function freeMemory(bytes: number): Promise<void> | undefined {
  messages += 1
  heldBytes += bytes
  const isFull = heldBytes > bytesPerCollection
  if (messages < messagesPerTurn && !isFull) return undefined
  if (isFull) {
    collectGarbage()
    heldBytes = 0
  }
  messages = 0
  return new Promise((resolve) => void setImmediate(resolve))
}

writeLine(output, JSON.stringify({ t: 'ready' } satisfies FromScriptProcess))
for (const line of readLines(input)) {
  const turn = freeMemory(line.length + carryOut(JSON.parse(line)))
  if (turn !== undefined) await turn
}
