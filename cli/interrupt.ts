import { z } from 'zod'
import { after, repeatEvery } from '#platform/clock.ts'
import { openSignalFilter } from '#platform/signal-filter.ts'
import { identify, isAlive } from './process-identity.ts'

const interrupted = 130
/** An embedded stack takes about 10 s to stop at most. */
const patienceMs = 12_000
const lookMs = 500
/** What remora.mjs says when it runs itself again on another Node. */
const Launcher = z.object({ parent: z.int() })

export type InterruptOptions = {
  limitMs?: number
  /** npx does not hand on a SIGTERM of its own, as a supervisor sends it: losing npx is then the signal. */
  startedByNpx?: boolean
}

/**
 * Aborted on the first SIGINT, SIGTERM or SIGHUP, when the reader of stdout or stderr goes away, and when a program that started
 * this one with a channel dies. What has not ended `limitMs` later is ended with code 130. Another signal exits at once;
 * but within half a second it is the same one again, since npx and a terminal both hand a Ctrl-C on.
 */
export function onInterrupt({ limitMs = patienceMs, startedByNpx = false }: InterruptOptions = {}): AbortSignal {
  const abort = new AbortController()
  const tell = openSignalFilter()
  const interrupt = () => {
    const told = tell()
    if (told === 'again') process.exit(interrupted)
    if (told === 'first') after(limitMs, () => process.exit(interrupted))
    abort.abort(new Error('interrupted'))
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  if (startedByNpx && process.send === undefined) whenGone(process.ppid, interrupt)
  if (startedByNpx) process.once('message', (said) => whenGone(Launcher.parse(said).parent, interrupt))
  for (const stream of [process.stdout, process.stderr]) stream.on('error', interrupt)
  process.on('disconnect', interrupt)
  process.channel?.unref()
  return abort.signal
}

function whenGone(pid: number, then: () => void): void {
  const known = identify(pid)
  const stop = repeatEvery(lookMs, async () => {
    const parent = await known
    if (parent.startedAt === '' || (await isAlive(parent))) return // what cannot be proven alive cannot be missed
    void stop()
    then()
  })
}
