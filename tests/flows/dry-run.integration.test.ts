import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { PlanView } from '#schemas/plan-schema.ts'
import { lacks } from '#testing/this-machine.ts'
import type { Answer } from '../remora-here.ts'
import { lastDocument } from '../program.ts'
import { sourceFolder, type SourceFolder } from '../source-folder.ts'
import { startInOneProcess } from '../one-process.ts'
import { useOneProcess } from '../use-services.ts'

const files = {
  'shop/stock.py':
    'import os\n\n\ndef label(row):\n    return f"shelf" + row\n\n\ndef total(rows):\n    return sum(row)\n',
  'old/prices.py': 'import sys\n\n\nclass Price:\n    value = 1\n',
  'web/app.rb': 'ONE = 1\n',
}
const clean = { 'shop/stock.py': '"""Stock."""\n\n\ndef label(row):\n    """Label a row."""\n    return row\n' }

const Plan = z.object({ plan: PlanView })

/** The files of a run in the folder, without its data, which is hidden. */
async function shownIn(folder: SourceFolder): Promise<string[]> {
  return (await readdir(folder.path)).filter((name) => !name.startsWith('.')).toSorted()
}

const services = useOneProcess()

async function planned(folder: SourceFolder, ...args: string[]): Promise<Answer> {
  return services.remora(folder, ['run', '.', '--dry-run', ...args])
}

async function planOf(folder: SourceFolder, ...args: string[]) {
  const { code, out, err } = await planned(folder, '--agents', 'lint,docstring', '--json', ...args)
  expect(code, err).toBe(0)
  return Plan.parse(lastDocument(out)).plan
}

describe('remora run --dry-run', () => {
  let folder: SourceFolder
  beforeAll(async () => {
    folder = await sourceFolder(files)
  })
  afterAll(() => folder.remove())

  it('prints what would be done and what is skipped and why, and changes nothing', async () => {
    // As where `remora run` starts the rehearsal model: it is asked for no lint fault.
    const rehearsed = await startInOneProcess({ env: { REMORA_MODEL_URLS: 'rehearsal' } })
    onTestFinished(rehearsed.close)
    const run = await rehearsed.remora(folder, ['run', '.', '--agents', 'lint,docstring', '--dry-run'])
    expect(run).toMatchObject({ code: 0 })
    expect(run.out).toMatch(
      /\nLooked at \d+ nodes\. 5 operations would be run, for about [\d,]+ tokens\. Nothing was done\.\n/,
    )
    expect(run.out).toMatch(/\nlint +5 +0 +2 +0\n/)
    expect(run.out).toContain('1 node: its lint faults have no safe fix, and no model is asked (lint.depth: safe)')
    expect(run.out).toContain('lint: 1 lint fault in 1 file without a safe fix left as it is: no model is asked')
    expect(await shownIn(folder)).toEqual(['old', 'shop', 'web'])
    for (const [path, text] of Object.entries(files)) expect(await folder.read(path)).toBe(text)
  })

  it('counts what --limit leaves out, so that nodes with and without an operation add up to all it considered', async () => {
    const { agents, beyond_limit: beyond, nodes_looked_at: nodes } = await planOf(folder, '--limit', '1')
    expect({ beyond, nodes }).toEqual({ beyond: 5, nodes: 5 })
    const without = Object.values(agents).flatMap(({ skipped }) => skipped)
    expect(without.map(({ reason }) => reason)).toContain('beyond the limit of 1 operation')
    const sum = (counts: number[]) => counts.reduce((one, other) => one + other, 0)
    const lookedAt = sum(Object.values(agents).map((agent) => agent.looked_at))
    expect(lookedAt).toBe(1 + sum(without.map(({ count }) => count)))
  })

  it('plans less with --exclude, --kinds and --languages', async () => {
    const withoutOld = await planOf(folder, '--exclude', 'old')
    expect(withoutOld.skipped_files).toContainEqual({ path: 'old/prices.py', reason: 'excluded' })
    expect(withoutOld.agents['docstring']).toMatchObject({ planned: 2, folders: [{ path: 'shop', planned: 2 }] })
    const classes = await planOf(folder, '--kinds', 'class', '--languages', 'python')
    expect(classes.agents).toMatchObject({ lint: { looked_at: 1 }, docstring: { looked_at: 1, planned: 1 } })
    const { code, out, err } = await planned(folder, '--agents', 'lint', '--languages', 'ruby')
    expect(code, out).toBe(1) // the run failed: INTAKE_007
    expect(out + err).toContain('this agent works on Go, JavaScript, Python, TSX and TypeScript; found: Ruby 1 file')
  })
})

describe.skipIf(lacks('git'))('remora run --dry-run --since', () => {
  it('plans what has changed since a revision', async () => {
    const folder = await sourceFolder(files)
    const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: folder.path })
    await git('init', '-q')
    await git('add', '.')
    await git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'first')
    await writeFile(join(folder.path, 'old/prices.py'), files['old/prices.py'].replace('value = 1', 'value = 2'))
    const { agents } = await planOf(folder, '--since', 'HEAD')
    expect(agents['docstring']).toMatchObject({ looked_at: 1, planned: 1, folders: [{ path: 'old', planned: 1 }] })
    expect(agents['lint']?.looked_at).toBe(2)
    await folder.remove()
  })
})

describe('remora run on a repository without faults', () => {
  it('is a success without a patch: there is nothing to do', async () => {
    const folder = await sourceFolder(clean)
    const dry = await planned(folder, '--agents', 'lint,docstring')
    expect(dry.code, dry.err).toBe(0)
    expect(dry.out).toContain('Nothing to do: no operation would be run.')
    const run = await services.remora(folder, ['run', '.', '--agents', 'lint,docstring'])
    expect(run).toMatchObject({ code: 0 })
    expect(run.out).toMatch(/nothing to do/i)
    expect(run.out).toContain('completed')
    expect(await shownIn(folder)).toEqual(['shop'])
    await folder.remove()
  })
})
