import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '#testing/this-machine.ts'
import { sourceFolder } from '../source-folder.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const execute = promisify(execFile)

const source = `import os


def price(amount):
    return amount * 2


def discount(amount):
    return amount / 2
`

const Decided = z.looseObject({ made: z.int(), refused_count: z.int() })

describe.skipIf(lacks('git'))('what a team accepts of a run', () => {
  const folder = useSourceFolder({ 'shop.py': source })
  const services = useOneProcess()
  let runId: string
  beforeAll(async () => {
    runId = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
    await services.api.follow(runId)
  })

  const asJson = (body: object) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const post = async (path: string, body: object): Promise<unknown> => {
    const answer = await services.api.ask(path, asJson(body))
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text)
  }
  const changes = () => services.api.changes(runId)
  const idOf = async (agent: string, name: string) =>
    (await changes()).find((one) => one.agent === agent && one.qualified_name.endsWith(name))?.change_set_id ?? ''

  async function decide(verdict: string, ...ids: string[]): Promise<void> {
    const decisions = ids.map((change_set_id) => ({ change_set_id, verdict }))
    const answer = await post(`/v1/runs/${runId}/decisions`, { decisions })
    expect(Decided.parse(answer)).toMatchObject({ made: ids.length, refused_count: 0 })
  }

  /** The file as the patch makes it; undefined where there is nothing to show. */
  async function patched(of: 'accepted' | 'proposed'): Promise<string | undefined> {
    const answer = await services.api.ask(`/v1/runs/${runId}/patch?of=${of}`)
    const patch = await answer.text()
    if (answer.status === 204) return undefined
    expect(answer.status, patch).toBe(200)
    const copy = await sourceFolder({ 'shop.py': source })
    await copy.apply(patch)
    const text = await copy.read('shop.py')
    await copy.remove()
    return text
  }

  const docstrings = (text = '') => [...text.matchAll(/def (\w+)\(amount\):\n {4}"""/g)].map(([, name]) => name)

  it('is nothing before anybody has decided, while all of it is proposed', async () => {
    expect(await patched('accepted')).toBeUndefined()
    const all = await patched('proposed')
    expect(docstrings(all)).toEqual(['price', 'discount'])
    expect(all).not.toContain('import os')
  })

  it('is what was accepted, and what was rejected is proposed no more', async () => {
    await decide('accept', await idOf('docstring', 'price'))
    const one = await patched('accepted')
    expect(docstrings(one)).toEqual(['price'])
    expect(one).toContain('import os')
    expect(docstrings(await patched('proposed'))).toEqual(['price', 'discount'])

    await decide('reject', await idOf('docstring', 'discount'))
    expect(docstrings(await patched('proposed'))).toEqual(['price'])
    expect(docstrings(await patched('accepted'))).toEqual(['price'])

    await decide('accept', await idOf('lint', 'shop.py'))
    const both = await patched('accepted')
    expect(docstrings(both)).toEqual(['price'])
    expect(both).not.toContain('import os')
  })

  it('is applied to a working copy that has changed since, and committed without what else is changed there', async () => {
    const copy = await sourceFolder({ 'shop.py': source, 'notes.txt': 'one\n' })
    const git = async (...args: string[]) => (await execute('git', args, { cwd: copy.path })).stdout
    await git('init', '-q')
    await git('config', 'user.name', 'A reviewer')
    await git('config', 'user.email', 'reviewer@example.org')
    await git('add', '-A')
    await git('commit', '-qm', 'as it was')
    await writeFile(join(copy.path, 'notes.txt'), 'two\n')
    await writeFile(join(copy.path, 'shop.py'), source.replace('amount / 2', 'amount / 4'))
    await git('commit', '-qm', 'half of it', 'shop.py')
    const apply = (...args: string[]) => services.remora(copy, ['apply', runId, ...args])
    const applied = await apply('--commit')
    expect(applied).toMatchObject({ code: 0, err: '' })
    expect(applied.out).toMatch(
      /^shop\.py {2}merged with what has changed since\n1 file written: \S+\ncommitted as [0-9a-f]{40}\n$/,
    )
    const text = await copy.read('shop.py')
    expect(docstrings(text)).toEqual(['price'])
    expect(text).not.toContain('import os')
    expect(text).toContain('amount / 4')
    const message = await git('log', '-1', '--format=%B')
    expect(message).toContain(`Apply the accepted changes of Remora run ${runId}\n\n`)
    expect(message).toContain('docstring: 1 change set\n')
    expect(message).toContain('lint: 1 change set\nin 1 file\n')
    expect(await git('status', '--porcelain', '-uno')).toBe(' M notes.txt\n')
    const again = await apply('--commit')
    expect(again.out).toMatch(/^shop\.py {2}there already\nall of it is there already: \S+\nnothing to commit\n$/)
    await writeFile(join(copy.path, 'shop.py'), source.replace('import os', 'import os, sys'))
    const refused = await apply()
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toMatch(/^remora: WORK_002 nothing was written, .*\nshop\.py: it has changed since/)
    expect(refused.err).toMatch(
      /right beside them: line 1\nThere these change the same:\n {2}lint shop\.py \(F401\) c\S+ \(shop/,
    )
    expect(await copy.read('shop.py')).toContain('import os, sys')
    await writeFile(join(copy.path, 'shop.py'), source.replace('price(amount)', 'price(amount, rate=1)'))
    const beside = await apply()
    const id = await idOf('docstring', 'price')
    expect(beside.err).toContain(`\n  docstring shop.py price ${id} (shop.py line 4)\n`)
    // The unused import and the lines after it end there.
    const fix = await idOf('lint', 'shop.py')
    expect(beside.err).toContain(`To go on without them: remora undo ${runId} ${fix} ${id} --with-dependents`)
    await copy.remove()
  })

  it('is made once for many who ask at the same time', async () => {
    await decide('undo', await idOf('docstring', 'price'))
    const asked = await Promise.all(Array.from({ length: 6 }, () => patched('accepted')))
    expect(new Set(asked).size).toBe(1)
    expect(docstrings(asked[0])).toEqual([])
  })

  it('is what has all its evidence, where the run is to accept that by itself, and nothing that the rehearsal model wrote', async () => {
    const auto = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'], accept: 'auto' })
    const { events, status } = await services.api.follow(auto)
    expect(status).toBe('completed')
    const made = events.filter(({ event }) => event === 'decision.made')
    expect(made.length).toBeGreaterThanOrEqual(1)
    expect(new Set(made.map(({ origin }) => `${origin.kind}/${origin.id}`))).toEqual(new Set(['policy/auto']))
    const [accepted, proposed] = await Promise.all(
      ['accepted', 'proposed'].map(async (of) => (await services.api.ask(`/v1/runs/${auto}/patch?of=${of}`)).text()),
    )
    expect(accepted).toContain('-import os')
    expect(accepted).not.toMatch(/^\+ +"""/m)
    expect(proposed).toMatch(/^\+ +"""/m)
    expect(await services.verify(auto)).toMatchObject({ code: 0, err: '' })
  })

  it('leaves a run that verify finds nothing wrong with', async () => {
    expect(await services.verify(runId)).toMatchObject({ code: 0, err: '' })
  })
})
