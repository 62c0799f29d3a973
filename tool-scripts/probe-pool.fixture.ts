import { afterEach, beforeEach } from 'vitest'
import { compileScript } from './compiled-script.ts'
import type { ScriptRequest } from './script-call.ts'
import { openScriptPool, type RunEnding, type ScriptPool } from './script-pool.ts'

export const head = 'from grail import Input, external\n'
export const readFile = `${head}@external\nasync def read_file(path: str) -> str: ...\n`
/** Shared references that are a value of 2^45 numbers once they leave the script. */
export const bomb = 'x = []\nfor i in range(45):\n    x = [x, x]\nx'
const forever = new AbortController().signal

export type ProbePool = {
  run(source: string, request?: Partial<ScriptRequest>, signal?: AbortSignal): Promise<RunEnding>
  pids(): number[]
  close(): Promise<void>
  /** A call that waits in its external, whose arguments go to `calls`, until the test lets it go. */
  waitingCall(options?: { signal?: AbortSignal; calls?: unknown[] }): Promise<WaitingCall>
}
export type WaitingCall = { ending: Promise<RunEnding>; release: (text: string) => void }

/** A pool of one process for each test of the file. */
export function useProbePool(): ProbePool {
  let pool: ScriptPool
  beforeEach(() => {
    pool = openScriptPool({ size: 1 })
  })
  afterEach(() => pool.close())
  const run: ProbePool['run'] = async (source, request = {}, signal = forever) => {
    const script = await compileScript({ path: 'tools/probe.pym', source })
    return pool.run(script, { inputs: {}, externals: {}, ...request }, signal)
  }
  return {
    run,
    pids: () => pool.pids(),
    close: () => pool.close(),
    async waitingCall({ signal = forever, calls = [] } = {}) {
      const asked = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<string>()
      const read_file = (args: unknown[]): Promise<string> => {
        calls.push(args)
        asked.resolve()
        return answer.promise
      }
      const ending = run(`${readFile}await read_file("a")`, { externals: { read_file } }, signal)
      ending.catch(() => {}) // some tests look at it only later
      await asked.promise
      return { ending, release: answer.resolve }
    },
  }
}
