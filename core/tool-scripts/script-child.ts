import { readLines, writeLine } from './line-channel.ts'
import { resumeMonty, startMonty, type MontyRun, type MontyScript, type ScriptStep } from './monty-run.ts'
import type { HostAnswer } from './replay-journal.ts'
import type { FromScriptProcess, ToScriptProcess } from './script-protocol.ts'

/**
 * The process that runs tool scripts. It knows nothing but its two pipes: it reads a message, does what it says and
 * answers before it reads the next, so the host always knows which script is running. It ends when the host closes its
 * side. Blocking reads and writes: there is nothing else to do here, and an event loop would cost more than the scripts.
 */
const input = 0
const output = 1
const scripts = new Map<string, MontyScript>()
const runs = new Map<number, MontyRun>()

function carryOut(message: ToScriptProcess): void {
  switch (message.t) {
    case 'code':
      scripts.set(message.hash, {
        path: message.path,
        code: message.code,
        inputs: message.inputs,
        externals: message.externals,
      })
      return
    case 'forget':
      scripts.delete(message.hash)
      return
    case 'start':
      return start(message)
    case 'answer':
      return resume(message.id, { value: message.value })
    case 'raise':
      return resume(message.id, { type: message.type, message: message.message })
    case 'drop':
      runs.delete(message.id)
  }
}

function start({ id, hash, inputs, limits, journal = [] }: ToScriptProcess & { t: 'start' }): void {
  const script = scripts.get(hash)
  if (script === undefined) throw new Error(`script ${hash} was never sent`)
  const { run, step } = startMonty(script, { inputs, limits, journal })
  runs.set(id, run)
  report(id, run, step)
}

function resume(id: number, answer: HostAnswer): void {
  const run = runs.get(id)
  if (run === undefined) throw new Error(`script ${id} does not wait`)
  report(id, run, resumeMonty(run, answer))
}

function report(id: number, run: MontyRun, step: ScriptStep): void {
  const line = JSON.stringify(messageOf(id, run, step))
  const isTooLarge = line.length > run.limits.valueBytes + run.limits.printedBytes
  if (step.kind === 'end' || isTooLarge) runs.delete(id)
  if (!isTooLarge) return writeLine(output, line)
  const message = `${step.kind === 'call' ? `the arguments of ${step.name}` : 'the result'} is larger than ${run.limits.valueBytes} bytes`
  const ending = { kind: 'stopped', code: 'TOOL_006', limit: 'value_size', message } as const
  send(messageOf(id, run, { kind: 'end', ending }))
}

function messageOf(id: number, run: MontyRun, step: ScriptStep): FromScriptProcess {
  if (step.kind === 'call') return { t: 'call', id, name: step.name, args: step.args }
  return { t: 'end', id, ending: step.ending, ownMs: run.ownMs, printedChars: run.printed.length }
}

function send(message: FromScriptProcess): void {
  writeLine(output, JSON.stringify(message))
}

send({ t: 'ready' })
for (const line of readLines(input)) carryOut(JSON.parse(line))
