import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { type OneProcess, startInOneProcess } from '../one-process.ts'
import { openTerminals } from './pseudo-terminal.ts'
import { sourceFolder, type SourceFolder } from '../source-folder.ts'

const source = `import os


def price(amount):
    return amount * 2


def discount(amount):
    return amount / 2
`

const takesScreen = '\u001B[?1049h'
const leavesScreen = '\u001B[?25h\u001B[?1049l'

describe.skipIf(lacks('python3'))('remora review in a terminal', () => {
  const terminals = openTerminals()
  let services: OneProcess
  let folder: SourceFolder

  beforeAll(async () => {
    services = await startInOneProcess()
    folder = await sourceFolder({ 'shop.py': source })
  })
  afterAll(async () => {
    await terminals.end()
    await services.close()
    await folder.remove()
  })

  async function endedRun(): Promise<string> {
    const runId = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
    expect((await services.api.follow(runId)).status).toBe('completed')
    return runId
  }

  const env = () => ({ REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token })
  const review = (runId: string, ...args: string[]) =>
    terminals.remora(['review', runId, ...args], { cwd: folder.path, env: env() })
  const setOf = async (runId: string, name: string) =>
    (await services.api.changes(runId)).find((one) => one.qualified_name === name && one.agent === 'docstring')

  it('shows one change after the other, and decides with a key', async () => {
    const runId = await endedRun()
    const terminal = review(runId, '--where', 'agent=docstring', 'verdict=pending')
    const first = await terminal.shows('docstring shop.py price')
    expect(first).toContain('1 of 2')
    expect(first).toMatch(/4 {3}def price\(amount\):\n\s*5 \+ {5}"""/)
    await terminal.shows('Wrote a docstring for price.')
    terminal.type('a')
    await terminal.shows('docstring shop.py discount')
    expect(await setOf(runId, 'price')).toMatchObject({ verdict: 'accepted' })
    terminal.type('w')
    await terminal.shows('Why?')
    terminal.type('Say what thing')
    await terminal.shows('what thing▏')
    terminal.type('\u001B\u007F')
    await terminal.shows('Say what ▏')
    terminal.type('all is')
    await terminal.shows('what all is▏')
    terminal.type('\u001B[0m\u001Bb\u001B\u007F\u001Bf\u0017')
    await terminal.shows('Say what ▏')
    terminal.type('it is.\r')
    await terminal.shows('Nothing is left to look at.')
    expect(await setOf(runId, 'discount')).toMatchObject({
      verdict: 'rejected',
      decision: { reason: 'Say what it is.' },
    })
    terminal.type('b')
    await terminal.shows('Say what it is.')
    terminal.type('b')
    await terminal.shows('accepted by human/')
    terminal.type('q')
    expect(await terminal.exited).toBe(0)
    const after = terminal.out().slice(terminal.out().lastIndexOf(leavesScreen) + leavesScreen.length)
    expect(after.replaceAll('\r', '')).toBe(
      [
        'accepted  1',
        'rejected  1 (1 with a word)',
        'skipped   0',
        'left      0 of those with agent=docstring',
        `next      remora apply ${runId}  # in the folder of the run, or with --to FOLDER`,
        `          remora retry ${runId} --rejected\n`,
      ].join('\n'),
    )
  })

  it('shows what somebody else has decided meanwhile instead of deciding over it', async () => {
    const runId = await endedRun()
    const terminal = review(runId, '--where', 'agent=docstring')
    await terminal.shows('Wrote a docstring for price.')
    const id = (await setOf(runId, 'price'))?.change_set_id
    const decisions = [{ change_set_id: id, verdict: 'reject', reason: 'It says nothing.' }]
    const body = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decisions }),
    }
    expect((await services.api.ask(`/v1/runs/${runId}/decisions`, body)).status).toBe(200)
    terminal.type('a')
    const screen = await terminal.shows('not sent: human/environment/default has decided otherwise')
    expect(screen).toContain('docstring shop.py price')
    expect(screen).toMatch(/rejected by human\/environment\/default, .* UTC: It says nothing\./)
    expect(await setOf(runId, 'price')).toMatchObject({ verdict: 'rejected' })
    terminal.type('a')
    await terminal.shows('accepted docstring shop.py price (was rejected)')
    expect(await setOf(runId, 'price')).toMatchObject({ verdict: 'accepted' })
    terminal.type('\u0003')
    expect(await terminal.exited).toBe(0)
  })

  it('neither shows nor obeys what is typed before there is a screen', async () => {
    const runId = await endedRun()
    const terminal = review(runId, '--where', 'agent=docstring')
    await expect.poll(() => terminal.out(), { timeout: 30_000 }).toContain(`loading the changes of run ${runId} …`)
    terminal.type('xyz')
    await terminal.shows('Wrote a docstring for price.')
    expect(terminal.out().split(takesScreen)[0]).not.toContain('xyz')
    terminal.type('q')
    expect(await terminal.exited).toBe(0)
    const early = review(runId, '--where', 'agent=docstring')
    early.type('aaa')
    expect(await early.shows('Wrote a docstring for price.')).toContain('0 accepted')
    early.type('q')
    expect(await early.exited).toBe(0)
    expect((await setOf(runId, 'price'))?.verdict).toBe('pending')
    const interrupted = review(runId)
    await expect.poll(() => interrupted.out(), { timeout: 30_000 }).toContain('loading')
    interrupted.type('\u0003')
    expect([0, 130]).toContain(await interrupted.exited)
  })

  it('gives the terminal back when it is ended by a signal', async () => {
    const terminal = review(await endedRun())
    await terminal.shows('lint shop.py')
    terminal.kill('SIGTERM')
    expect(await terminal.exited).toBe(130)
    expect(terminal.out()).toContain(leavesScreen)
  })

  it('shows the transcript in the pager that is set', async () => {
    const runId = await endedRun()
    const options = { cwd: folder.path, env: { ...env(), PAGER: 'head -1' } }
    const terminal = terminals.remora(['review', runId, '--where', 'agent=docstring'], options)
    await terminal.shows('Wrote a docstring for price.')
    terminal.type('t')
    await expect.poll(() => terminal.out().split(takesScreen).length).toBe(3)
    const between = terminal.out().split(leavesScreen)[1]?.split(takesScreen)[0] ?? ''
    expect(between.replaceAll('\r', '')).toMatch(/# `docstring` on `shop\.py` `price`.*\n$/)
    terminal.type('q')
    expect(await terminal.exited).toBe(0)
  })
})
