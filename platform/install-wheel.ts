import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Env } from './env.ts'
import type { WheelProgram } from './known-programs.ts'
import { type Got, putIntoPlace } from './program-cache.ts'
import { failureOf, findProgram, isSuccess, type Running, runProgram } from './run-program.ts'

type WheelOptions = Running & { programDir: string; searchPath: string; workDir: string; say(line: string): void }

/** Names the programs that install wheels, in the order in which they are tried. */
export const wheelInstallers = ['uv', 'pip3', 'pip']

export async function installWheel(wanted: WheelProgram, options: WheelOptions): Promise<Got> {
  const { searchPath, workDir, programDir, env, say } = options
  const { requirement, hashes } = wanted.source
  const refusals: string[] = []
  const list = join(workDir, 'requirements.txt')
  await writeFile(list, [requirement, ...hashes.map((hash) => `--hash=sha256:${hash}`)].join(' \\\n  '))
  for (const name of wheelInstallers) {
    const installer = await findProgram(name, searchPath)
    if (installer === undefined) continue
    say(`getting the wheel ${requirement} with ${name} into ${programDir}`)
    const target = join(workDir, name)
    const own = name === 'uv' ? ['pip', 'install'] : ['install', '--disable-pip-version-check', '--no-input']
    const rules = ['--quiet', '--no-deps', '--require-hashes', '--only-binary', ':all:', '--target', target, '-r', list]
    const end = await runProgram(['/usr/bin/env', ...indexOf(env), installer, ...own, ...rules], options)
    const program = join(target, 'bin', wanted.names[0])
    const make = (fresh: string) => rename(program, fresh).catch(() => {}) // then it does not start
    const path = isSuccess(end) ? await putIntoPlace(wanted, options, make) : undefined
    if (path !== undefined) return { path }
    refusals.push(`${name} did not get it: ${failureOf(end)}`)
  }
  return { refusal: refusals.length === 0 ? 'neither uv nor pip is on the PATH' : refusals.join('; ') }
}

function indexOf(env: Env): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    /^(?:PIP|UV)_\w+$/.test(name) ? [`${name}=${value ?? ''}`] : [],
  )
}
