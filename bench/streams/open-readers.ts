import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { processCpu } from '../remora/process-cpu.ts'

/** `after`: the number of the last event it has. A slow one takes little until it is told to finish. */
const ReaderPlan = z.strictObject({ kind: z.enum(['sse', 'ws']), isSlow: z.boolean(), after: z.int() })
export type ReaderPlan = z.infer<typeof ReaderPlan>

/** Orders a process of readers may get. It answers `open` when all are connected, and `finish` when all have the event `last`. */
export const ReaderOrder = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('open'), url: z.string(), token: z.string(), readers: z.array(ReaderPlan) }),
  z.strictObject({ do: z.literal('measure') }),
  z.strictObject({ do: z.literal('finish'), last: z.int() }),
])

const ReaderFigures = z.strictObject({
  /** Counts, by the whole ms between append and arrival, the events of readers that are not slow. */
  byMs: z.array(z.int()),
  /** Events that came to all readers until they were told to finish. */
  frames: z.int(),
  lost: z.int(),
  doubled: z.int(),
  /** Tells how far the slowest reader was behind then, in events, and how long it took to have all. */
  behind: z.int(),
  caughtUpMs: z.number(),
})
export type ReaderFigures = z.infer<typeof ReaderFigures>

const processes = 2
const entry = fileURLToPath(new URL('reader-main.ts', import.meta.url))

/** Connects readers, in two processes of their own. */
export async function openReaders({ url, token }: { url: string; token: string }, plans: readonly ReaderPlan[]) {
  const children = Array.from({ length: processes }, () => fork(entry, { execArgv: [] }))
  const tell = (orderOf: (at: number) => z.infer<typeof ReaderOrder>) =>
    children.forEach((child, at) => child.send(orderOf(at)))
  const answers = <T>(schema: z.ZodType<T>) => Promise.all(children.map((child) => answerOf(child, schema)))
  const plansOf = (at: number) => plans.filter((_, index) => index % processes === at)
  tell((at) => ({ do: 'open', url, token, readers: plansOf(at) }))
  await answers(z.literal('opened'))
  return {
    cpuMs: () => children.reduce((sum, { pid = 0 }) => sum + processCpu(pid).own, 0),
    /** From now on events are counted and timed. */
    measure: () => tell(() => ({ do: 'measure' })),
    /** Resolves when all have event `last`, or after half a minute, and ends their processes. */
    async finish(last: number): Promise<ReaderFigures> {
      tell(() => ({ do: 'finish', last }))
      const all = await answers(ReaderFigures)
      for (const child of children) child.disconnect()
      return together(all)
    },
  }
}

/** The next message of a child process. */
export async function answerOf<T>(child: ChildProcess, schema: z.ZodType<T>): Promise<T> {
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${child.spawnargs[1]} has ended`)
  })
  const [message]: unknown[] = await Promise.race([once(child, 'message'), ended])
  return schema.parse(message)
}

function together(all: readonly ReaderFigures[]): ReaderFigures {
  const sum = (figure: (one: ReaderFigures) => number) => all.reduce((total, one) => total + figure(one), 0)
  return {
    byMs: (all[0]?.byMs ?? []).map((_, ms) => sum(({ byMs }) => byMs[ms] ?? 0)),
    frames: sum(({ frames }) => frames),
    lost: sum(({ lost }) => lost),
    doubled: sum(({ doubled }) => doubled),
    behind: Math.max(...all.map(({ behind }) => behind)),
    caughtUpMs: Math.max(...all.map(({ caughtUpMs }) => caughtUpMs)),
  }
}
