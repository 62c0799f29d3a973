import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { after } from '#platform/clock.ts'
import { startLimitedProcess } from './limited-process.ts'

/** What the type checker says of a line of the code, its column in code points; both are 1-based. */
const TypeDiagnostic = z.object({ row: z.int(), column: z.int(), message: z.string() })
export type TypeDiagnostic = z.infer<typeof TypeDiagnostic>

/** What the host and the process say to each other: JSON, one message a line, one `checked` for each code. */
export type ToTypeCheckProcess = { code: string }
export const FromTypeCheckProcess = z.discriminatedUnion('t', [
  z.object({ t: z.literal('ready') }),
  z.object({ t: z.literal('checked'), diagnostics: z.array(TypeDiagnostic) }),
])
export type FromTypeCheckProcess = z.infer<typeof FromTypeCheckProcess>

/** After `hung` and `ended` the process is gone. */
export type TypeCheckAnswer =
  | { kind: 'checked'; diagnostics: TypeDiagnostic[] }
  | { kind: 'hung' }
  | { kind: 'ended'; reason: string }

export type TypeCheckProcess = {
  /** Whether it has checked something before. */
  readonly isUsed: boolean
  /** One at a time. Never rejects. */
  check(code: string): Promise<TypeCheckAnswer>
  /** Ends the process at once, whatever it does. */
  end(): Promise<void>
}

const file = fileURLToPath(new URL('type-check-child.ts', import.meta.url))
/** A host that is killed leaves no process that checks for ever. About 1,000 scripts. */
const cpuSeconds = 60

/** Starts a process that checks types, with `limitMs` for each code from when it is up. */
export function startTypeCheckProcess(limitMs: number): TypeCheckProcess {
  const ready = Promise.withResolvers<void>()
  const exited = Promise.withResolvers<TypeCheckAnswer>()
  let reply = Promise.withResolvers<TypeCheckAnswer>()
  let isUsed = false
  const child = startLimitedProcess(
    { file, message: FromTypeCheckProcess, cpuSeconds },
    {
      onMessage: (message) =>
        message.t === 'ready' ? ready.resolve() : reply.resolve({ kind: 'checked', diagnostics: message.diagnostics }),
      onExit: (lastWords) => exited.resolve({ kind: 'ended', reason: lastWords.split('\n')[0] ?? '' }),
    },
  )
  return {
    get isUsed() {
      return isUsed
    },
    async check(code) {
      await Promise.race([ready.promise, exited.promise])
      reply = Promise.withResolvers()
      child.send(JSON.stringify({ code } satisfies ToTypeCheckProcess), { isBusy: false })
      let hasHung = false
      const stopWatch = after(limitMs, () => {
        hasHung = true
        child.kill()
      })
      const answer = await Promise.race([reply.promise, exited.promise])
      stopWatch()
      isUsed = true
      return hasHung && answer.kind === 'ended' ? { kind: 'hung' } : answer
    },
    async end() {
      child.kill()
      await exited.promise
    },
  }
}
