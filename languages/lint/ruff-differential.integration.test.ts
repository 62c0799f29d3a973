import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openPythonLinter, type PythonLinter } from './python-linter.ts'
import { isLintConfig, readRepositoryLint } from './repository-lint.ts'
import { type RuffCase, ruffCases } from './ruff-cases.fixture.ts'

/** Rules that need the file's path; the guide says that they are not checked. */
const byPath = ['A005', 'D104', 'EXE001', 'EXE002', 'INP001', 'N999', 'PLW0406', 'RUF067']
const notChecked = [...byPath, 'DOC502', 'PLC2701', 'RUF100']

const Diagnostics = z.array(
  z.object({
    code: z.string().nullable(),
    filename: z.string(),
    location: z.object({ row: z.int(), column: z.int() }),
  }),
)

/** Why Ruff itself cannot be asked; undefined when it can. */
function refusal(version: string): string | undefined {
  const { error, stdout } = spawnSync('ruff', ['--version'], { encoding: 'utf8' })
  if (error !== undefined) return 'no ruff on the PATH: `pip install ruff` lets this test run'
  return stdout.trim() === version ? undefined : `${stdout.trim()} on the PATH is not ${version}, which we run`
}

/** What Ruff itself finds in the files that it lints: `path code row:column`. */
function foundByRuff(root: string): string[] {
  const ruff = (...args: string[]) => spawnSync('ruff', args, { cwd: root, encoding: 'utf8' }).stdout
  const json = ruff('check', '--no-cache', '--no-fix', '--output-format', 'json', '.')
  const faults = Diagnostics.parse(JSON.parse(json)).flatMap(({ code, filename, location }) =>
    code === null || code === 'invalid-syntax' || notChecked.includes(code)
      ? []
      : [`${relative(root, filename)} ${code} ${location.row}:${location.column}`],
  )
  const files = ruff('check', '--show-files', '.').split('\n')
  const linted = files.filter((path) => path.endsWith('.py')).map((path) => relative(root, path))
  return [...linted, ...faults].toSorted()
}

async function foundByUs({ files }: RuffCase, linter: PythonLinter): Promise<string[]> {
  const paths = Object.keys(files)
  const configs = paths.filter(isLintConfig).map((path) => ({ path, text: files[path] ?? '' }))
  const rules = await readRepositoryLint({ paths, files: configs }, linter)
  const found: string[] = []
  for (const path of paths.filter((one) => one.endsWith('.py'))) {
    const { lint } = rules.rulesFor(path)
    if (lint.isExcluded) continue
    const { diagnostics } = await linter.lint(files[path] ?? '', lint)
    found.push(path, ...diagnostics.map(({ code, line, column }) => `${path} ${code} ${line}:${column}`))
  }
  return found.toSorted()
}

describe('the rules of a repository, beside Ruff itself', () => {
  const opened = openPythonLinter()
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'remora-ruff-')))
  afterAll(async () => {
    await (await opened).close()
    rmSync(root, { recursive: true })
  })

  for (const [index, one] of ruffCases.entries()) {
    it(`finds the same faults in the same files: ${one.name}`, async (test) => {
      const linter = await opened
      const refused = refusal(linter.version)
      if (refused !== undefined) return test.skip(refused)
      const folder = join(root, String(index))
      for (const [path, text] of Object.entries(one.files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true })
        writeFileSync(join(folder, path), text)
      }
      const ours = await foundByUs(one, linter)
      // `lint.exclude` leaves files in the list of files, without faults.
      const theirs = foundByRuff(folder).filter((line) => line.includes(' ') || ours.includes(line))
      expect(ours).toEqual(theirs)
      expect(ours.some((line) => line.includes(' '))).toBe(true)
    })
  }
})
