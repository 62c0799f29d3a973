import { AppError } from '#domain/error.ts'
import type { JournalEntry } from '#domain/external-journal.ts'
import { answerSize, askedSize, fullJournal } from './script-limits.ts'
import { plainValue, ValueRefused } from './plain-value.ts'
import { answerFault, argumentFault, type ScriptCall, ScriptError } from './script-call.ts'
import type { ExternalDeclaration } from './script-declarations.ts'
import type { FromScriptProcess } from './script-process.ts'
import { ScriptSuspended, type SuspendedEnding } from './script-ending.ts'

type ExternalCall = Pick<FromScriptProcess & { t: 'call' }, 'name' | 'args'>

/** Answers one call of a script and adds the answer to the journal. Returns the line to send; undefined when the script's run ended. */
export async function answerExternal(call: ScriptCall, asked: ExternalCall): Promise<string | undefined> {
  try {
    const calls = call.journal.length + 1
    const size = call.journalBytes + askedSize(asked)
    if (endsFull(call, { calls, size })) return undefined
    const answered = await entryOf(call, asked)
    if (call.settled) return undefined
    const { entry, line } = fitting(call, answered)
    call.journalBytes = size + answerSize(entry)
    if (endsFull(call, { calls, size: call.journalBytes })) return undefined
    call.journal.push(entry)
    return line
  } catch (error) {
    if (!(error instanceof ScriptSuspended)) call.reject(error)
    else call.resolve(suspended(call, asked, error))
    return undefined
  }
}

function suspended(call: ScriptCall, { name, args }: ExternalCall, { awaits }: ScriptSuspended): SuspendedEnding {
  const waits = { kind: 'suspended' as const, asked: { name, args } }
  if ('question' in awaits) return { ...waits, ...awaits }
  return { ...waits, entry: async () => fitting(call, await entryOf(call, waits.asked, () => awaits.answer)).entry }
}

function endsFull(call: ScriptCall, journal: { calls: number; size: number }): boolean {
  const ending = fullJournal(journal, call.limits)
  if (ending !== undefined) call.resolve(ending)
  return ending !== undefined
}

async function entryOf(
  call: ScriptCall,
  { name, args }: ExternalCall,
  answer = call.externals[name],
): Promise<JournalEntry> {
  const declared = call.script.declarations.externals.find((external) => external.name === name)
  if (declared === undefined || answer === undefined) throw new AppError('TOOL_004', `there is no external ${name}`)
  const refused = argumentFault(declared, args)
  if (refused !== undefined) return { name, args, error: { type: 'TypeError', message: refused } }
  try {
    return { name, args, answer: plainAnswer(declared, await answer(args), call.limits.valueBytes) }
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    return { name, args, error: { type: error.pythonType, message: error.message } }
  }
}

/** Returns the answer as plain JSON. A script may catch one that is too large, not one off its declaration, which is the external's fault. */
function plainAnswer(declared: ExternalDeclaration, answer: unknown, maxSize: number): unknown {
  try {
    const value = plainValue(answer, maxSize)
    const fault = answerFault(declared, value)
    if (fault === undefined) return value
    throw new AppError('TOOL_004', fault)
  } catch (error) {
    if (!(error instanceof ValueRefused)) throw error
    const message = `the answer of ${declared.name} cannot be taken: ${error.message}`
    if (error.reason === 'value_size') throw new ScriptError('ValueError', message)
    throw new AppError('TOOL_004', message, { cause: error })
  }
}

function fitting(call: ScriptCall, entry: JournalEntry): { entry: JournalEntry; line: string } {
  const line = answerLine(call, entry)
  if (line.length <= call.limits.valueBytes) return { entry, line }
  const message = `the answer of ${entry.name} is larger than ${call.limits.valueBytes} bytes`
  const refusal = { name: entry.name, args: entry.args, error: { type: 'ValueError', message } }
  return { entry: refusal, line: answerLine(call, refusal) }
}

function answerLine({ id }: ScriptCall, entry: JournalEntry): string {
  return JSON.stringify(
    'error' in entry ? { t: 'raise', id, ...entry.error } : { t: 'answer', id, value: entry.answer },
  )
}
