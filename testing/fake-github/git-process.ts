import { execFile } from 'node:child_process'

// A small process that runs git for a larger one: run-git.ts.

export type GitCall = {
  id: number
  folder: string
  args: readonly string[]
  env: Record<string, string | undefined>
  input: string | Uint8Array
}

/** `fault`: why git did not end by itself. */
export type GitAnswer = { id: number } & ({ code: number; stdout: Uint8Array; stderr: string } | { fault: string })

const limits = { maxBuffer: 256 * 1024 * 1024, timeout: 60_000, killSignal: 'SIGKILL' } as const

function answer(said: GitAnswer): void {
  if (process.connected) process.send?.(said, () => {})
}

function run({ id, folder, args, env, input }: GitCall): void {
  const child = execFile('git', args, { cwd: folder, env, encoding: 'buffer', ...limits }, (error, stdout, stderr) => {
    const code = error === null ? 0 : error.code
    if (typeof code === 'number') answer({ id, code, stdout, stderr: stderr.toString() })
    else answer({ id, fault: error?.message ?? 'git was stopped' })
  })
  child.stdin?.on('error', () => {}) // git may end before it has read all: its exit code says so
  child.stdin?.end(input)
}

process.on('message', (call: GitCall) => {
  try {
    run(call)
  } catch (error) {
    answer({ id: call.id, fault: String(error) }) // such as an argument with a NUL
  }
})
process.on('disconnect', () => process.exit())
