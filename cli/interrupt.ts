import { z } from 'zod'
import { after, repeatEvery } from '#platform/clock.ts'
import { openSignalFilter } from '#platform/service-process.ts'
import { identify, isAlive } from '#platform/process-identity.ts'

const interruptedCode = 130
/** An embedded stack takes about 10 s to stop at most. */
const patienceMs = 12_000
const lookMs = 500
/** The message of remora.mjs when it runs itself again on another Node. */
const Launcher = z.object({ parent: z.int() })

export type InterruptOptions = {
  limitMs?: number
  /** npx does not forward a SIGTERM that a supervisor sends it, so the end of npx counts as the signal. */
  startedByNpx?: boolean
}

/**
 * Is aborted on the first SIGINT, SIGTERM or SIGHUP, when the reader of stdout or stderr closes it, and when a program that
 * started this one with an IPC channel dies. The process exits with code 130 if it has not ended `limitMs` later, or at once
 * on a second signal. A signal within half a second of the first counts as the same, because npx and a terminal both
 * forward a Ctrl-C.
 */
export function onInterrupt({ limitMs = patienceMs, startedByNpx = false }: InterruptOptions = {}): AbortSignal {
  const abort = new AbortController()
  const classify = openSignalFilter()
  const interrupt = () => {
    const occurrence = classify()
    if (occurrence === 'again') process.exit(interruptedCode)
    if (occurrence === 'first') after(limitMs, () => process.exit(interruptedCode))
    abort.abort(new Error('interrupted'))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  if (startedByNpx && process.send === undefined) whenEnded(process.ppid, interrupt)
  if (startedByNpx) process.once('message', (message) => whenEnded(Launcher.parse(message).parent, interrupt))
  for (const stream of [process.stdout, process.stderr]) stream.on('error', interrupt)
  process.on('disconnect', interrupt)
  process.channel?.unref()
  return abort.signal
}

function whenEnded(pid: number, then: () => void): void {
  const known = identify(pid)
  const stop = repeatEvery(lookMs, async () => {
    const parent = await known
    if (parent.startedAt === '' || (await isAlive(parent))) return // whether it still runs cannot be known
    void stop()
    then()
  })
}
