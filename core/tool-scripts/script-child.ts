import { openFreeing } from './free-native.ts'
import { readLines, writeLine } from './line-channel.ts'
import { resumeMonty, startMonty, type MontyRun, type MontyScript, type ScriptStep } from './monty-run.ts'
import type { HostAnswer } from './replay-journal.ts'
import type { FromScriptProcess, ToScriptProcess } from './script-protocol.ts'

/**
 * The process that runs tool scripts. It knows nothing but its two pipes: it reads a message, does what it says and
 * answers before it reads the next, so the host always knows which script is running. It ends when the host closes its
 * side. Blocking reads and writes: there is nothing else to do here, and an event loop for each would cost more than the scripts.
 */
const input = 0
const output = 1
const scripts = new Map<string, MontyScript>()
const runs = new Map<number, MontyRun>()

/** Returns the bytes that Monty may hold of it, about. */
function carryOut(message: ToScriptProcess): number {
  switch (message.t) {
    case 'code':
      scripts.set(message.hash, {
        path: message.path,
        code: message.code,
        inputs: message.inputs,
        externals: message.externals,
      })
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

function resume(id: number, answer: HostAnswer): number {
  const run = runs.get(id)
  if (run === undefined) throw new Error(`script ${id} does not wait`)
  return report(id, run, resumeMonty(run, answer))
}

/** A script that waits holds its whole memory; its dump is about as large, and gone with it. */
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

writeLine(output, JSON.stringify({ t: 'ready' } satisfies FromScriptProcess))
const freeing = openFreeing()
for (const line of readLines(input)) {
  const bytes = carryOut(JSON.parse(line))
  const turn = freeing(line.length + bytes)
  if (turn !== undefined) await turn
}
