import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommanderError } from 'commander'
import { afterEach, beforeEach } from 'vitest'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { describeFailure } from '../describe-failure.ts'
import { type Printed, runCommand } from './served-api.fixture.ts'

// A project to try scripts on.
export const head = 'from typing import Any\nfrom grail import Input, external\n'
export const writeFileStub = '@external\nasync def write_file(path: str, content: str) -> dict[str, Any]: ...\n'
export const readFileStub = '@external\nasync def read_file(path: str) -> str: ...\n'
export const module = 'import os\n\n\ndef add(one, other):\n    return one + other\n'

export let dir = ''
export let top = ''
/** Makes the project before each test of the file that calls this, and removes it. */
export function useProject(): void {
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'tool-run-'))
    top = join(dir, 'project')
    await put('project/src/sums.py', module)
    await put('project/.gitignore', 'secret.txt\n')
    await put('project/secret.txt', 'hidden')
    await put('outside.txt', 'outside')
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))
}

export async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(join(dir, path)), { recursive: true })
  await writeFile(join(dir, path), text)
  return join(dir, path)
}

export const script = (body: string): Promise<string> => put('probe.pym', `${head}${body}`)

/** Runs the command with the exit code and the words for a failure that `main` has. */
export async function toolRun(...args: string[]): Promise<Printed> {
  const printed = { out: '', err: '', code: 0 }
  await runCommand(['tool', 'run', ...args], { cwd: dir, printed }).catch((error: unknown) => {
    printed.code = error instanceof CommanderError ? 2 : 1
    if (printed.code === 1) printed.err += describeFailure(error).text
  })
  return { ...printed, err: printed.err.replaceAll(`${dir}/`, '') }
}

const Document = z.looseObject({ ending: z.string(), value: z.unknown(), externals: z.array(z.unknown()) })

export async function toolRunJson(...args: string[]) {
  const { out, code } = await toolRun(...args, '--json')
  return { ...Document.parse(parseJson(out)), code }
}
