import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { sourceFolder, type SourceFolder } from '../e2e/source-folder.ts'
import { type OneProcess, startInOneProcess } from './one-process.ts'

const execute = promisify(execFile)

const source = `import os


def price(amount):
    return f"price"


def discount(amount):
    return amount / 2
`

const Started = z.looseObject({ run_id: z.string() })
const identity = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
}

describe.skipIf(lacks('git'))('what is accepted of a run of a checkout', () => {
  let services: OneProcess
  let folder: SourceFolder
  const git = async (place: string, ...args: string[]) => {
    const env = { PATH: process.env['PATH'], HOME: folder.path, ...identity }
    return (await execute('git', ['-C', join(folder.path, place), ...args], { env })).stdout.trim()
  }

  beforeAll(async () => {
    services = await startInOneProcess()
    folder = await sourceFolder({ 'shop/shop.py': source, 'shop/other.py': 'def f():\n    return 1\n' })
    await git('.', 'init', '-q', '--bare', '-b', 'main', 'bare.git')
    await git('shop', 'init', '-q', '-b', 'main')
    await git('shop', 'add', '-A')
    await git('shop', 'commit', '-qm', 'first')
    await git('shop', 'push', '-q', '../bare.git', 'main')
  })
  afterAll(async () => {
    await services.close()
    await folder.remove()
  })

  it('is pushed as one commit of each agent, and their tree is that of the archive', async () => {
    const cli = (...args: string[]) => services.remora({ path: join(folder.path, 'shop') }, args, identity)
    const ran = await cli('run', '.', '--agents', 'lint,docstring', '--json')
    const { run_id: run } = Started.parse(JSON.parse(ran.out.split('\n')[0] ?? ''))
    expect(await cli('publish', run, '--to', '../bare.git')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/PUBLISH_001.*nothing of it is accepted/),
    })
    expect(await cli('accept', run, '--all')).toMatchObject({ code: 0 })
    const published = await cli('publish', run, '--to', '../bare.git')
    expect(published).toMatchObject({ code: 0, err: '' })

    const log = await git(
      'bare.git',
      'log',
      '-p',
      '--format=commit %s|%(trailers:key=Remora-Run,valueonly)',
      'remora/main',
    )
    const [last = '', before = '', first = ''] = log.split(/^commit /m).slice(1)
    expect(last).toMatch(new RegExp(`^Document definitions in 2 files\\|${run}\n`))
    expect(before).toMatch(new RegExp(`^Fix lint findings in 1 file\\|${run}\n`))
    expect(first).toMatch(/^first\|/)
    expect(before).toContain('-import os\n')
    expect(before).toContain('+    return "price"\n')
    expect(before).not.toContain('"""')
    expect(last).toMatch(/\+ {4}"""/)
    expect(last).not.toMatch(/^[+-]\s+return/m)

    const archive = await services.api.ask(`/v1/runs/${run}/archive?of=accepted`)
    const tree = join(folder.path, 'archive')
    await mkdir(tree)
    await writeFile(`${tree}.tar.gz`, Buffer.from(await archive.arrayBuffer()))
    await execute('tar', ['-xzf', `${tree}.tar.gz`, '-C', tree])
    await git('.', 'clone', '-q', '-b', 'remora/main', 'bare.git', 'clone')
    await execute('diff', ['-r', '--exclude=.git', tree, join(folder.path, 'clone')])

    const head = await git('bare.git', 'rev-parse', 'remora/main')
    const again = await cli('publish', run, '--to', '../bare.git', '--json')
    expect(JSON.parse(again.out)).toMatchObject({ result: 'unchanged', head })
  })
})
