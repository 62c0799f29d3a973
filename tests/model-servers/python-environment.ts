import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '../program.ts'

export type PythonEnvironment = {
  python: string
  install(packages: readonly string[], options?: readonly string[]): Promise<void>
  /** What `code` prints. */
  run(code: string, args?: readonly string[]): Promise<string>
}

/** Where virtual environments and models go: `REMORA_E2E_MODEL_DIR`, else the user's cache; never in the repository. */
export function serverFolder(): string {
  const folder = resolve(process.env['REMORA_E2E_MODEL_DIR'] ?? join(homedir(), '.cache', 'remora-e2e-model'))
  if (`${folder}/`.startsWith(repository)) throw new Error(`REMORA_E2E_MODEL_DIR must be outside of ${repository}`)
  return folder
}

/** A virtual environment, made at the first call. Needs `python3` 3.10 or newer with venv. */
export async function pythonEnvironment(folder: string, signal: AbortSignal): Promise<PythonEnvironment> {
  const run = async (command: string, args: readonly string[]) =>
    (await promisify(execFile)(command, args, { signal, maxBuffer: 2 ** 26 })).stdout
  const python = join(folder, 'bin', 'python')
  await mkdir(folder, { recursive: true })
  if (!existsSync(python)) await run('python3', ['-m', 'venv', folder])
  return {
    python,
    async install(packages, options = []) {
      console.log(`installing ${packages.join(', ').slice(0, 200)} in ${folder}`)
      await run(python, ['-m', 'pip', 'install', '--quiet', ...options, ...packages])
    },
    run: (code, args = []) => run(python, ['-c', code, ...args]),
  }
}
