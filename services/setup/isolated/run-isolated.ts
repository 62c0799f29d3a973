import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { AppError, hasCode, isErrorCode } from '#domain/error.ts'

/** Holds all that a setup's process is told. The snapshot's tar is its descriptor `base`, and the result goes to `result`. */
export const IsolatedSetup = z.strictObject({
  dir: z.string(),
  command: z.string(),
  hasPython: z.boolean(),
  sandbox: z.strictObject({
    runtime: z.enum(['auto', 'bubblewrap', 'none']),
    bubblewrap: z.string().optional(),
    searchPath: z.string(),
    paths: z.array(z.string()),
  }),
  limits: z.strictObject({ wallMs: z.number(), memoryBytes: z.number(), diskBytes: z.number(), processes: z.number() }),
  registries: z.array(z.string()),
  internalRegistries: z.array(z.string()),
  variables: z.record(z.string(), z.string()),
  maxDownloadBytes: z.number(),
})
export type IsolatedSetup = z.infer<typeof IsolatedSetup>

export const isolatedDescriptors = { base: 4, result: 5 } as const

const common = { durationMs: z.number(), hosts: z.record(z.string(), z.number()), refused: z.array(z.string()) }
const IsolatedAnswer = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('made'), ...common }),
  z.strictObject({ kind: z.literal('failed'), reason: z.string(), output: z.string(), ...common }),
  z.strictObject({ kind: z.literal('fault'), code: z.string(), reason: z.string() }),
])
export type IsolatedAnswer = z.infer<typeof IsolatedAnswer>

export type SetupEnd = Exclude<IsolatedAnswer, { kind: 'fault' }>

const entry = fileURLToPath(new URL('./setup-process.ts', import.meta.url))
const keptErrors = 4_000

/**
 * Runs a setup in a process of its own with an empty environment, and passes its result's tar to `store`. When the setup fails,
 * reading that throws. TOOL_005 without a sandbox, TOOL_004 when the process dies; throws also what `store` does, and the reason
 * of `signal`.
 */
export async function runIsolated(
  setup: Omit<IsolatedSetup, 'dir'>,
  base: number,
  store: (tar: AsyncIterable<Uint8Array>) => Promise<unknown>,
  signal: AbortSignal,
): Promise<SetupEnd> {
  signal.throwIfAborted()
  const dir = await mkdtemp(join(tmpdir(), 'remora-setup-'))
  const child = fork(entry, [], {
    cwd: '/',
    env: {},
    execArgv: [],
    detached: true, // Ctrl-C in the terminal of an embedded stack is for the stack
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', base, 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const answer = answerOf(child)
  answer.catch(() => {}) // whoever reads the result learns it, or does not any more
  let end: SetupEnd | undefined
  try {
    await new Promise<void>((resolve, reject) =>
      child.send({ ...setup, dir }, (error) => (error ? reject(error) : resolve())),
    )
    await store(resultOf(child, answer))
    end = await answer
    return end
  } catch (error) {
    signal.throwIfAborted()
    // The setup's own failure, and not that of the store, by which the setup fails as well.
    const reason = hasCode(error, 'SETUP_001') ? await answer : undefined
    if (reason?.kind === 'failed') return reason
    throw error
  } finally {
    signal.removeEventListener('abort', kill)
    kill()
    await rm(dir, { recursive: true, force: true })
  }
}

async function* resultOf(child: ChildProcess, answer: Promise<SetupEnd>): AsyncGenerator<Uint8Array> {
  const from = child.stdio.at(isolatedDescriptors.result)
  if (from instanceof Readable) yield* from
  const end = await answer
  if (end.kind === 'failed') throw new AppError('SETUP_001', end.reason)
}

async function answerOf(child: ChildProcess): Promise<SetupEnd> {
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = `${errors}${text}`.slice(-keptErrors)))
  let reply: unknown
  child.once('message', (message) => (reply = message))
  const [code, by]: unknown[] = await once(child, 'close')
  const { data } = IsolatedAnswer.safeParse(reply)
  if (data === undefined) {
    const how = typeof by === 'string' ? by : `exit code ${String(code)}`
    throw new AppError('TOOL_004', `the process of the setup ended with ${how}: ${errors.trim().slice(-500)}`)
  }
  if (data.kind !== 'fault') return data
  throw new AppError(isErrorCode(data.code) ? data.code : 'TOOL_004', data.reason)
}
