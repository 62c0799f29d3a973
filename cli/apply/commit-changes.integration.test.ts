import { execFile } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { tenLines, useApplying } from '../commands/apply-command.fixture.ts'

const execute = promisify(execFile)

const applying = useApplying({ PATH: process.env['PATH'] })

const before = tenLines()
const after = tenLines({ 2: 'line two' })

describe.skipIf(lacks('git'))('remora apply --commit', () => {
  const git = async (...args: string[]) => {
    const as = ['-c', 'user.name=T', '-c', 'user.email=t@example.org']
    return (await execute('git', [...as, ...args], { cwd: applying.copy.path })).stdout
  }

  /** A checkout whose commits need no settings of this machine. */
  async function checkout(files: Readonly<Record<string, string>>): Promise<void> {
    await git('init', '-q')
    await git('config', 'user.name', 'T')
    await git('config', 'user.email', 't@example.org')
    await applying.copy.write(files)
    await git('add', '-A')
    await git('commit', '-qm', 'first')
  }

  const changes = {
    'shop/a.py': { before, after },
    'shop/[new].py': { before: null, after: 'n = 1\n' },
    'shop/old.py': { before: 'o = 1\n', after: null },
  }
  const given = { 'shop/a.py': before, 'shop/old.py': 'o = 1\n', 'other.py': 'other\n', 'staged.py': 'staged\n' }

  it('commits these files, and leaves what else is staged or changed', async () => {
    const runId = await applying.proposing(changes)
    await checkout(given)
    await applying.copy.write({ 'other.py': 'dirty\n', 'staged.py': 'newly staged\n', 'shop/n.py': 'untracked\n' })
    await git('add', 'staged.py')
    const { out } = await applying.copy.apply(runId, '--commit', '--json')
    const head = (await git('rev-parse', 'HEAD')).trim()
    expect(JSON.parse(out)).toMatchObject({ commit: head })
    expect((await git('show', '--name-status', '--format=%s', 'HEAD')).trim().split('\n')).toEqual([
      `Apply the proposed changes of Remora run ${runId}`,
      '',
      'A\tshop/[new].py',
      'M\tshop/a.py',
      'D\tshop/old.py',
    ])
    expect(await git('status', '--porcelain')).toBe(' M other.py\nM  staged.py\n?? shop/n.py\n')
    const again = await applying.copy.apply(runId, '--commit')
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining('nothing to commit\n') })
    expect((await git('rev-parse', 'HEAD')).trim()).toBe(head)
  })

  it('refuses a file with changes that are not committed, and writes nothing', async () => {
    const runId = await applying.proposing(changes)
    await checkout(given)
    const mine = tenLines({ 9: 'mine' })
    await applying.copy.write({ 'shop/a.py': mine })
    await expect(applying.copy.apply(runId, '--commit')).rejects.toMatchObject({
      code: 'WORK_002',
      message: expect.stringMatching(/not committed.*:\nshop\/a\.py$/),
    })
    expect(await applying.copy.read('shop/a.py')).toBe(mine)
    expect(await git('status', '--porcelain')).toBe(' M shop/a.py\n')
    await applying.copy.apply(runId)
    expect(await applying.copy.read('shop/a.py')).toContain('line two')
    await expect(applying.copy.apply(runId, '--commit')).rejects.toMatchObject({ code: 'WORK_002' })
  })

  it('works in a part of a larger repository, also one without commits', async () => {
    const runId = await applying.proposing({ 'a.py': { before, after }, 'b.py': { before: null, after: 'b\n' } })
    await git('init', '-q')
    await git('config', 'user.name', 'T')
    await git('config', 'user.email', 't@example.org')
    await applying.copy.write({ 'part one/a.py': before, 'a.py': 'another\n' })
    await applying.copy.apply(runId, '--to', 'part one', '--commit')
    expect((await git('ls-tree', '-r', '--name-only', 'HEAD')).trim().split('\n')).toEqual(
      ['"part one/a.py"', '"part one/b.py"'].map((name) => name.replaceAll('"', '')),
    )
    expect(await git('status', '--porcelain')).toBe('?? a.py\n')
  })

  it('says what a hook says, and leaves the index as it was', async () => {
    const runId = await applying.proposing(changes)
    await checkout(given)
    const hook = join(applying.copy.path, '.git/hooks/pre-commit')
    await writeFile(hook, '#!/bin/sh\necho "not on a Friday" >&2\nexit 1\n')
    await chmod(hook, 0o755)
    await expect(applying.copy.apply(runId, '--commit')).rejects.toMatchObject({
      code: 'WORK_006',
      message: expect.stringContaining('not on a Friday'),
    })
    expect(await applying.copy.read('shop/a.py')).toBe(after)
    expect(await git('status', '--porcelain')).toBe(' M shop/a.py\n D shop/old.py\n?? shop/[new].py\n')
  })

  it('writes nothing outside of a checkout', async () => {
    const runId = await applying.proposing(changes)
    await applying.copy.write(given)
    await expect(applying.copy.apply(runId, '--commit')).rejects.toMatchObject({ code: 'CONFIG_003' })
    expect(await applying.copy.read('shop/a.py')).toBe(before)
  })
})
