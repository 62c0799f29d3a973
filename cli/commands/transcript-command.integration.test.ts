import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plannedOperation, playRun } from '../../services/api/played-run.fixture.ts'
import { describeFailure } from '../describe-failure.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
let runId = ''
let dir = ''
beforeAll(async () => {
  runId = await playRun(served.api, [
    { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' }] },
    { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } },
  ])
  dir = await mkdtemp(join(tmpdir(), 'remora-transcript-'))
})
afterAll(() => rm(dir, { recursive: true }))

const { operationId: idOfOne } = plannedOperation('one')

const transcript = async (args: readonly string[], colored = false, run = runId) =>
  (await served.remoraWith({ colored, cwd: dir }, 'transcript', run, ...args)).out

describe('remora transcript', () => {
  it.each([
    ['its id', [idOfOne]],
    ['its place', ['a.py', 'one']],
    ['its agent and its place', ['lint', 'a.py', 'one']],
  ])('takes an operation by %s', async (_how, words) => {
    const text = await transcript(words)
    expect(text).toMatch(/^# `lint` on `a\.py` `one`\n/)
    expect(text).toContain(`operation \`${idOfOne}\``)
    expect(text).toMatch(/## Outcome: succeeded\n\n```\nfixed\n```\n$/)
  })

  it('writes a file instead of printing, and refuses a place it cannot write to', async () => {
    expect(await transcript([idOfOne, '--out', 'one.md'])).toBe('')
    expect(await readFile(join(dir, 'one.md'), 'utf8')).toBe(await transcript([idOfOne]))
    await expect(transcript([idOfOne, '--out', 'no/such.md'])).rejects.toMatchObject({ code: 'CONFIG_003' })
  })

  it('follows one to its end', async () => {
    const text = await transcript([idOfOne, '--follow', '--attempt', '1'])
    expect(text).toMatch(/^# `lint` on `a\.py` `one`\n\n- node: /)
    expect(text).toMatch(/\n## Outcome: succeeded\n\n```\nfixed\n```\n\n- status: succeeded\n/)
  })

  it('has headings that stand out on a terminal', async () => {
    const [title] = (await transcript([idOfOne], true)).split('\n')
    expect(title).toBe('\u001B[1m# `lint` on `a.py` `one`\u001B[22m')
  })

  it.each([
    [['a.py', 'three'], /has no node "a\.py three".*remora show RUN --nodes lists them/],
    [['docstring', 'a.py', 'one'], /has no node "docstring a\.py one".*its agents: lint$/],
    [['o0123456789abcdef'], /has no operation "o0123456789abcdef"/],
    [['a.py', 'one', '--attempt', '7'], /for attempt 7: it has had 1\. Attempts that have one: 1/],
    [['a.py', 'two'], /it failed \(AGENT_004 turn limit of 12\) and its attempt left no record/],
  ])('says of %s what is wrong with it, and once what to do', async (words, message) => {
    const { text } = describeFailure(await transcript(words).catch((error: unknown) => error))
    expect(text.trimEnd()).toMatch(message)
    expect(text).toMatch(/^remora: RUN_004 /)
    expect(text.match(/remora (?:show|runs|watch) /g)).toHaveLength(1)
  })
})
