import { type ChildProcess, fork } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { GitAnswer, GitCall } from './git-process.ts'

export type GitOutput = { code: number; stdout: Buffer; stderr: string }

export type GitOptions = {
  input?: string | Uint8Array
  /** Added to an environment that has no configuration of the machine or the user. */
  variables?: Record<string, string>
  /** Exit codes that are no failure; 0 always. */
  allow?: number[]
}

/** Never asks anybody and reads no configuration but the repository's. */
const quietGit = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
  TZ: 'UTC',
} as const

/** Runs the git of this machine in `folder`; throws what it complained about. */
export async function runGit(folder: string, args: readonly string[], options: GitOptions = {}): Promise<GitOutput> {
  const { input = '', variables = {}, allow = [] } = options
  const env = { PATH: process.env['PATH'], HOME: tmpdir(), ...quietGit, ...variables }
  const answer = await ask({ folder, args, env, input })
  if ('fault' in answer) throw new Error(answer.fault)
  const { code, stdout, stderr } = answer
  if (code === 0 || allow.includes(code)) return { code, stdout: Buffer.from(stdout), stderr }
  throw new Error(`git ${args.slice(0, 3).join(' ')} ended with ${code}: ${stderr.slice(0, 2_000)}`)
}

type Starter = { child: ChildProcess; waiting: Map<number, PromiseWithResolvers<GitAnswer>> }

let starter: Starter | undefined
let calls = 0

/**
 * Starting a program copies the page tables of the process that starts it: 30 ms from a test of 300 MB, a sixth of that from a small
 * process. A test of the publisher starts git a hundred times.
 */
async function ask(call: Omit<GitCall, 'id'>): Promise<GitAnswer> {
  const { child, waiting } = (starter ??= openStarter())
  const id = calls++
  const answer = Promise.withResolvers<GitAnswer>()
  waiting.set(id, answer)
  child.ref()
  child.channel?.ref()
  child.send({ ...call, id }, (error) => error && answer.reject(error))
  return answer.promise.finally(() => {
    waiting.delete(id)
    if (waiting.size > 0) return
    child.unref()
    child.channel?.unref()
  })
}

function openStarter(): Starter {
  const entry = fileURLToPath(new URL('git-process.ts', import.meta.url))
  const child = fork(entry, [], { serialization: 'advanced', execArgv: [] })
  const waiting: Starter['waiting'] = new Map()
  const end = (error: Error) => {
    if (starter?.child === child) starter = undefined
    for (const { reject } of waiting.values()) reject(error)
  }
  child.on('message', (answer: GitAnswer) => waiting.get(answer.id)?.resolve(answer))
  child.on('error', end)
  child.on('disconnect', () => end(new Error('the process that starts git has ended')))
  return { child, waiting }
}
