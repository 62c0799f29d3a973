import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { AppError, type ErrorCode } from '#domain/error.ts'
import { gitEnv } from '#platform/child-env.ts'
import type { Env } from '#platform/env.ts'
import { withoutLogins } from '#platform/hide-secrets.ts'

export type GitOptions = {
  gitDir: string
  /** git finds the caller's keys and passwords with it. */
  env: Env
  isInteractive: boolean
  signal: AbortSignal
}

export type Git = ReturnType<typeof openGit>

/** Git fetches into `scratch`. A `trailer` marks the commits of runs, and `findIdentity` says who their author is. */
export type Remote = { git: Git; url: string; scratch: string; trailer: string; findIdentity(): Promise<Env> }

export type HostLogin = { username: string; password: string }

type Call = { input?: string | undefined; failsAs?: ErrorCode; env?: Env }
type Ended = { code: number; out: Buffer; err: string }

const transports = ['file', 'ssh', 'git', 'http', 'https']
/** The list of a large repository's files has room in it. */
const maxOutputBytes = 512 * 1024 ** 2
const maxErrorChars = 8_000
/** Bounds one command, a password that somebody types included. */
const limitMs = 15 * 60_000

/** No hook of the user runs, git refuses odd paths, and no address starts a program. A repository at a path still runs its own hooks. */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'core.quotePath=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'i18n.commitEncoding=UTF-8',
  'i18n.logOutputEncoding=UTF-8',
  'protocol.version=2',
  'push.recurseSubmodules=no',
  'push.gpgSign=false',
  'log.showSignature=false',
].flatMap((setting) => ['-c', setting])

export function openGit({ gitDir, env, isInteractive, signal }: GitOptions) {
  const own: Env = {
    ...gitEnv(env),
    GIT_ALLOW_PROTOCOL: transports.join(':'),
    // Errors are in the language of the others here.
    LC_ALL: 'C.UTF-8',
    ...(isInteractive ? {} : { GIT_TERMINAL_PROMPT: '0' }),
  }
  /** Resolves also where git fails. */
  const end = (args: readonly string[], { input, env: more = {} }: Call = {}) =>
    runGit([...settings, `--git-dir=${gitDir}`, ...args], { cwd: gitDir, env: { ...own, ...more }, input, signal })
  const bytes = async (args: readonly string[], call: Call = {}): Promise<Buffer> => {
    const { code, out, err } = await end(args, call)
    if (code === 0) return out
    throw new AppError(call.failsAs ?? 'HOST_001', `git ${args[0]}: ${wordsOf(err) || `exit code ${code}`}`)
  }
  return {
    end,
    bytes,
    text: async (args: readonly string[], call?: Call) => (await bytes(args, call)).toString().trim(),
    list: async (args: readonly string[], call?: Call) =>
      (await bytes(args, call))
        .toString()
        .split('\0')
        .filter((entry) => entry !== ''),
  }
}

/** Asks git's credential helpers, the address itself, or a prompt. Returns undefined when there is no login. */
export async function findLogin(address: string, git: Git): Promise<HostLogin | undefined> {
  const { code, out } = await git.end(['credential', 'fill'], { input: `url=${address}\n\n` })
  const answers = new Map(
    Array.from(out.toString().matchAll(/^([^=\n]*)=(.*)$/gm), ([, name = '', value = '']) => [name, value]),
  )
  const [username, password] = [answers.get('username'), answers.get('password')]
  return code !== 0 || username === undefined || password === undefined ? undefined : { username, password }
}

const ident = /^(?<name>.*) <(?<email>.*)> \d+ [+-]\d{4}$/s

/** Returns the variables of whom git knows in `cwd`. WORK_006 where it knows nobody. */
export async function identityIn(cwd: string, { env, signal }: Pick<GitOptions, 'env' | 'signal'>): Promise<Env> {
  const own: Env = { ...gitEnv(env), LC_ALL: 'C.UTF-8' }
  const variablesOf = async (role: string): Promise<Env> => {
    const { code, out, err } = await runGit(['var', `${role}_IDENT`], { cwd, env: own, input: '', signal })
    const { name, email } = ident.exec(out.toString().trim())?.groups ?? {}
    if (code === 0 && email !== undefined) return { [`${role}_NAME`]: name, [`${role}_EMAIL`]: email }
    const advice = `set user.name and user.email with "git config", or ${role}_NAME and ${role}_EMAIL`
    const why = wordsOf(err.trim().split('\n').at(-1) ?? '')
    throw new AppError('WORK_006', `git does not know who you are in ${cwd}: ${advice} (${why})`)
  }
  return { ...(await variablesOf('GIT_AUTHOR')), ...(await variablesOf('GIT_COMMITTER')) }
}

type Running = { cwd: string; env: Env; input: Call['input']; signal: AbortSignal }

/** Throws CONFIG_006 when there is no git. */
async function runGit(args: readonly string[], { input, signal, cwd, env }: Running): Promise<Ended> {
  signal.throwIfAborted()
  const limit = AbortSignal.timeout(limitMs)
  const ending = AbortSignal.any([signal, limit])
  const child = spawn('git', args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], signal: ending })
  const out: Buffer[] = []
  let length = 0
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > maxOutputBytes) child.kill()
    else out.push(chunk)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err = `${err}${text}`.slice(-maxErrorChars)))
  child.stdin.on('error', () => {}) // git has ended without reading all of it, and says why
  child.stdin.end(input ?? '')
  const [code]: unknown[] = await once(child, 'close').catch((cause: unknown) => {
    signal.throwIfAborted()
    if (limit.aborted) throw new AppError('HOST_001', 'git waited too long for an answer', { cause })
    throw new AppError('CONFIG_006', `git cannot be started: ${wordsOf(String(cause))}`, { cause })
  })
  signal.throwIfAborted()
  return { code: typeof code === 'number' ? code : 1, out: Buffer.concat(out), err }
}

export function wordsOf(err: string): string {
  const lines = err.split('\n').filter((line) => /\S/.test(line) && !line.startsWith('hint:'))
  return withoutLogins(lines.slice(-4).join(' ').replaceAll(/\s+/g, ' ').trim()).slice(0, 600)
}
