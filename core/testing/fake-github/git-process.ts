import { execFile } from 'node:child_process'

/** Run in a small process of its own, which starts git for a larger one: run-git.ts. */
export type GitCall = {
  id: number
  folder: string
  args: readonly string[]
  env: Record<string, string | undefined>
  input: string | Uint8Array
}
/** `fault`: why there was no exit code, such as that there is no git. */
export type GitAnswer = { id: number; code: number | undefined; stdout: Uint8Array; stderr: string; fault: string }

const limits = { maxBuffer: 256 * 1024 * 1024, timeout: 60_000, killSignal: 'SIGKILL' } as const

process.on('message', ({ id, folder, args, env, input }: GitCall) => {
  const child = execFile('git', args, { cwd: folder, env, encoding: 'buffer', ...limits }, (error, stdout, stderr) => {
    const code = error === null ? 0 : error.code
    const answer: Omit<GitAnswer, 'code' | 'fault'> = { id, stdout, stderr: stderr.toString() }
    if (typeof code === 'number') process.send?.({ ...answer, code, fault: '' })
    else process.send?.({ ...answer, code: undefined, fault: error?.message ?? 'git was stopped' })
  })
  child.stdin?.on('error', () => {}) // git may end before it has read all: its exit code says so
  child.stdin?.end(input)
})
