import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, type TestApi } from '../../services/api/app.fixture.ts'
import { serveApp, type ServedApp } from '../../services/api/http/serve-app.ts'
import { playOperations, plannedOperation, playRun } from '../../services/api/played-run.fixture.ts'
import { readCliConfig } from '../cli-config.ts'
import { describeFailure } from '../describe-failure.ts'
import { buildProgram } from '../program.ts'

let api: TestApi
let served: ServedApp
let runId = ''
let dir = ''
beforeAll(async () => {
  api = await openTestApi(await testRedis(), await testObjects())
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
  runId = await playRun(api, [
    { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' }] },
    { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } },
  ])
  dir = await mkdtemp(join(tmpdir(), 'remora-transcript-'))
})
afterAll(async () => {
  await served.close()
  await api.close()
  await rm(dir, { recursive: true })
})

const { operationId: idOfOne, node } = plannedOperation('one')

async function transcript(args: readonly string[], colored = false, run = runId): Promise<string> {
  let printed = ''
  const io = { out: (text: string) => void (printed += text), err: () => {}, exit: () => {} }
  const config = readCliConfig({ REMORA_API_URL: served.url, REMORA_TOKEN: api.token })
  const context = { io, config, signal: new AbortController().signal, terminal: undefined, colored, cwd: dir }
  await buildProgram(context).parseAsync(['transcript', run, ...args], { from: 'user' })
  return printed
}

describe('remora transcript', () => {
  it.each([
    ['its id', [idOfOne]],
    ['its place', ['a.py', 'one']],
    ['its place in one word', ['a.py one']],
    ['its agent and its place', ['lint', 'a.py', 'one']],
    ["its agent and its node's id", ['lint', node.nodeId]],
  ])('takes an operation by %s', async (_how, words) => {
    const text = await transcript(words)
    expect(text).toMatch(/^# `lint` on `a\.py` `one`\n/)
    expect(text).toContain(`operation \`${idOfOne}\``)
    expect(text).toMatch(/## Outcome: succeeded\n\n```\nfixed\n```\n$/)
  })

  it.each([[['--json']], [['--format', 'json']]])('prints one JSON document with %s', async (options) => {
    const text = await transcript([idOfOne, ...options])
    expect(text.match(/\n/g)).toHaveLength(1)
    expect(JSON.parse(text)).toMatchObject({ run_id: runId, operation_id: idOfOne, entries: [], status: 'succeeded' })
  })

  it('writes a file instead of printing, and refuses a place it cannot write to', async () => {
    expect(await transcript([idOfOne, '--out', 'one.md'])).toBe('')
    expect(await readFile(join(dir, 'one.md'), 'utf8')).toBe(await transcript([idOfOne]))
    await expect(transcript([idOfOne, '--out', 'no/such.md'])).rejects.toMatchObject({ code: 'CONFIG_003' })
  })

  it('finds an operation of the run that a retry retries, and not one of neither', async () => {
    const former = await playRun(api, [
      { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' }] },
      { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } },
    ])
    await api.ledger.move(former, {
      from: [{ status: 'running' }],
      to: { status: 'completed' },
      command: 'end',
      events: [{ event: 'run.completed', phase: 'review', origin: { kind: 'discovery', id: 'test' }, data: {} }],
    })
    const answer = await api.ask(`/v1/runs/${former}/retry`, { method: 'POST' })
    const { run_id: retry } = z.looseObject({ run_id: z.string() }).parse(await answer.json())
    await playOperations(api, retry, [{ name: 'two', leaves: 'nothing to do' }])
    expect(await transcript(['a.py', 'one'], false, retry)).toMatch(/^# `lint` on `a\.py` `one`\n/)
    expect(await transcript([idOfOne], false, retry)).toContain(`operation \`${idOfOne}\``)
    await expect(transcript(['a.py', 'three'], false, retry)).rejects.toMatchObject({ code: 'RUN_004' })
  })

  it('has headings that stand out on a terminal', async () => {
    const [title] = (await transcript([idOfOne], true)).split('\n')
    expect(title).toBe('\u001B[1m# `lint` on `a.py` `one`\u001B[22m')
  })

  it.each([
    [['a.py', 'three'], /has no node "a\.py three".*remora show RUN --nodes lists them/],
    [['docstring', 'a.py', 'one'], /has no node "docstring a\.py one".*its agents: lint$/],
    [['o0123456789abcdef'], /has no operation "o0123456789abcdef"/],
    [['a.py', 'two'], /it failed \(AGENT_004 turn limit of 12\) and its attempt left no record/],
  ])('says of %s what is wrong with it, and once what to do', async (words, message) => {
    const { text } = describeFailure(await transcript(words).catch((error: unknown) => error))
    expect(text.trimEnd()).toMatch(message)
    expect(text).toMatch(/^remora: RUN_004 /)
    expect(text.match(/remora (?:show|runs|watch) /g)).toHaveLength(1)
  })
})
