import { dirname } from 'node:path'
import { testRuff } from '#testing/test-ruff.ts'
import { type Linter, openLinter } from './linter.ts'
import { openPythonLinter, type PythonLinter } from '../python/lint/python-linter.ts'

/** A linter with nothing else on its search path but Ruff, and `searchPath`. */
export async function openTestLinter({ searchPath = '' }: { searchPath?: string } = {}): Promise<Linter> {
  const { path, lack } = await testRuff()
  if (path === undefined) throw new Error(lack)
  return openLinter({ searchPath: [dirname(path), searchPath].filter((one) => one !== '').join(':') })
}

export async function openTestPythonLinter(options: { limitMs?: number } = {}): Promise<PythonLinter> {
  return openPythonLinter({ ruff: await testRuff(), ...options })
}
