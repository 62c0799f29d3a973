import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { freePorts } from '#testing/this-machine.ts'
import { FaultPlan } from '../../services/rehearsal/faults.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'
import { harness, harnessJson, openBarrier, Report } from './harness.fixture.ts'

const closings: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0)) await close()
})

/** A rehearsal model with shares of faults; returns its URL. */
async function faulty(shares: Record<string, number>): Promise<string> {
  const faults = FaultPlan.parse({ shares, seed: 1 })
  const rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0, faults })
  closings.push(rehearsal.close)
  return rehearsal.url
}

async function barrier(together: number) {
  const server = await openBarrier(together)
  closings.push(server.close)
  return server
}

const perfect = { called: 1, right_tool: 1, right_arguments: 1, submitted: 1, parsed_from_content: 0 }

describe('remora harness', () => {
  it('brings the rehearsal model, which does everything right, and says that it is none', async () => {
    const { code, passed, tested } = await harnessJson(['--requests', '4'])
    expect({ code, passed }).toEqual({ code: 0, passed: true })
    expect(tested).toMatchObject({
      answered_by: 'rehearsal model (no LLM)',
      is_rehearsal: true,
      errors: [],
      misses: [],
    })
    expect(tested.total).toEqual({ requests: 112, ...perfect })
    for (const { name, variants, ...rates } of tested.shapes) {
      expect(rates, name).toEqual({ requests: 4 * variants.length, ...perfect })
      for (const variant of variants) expect(variant).toEqual({ name: variant.name, requests: 4, ...perfect })
    }
    // The tool and the submission; the irrelevant request takes one reply.
    expect(tested.replies).toBe(2 * 112 - 3 * 4)
  })

  it.each<[string, string[], Record<string, string>]>([
    ['--stream', ['--stream'], {}],
    ['REMORA_MODEL_STREAM', [], { REMORA_MODEL_STREAM: 'true' }],
    ['--compare', ['--compare', 'stream=true'], {}],
  ])('tells the time to the first token where %s asks for it piece by piece', async (_what, args, env) => {
    const { tested, other } = await harnessJson(['--requests', '1', '--shapes', 'string', ...args], { env })
    const streamed = { settings: { stream: true }, latency_ms: { first_token: { p50: expect.any(Number) } } }
    const whole = { settings: { stream: false }, latency_ms: { first_token: null } }
    expect([tested, other]).toMatchObject(other === undefined ? [streamed, undefined] : [whole, streamed])
  })

  it('prints a table for people, with the verdict last', async () => {
    const { out, code } = await harness(['--requests', '1'])
    expect(code).toBe(0)
    expect(out).toMatch(
      /^model +rehearsal model \(no LLM\) \(in this process\)\n +tool_choice required, temperature 0, max_tokens 256/,
    )
    expect(out).toMatch(/\n +called +right tool +right arguments +submitted\nstring +1\.000 +1\.000 +1\.000 +1\.000\n/)
    expect(out).toMatch(/\nall +1\.000 +1\.000 +1\.000 +1\.000\n/)
    expect(out).toMatch(/\nfirst reply p50, ms +\d.*\nfirst reply p95, ms +\d/)
    expect(out).toMatch(/\npassed: called 1\.000, at least 0\.9 \(--min-called\)\nThe rehearsal model \(no LLM\)/)
  })

  it('fails a model that answers in words too often, and tells what it missed', async () => {
    const args = ['--model', await faulty({ no_tool_call: 0.5 }), '--requests', '10', '--shapes', 'string,integer']
    const { code, passed, tested } = await harnessJson(args)
    expect({ code, passed }).toEqual({ code: 1, passed: false })
    expect(tested.total.called).toBeGreaterThan(0.2)
    expect(tested.total.called).toBeLessThan(0.8)
    expect(tested.total.right_tool).toBe(tested.total.called)
    expect(tested.errors.map(({ code: error }) => error)).toContain('AGENT_003')
    expect(tested.misses.find(({ calls }) => calls.length === 0)).toMatchObject({
      content: 'I would rather talk about it.',
    })
    expect((await harness([...args, '--min-called', '0.1'])).code).toBe(0)
  })

  it('counts a request that its server fails as no call, and goes on', async () => {
    const url = await faulty({ oversized: 0.3 })
    const { tested } = await harnessJson(['--model', url, '--requests', '4', '--shapes', 'integer'])
    const { called, submitted } = tested.total
    expect([called > 0, called < 1, submitted < 1]).toEqual([true, true, true])
    expect(tested.errors).toMatchObject([{ code: 'AGENT_007' }])
    expect(tested.misses.length).toBeGreaterThan(0)
  })

  it('compares two servers request by request, and judges the first', async () => {
    const [good, bad] = [await faulty({}), await faulty({ no_tool_call: 1 })]
    const args = ['--requests', '3', '--model']
    const first = await harnessJson([...args, bad, '--compare', good])
    expect(first.code).toBe(1)
    expect([first.tested.total.called, first.other?.total.called]).toEqual([0, 1])
    const second = await harnessJson([...args, good, '--compare', bad])
    expect(second.code).toBe(0)
    const { out } = await harness([...args, good, '--compare', bad])
    expect(out).toMatch(/^A +rehearsal model.*\n.*\nB +rehearsal model/)
    expect(out).toMatch(/\nall +1\.000 0\.000 -1\.000/)
    expect(out).toMatch(/\nfirst reply p95, ms +\d/)
    expect(out).toMatch(/\nA errors +none\nB errors\nB {3}AGENT_003 +84 in 84 agents: the model answered without/)
  })

  it('compares old settings with new ones on the same server', async () => {
    const server = await barrier(1)
    const changes = 'tool_choice=auto,temperature=0.1,max_tokens=512,tool_guide=false,model=other'
    const args = ['--model', server.origin, '--requests', '1', '--shapes', 'irrelevant', '--concurrency', '1']
    const { tested, other } = await harnessJson([...args, '--compare', changes])
    expect(tested.settings).toEqual({
      tool_choice: 'required',
      constraint: 'none',
      temperature: 0,
      max_tokens: 256,
      tool_guide: true,
      stream: false,
    })
    expect(other?.settings).toEqual({
      tool_choice: 'auto',
      constraint: 'none',
      temperature: 0.1,
      max_tokens: 512,
      tool_guide: false,
      stream: false,
    })
    const sent = server.bodies.map((body) => {
      const { model, tool_choice: choice, temperature, messages } = JSON.parse(body)
      return [model, choice, temperature, messages[0].content.includes('- restart_server(name: string)')]
    })
    const [a, b] = [
      ['rehearsal', 'required', 0, true],
      ['other', 'auto', 0.1, false],
    ]
    expect(sent).toEqual([a, b, b, a, a, b])
  })

  it.each([1, 12])('has %i requests under way at once, and never more', async (together) => {
    const server = await barrier(together)
    const args = ['--model', `${server.origin}/v1`, '--requests', '8', '--shapes', 'integer']
    const { peak_in_flight: peak, tested } = await harnessJson([...args, '--concurrency', String(together)])
    expect([server.peak(), peak]).toEqual([together, together])
    expect(tested.total).toEqual({ requests: 24, ...perfect })
  })

  it('takes the server and the name of the model from the settings', async () => {
    const server = await barrier(1)
    const env = { REMORA_MODEL_URLS: `${server.origin}/v1`, REMORA_MODEL: 'tiny', REMORA_MODEL_API_KEY: 'k' }
    const { tested } = await harnessJson(['--requests', '1', '--shapes', 'boolean'], { env })
    expect(tested).toMatchObject({ model: 'tiny', servers: `${server.origin}/v1`, is_rehearsal: true })
    expect(JSON.parse(server.bodies[0] ?? '{}')).toMatchObject({ model: 'tiny' })
  })

  it('writes the report to a file, too', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'harness-'))
    closings.push(() => rm(dir, { recursive: true }))
    const args = ['--requests', '1', '--shapes', 'enum', '--out']
    const { out } = await harness([...args, join(dir, 'report.json')])
    expect(out).toContain('passed')
    expect(Report.parse(JSON.parse(await readFile(join(dir, 'report.json'), 'utf8'))).passed).toBe(true)
    expect(await readdir(dir)).toEqual(['report.json'])
    expect(await harness([...args, join(dir, 'none/report.json')])).toMatchObject({ code: 1, out: '' })
  })

  it('stops at once when it is interrupted, and closes its connections', async () => {
    const server = await barrier(1000)
    const stop = new AbortController()
    const ended = harness(['--model', server.origin, '--requests', '5'], { signal: stop.signal })
    await until(() => server.waiting(), { holds: (count) => count === 25 })
    stop.abort(new Error('interrupted'))
    await expect(ended).rejects.toThrow('interrupted')
    expect(server.bodies).toHaveLength(25)
    await until(() => server.connections(), { holds: (count) => count === 0 })
  })

  it('says which server does not answer', async () => {
    const [port] = await freePorts(1)
    const url = `http://127.0.0.1:${port}/v1`
    for (const args of [[], ['--model-name', 'tiny']]) {
      const { err, out, code } = await harness(['--model', url, ...args])
      expect([code, out]).toEqual([1, ''])
      expect(err).toMatch(/^remora: CONFIG_005 no model server/)
      expect(err).toContain(`127.0.0.1:${port}`)
    }
    expect((await harness(['--requests', '1', '--compare', url])).err).toContain('CONFIG_005')
  })

  it.each([
    [['--requests', '0'], /It must be a whole number above 0/],
    [['--concurrency', '5000'], /It must be at most 1024/],
    [['--temperature', '3'], /It must be a number, 0 to 2/],
    [['--min-called', '90'], /It must be a number, 0 to 1/],
    [['--tool-choice', 'none'], /Allowed choices are required, auto/],
    [['--model', 'localhost:8000'], /It must be "rehearsal" or http\(s\) URLs of model servers/],
    [['--shapes', 'strings'], /There is no shape "strings": known are string, /],
    [['--compare', 'tool_choise=auto'], /did you mean tool_choice\?/],
    [['--agent', 'lint'], /--agent lint: the tools of lint need a repository/],
  ])('refuses %j as wrong usage', async (args, message) => {
    const { code, err } = await harness(args)
    expect(err).toMatch(message)
    expect(code).toBe(2)
  })
})
