import { inspect } from 'node:util'
import { delay } from '#platform/clock.ts'

type Read<T> = () => T | Promise<T>
type Limit = { withinMs?: number }

/**
 * Reads again and again, until `holds` is true of what was read, or without it until that is neither undefined nor false,
 * and returns it. Fails when one of them throws, or `withinMs` have passed; the error shows both, and the last value.
 */
export async function until<T>(read: Read<T | undefined | false>, options?: Limit & { holds?: never }): Promise<T>
export async function until<T, Held extends T>(
  read: Read<T>,
  options: Limit & { holds: (value: T) => value is Held },
): Promise<Held>
export async function until<T>(read: Read<T>, options: Limit & { holds: (value: T) => boolean }): Promise<T>
export async function until(
  read: Read<unknown>,
  { holds = isAnswer, withinMs = 45_000 }: Limit & { holds?: (value: unknown) => boolean } = {},
): Promise<unknown> {
  const deadline = performance.now() + withinMs
  let last: { value: unknown } | undefined
  const failure = (reason: string, options?: ErrorOptions) => {
    const condition = holds === isAnswer ? '' : `\nholds: ${excerpt(String(holds), 300)}`
    const shown = last === undefined ? 'nothing' : excerpt(show(last.value), 2_000)
    const message = `${reason}\nread: ${excerpt(String(read), 300)}${condition}\nlast value: ${shown}`
    const error = new Error(message, options)
    Error.captureStackTrace(error, until) // the trace begins where the test waits
    return error
  }
  for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 50)) {
    try {
      last = { value: await read() }
      if (holds(last.value)) return last.value
    } catch (cause) {
      throw failure(cause instanceof Error ? cause.message : String(cause), { cause })
    }
    if (performance.now() > deadline) throw failure(`not within ${withinMs} ms`)
    await delay(waitMs)
  }
}

function isAnswer(value: unknown): boolean {
  return value !== undefined && value !== false
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value, { depth: 4, maxArrayLength: null, maxStringLength: null })
}

/** Leaves out the middle of a long text, since a log says most at its end and an object at its beginning. */
function excerpt(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most / 2)} … ${text.slice(-most / 2)}`
}
