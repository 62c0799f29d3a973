import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'

export type GitOutput = { code: number; stdout: Buffer; stderr: string }

export type GitOptions = {
  input?: string | Uint8Array
  /** Added to an environment that has no configuration of the machine or the user. */
  variables?: Record<string, string>
  /** Exit codes that are no failure; 0 always. */
  allow?: number[]
}

const limits = { maxBuffer: 256 * 1024 * 1024, timeout: 60_000, killSignal: 'SIGKILL' } as const

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
  const { input, variables = {}, allow = [] } = options
  const env = { PATH: process.env['PATH'], HOME: tmpdir(), ...quietGit, ...variables }
  const output = await new Promise<GitOutput>((resolve, reject) => {
    const child = execFile(
      'git',
      args,
      { cwd: folder, env, encoding: 'buffer', ...limits },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : error.code
        if (typeof code === 'number') resolve({ code, stdout, stderr: stderr.toString() })
        else reject(error ?? new Error('git was stopped'))
      },
    )
    child.stdin?.on('error', () => {}) // git may end before it has read all: its exit code says so
    child.stdin?.end(input ?? '')
  })
  if (output.code === 0 || allow.includes(output.code)) return output
  throw new Error(`git ${args.slice(0, 3).join(' ')} ended with ${output.code}: ${output.stderr.slice(0, 2_000)}`)
}
