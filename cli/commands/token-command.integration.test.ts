import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { TestApi } from '../../services/api/app.fixture.ts'
import { playRun } from '../../services/api/played-run.fixture.ts'
import { readCliConfig } from '../cli-config.ts'
import { buildProgram } from '../program.ts'
import { openServedApi, type ServedApi } from './served-api.fixture.ts'

let api: TestApi
let served: ServedApi
beforeAll(async () => {
  served = await openServedApi()
  api = served.api
})
afterAll(() => served.close())

async function remora(token: string, ...args: string[]) {
  const printed = { out: '', err: '' }
  const io = {
    out: (text: string) => void (printed.out += text),
    err: (text: string) => void (printed.err += text),
    exit: () => {},
  }
  const config = readCliConfig({ REMORA_API_URL: served.url, REMORA_TOKEN: token })
  const signal = new AbortController().signal
  const program = buildProgram({ io, config, signal, terminal: undefined, colored: false, cwd: '.' })
  await program.parseAsync(args, { from: 'user' })
  return printed
}

const Listed = z.object({ tokens: z.array(z.looseObject({ token_id: z.string(), name: z.string() })) })
const Diff = z.looseObject({ changes: z.array(z.looseObject({ change_set_id: z.string(), decision: z.unknown() })) })
const listed = async () => Listed.parse(JSON.parse((await remora(api.token, 'token', 'list', '--json')).out)).tokens

describe('remora token', () => {
  it('makes a token that works at once, lists it, and makes it worthless', async () => {
    const { out, err } = await remora(
      api.token,
      'token',
      'create',
      '--name',
      'CI',
      '--scopes',
      'runs:read',
      '--expires',
      '30d',
    )
    const token = out.trim()
    expect(token).toMatch(/^rmr_[\w-]{43}$/)
    expect(err).toContain('not shown again')
    expect((await remora(token, 'runs')).out).toMatch(/^no runs to show in http:\/\/127\.0\.0\.1:\d+\n$/)
    const [made] = await listed()
    expect(made).toMatchObject({ name: 'CI', scopes: ['runs:read'], expired: false })
    expect(JSON.stringify(await listed())).not.toContain(token)
    expect((await remora(api.token, 'token', 'list')).out).toMatch(/runs:read {2}until \d{4}-.* {2}CI\n$/)
    const id = made?.token_id ?? ''
    expect((await remora(api.token, 'token', 'revoke', id)).out).toBe(`${id}: revoked\n`)
    await expect(remora(token, 'runs')).rejects.toMatchObject({ code: 'AUTH_001' })
    await expect(remora(api.token, 'token', 'revoke', id)).rejects.toMatchObject({ code: 'AUTH_003' })
  })

  it('has its name beside the decisions that were made with it, also once it is revoked', async () => {
    const content = 'a = 1\n'
    const baseHash = await api.blobs.put(api.project, Buffer.from(content))
    const edits = [{ start: 0, end: 5, text: 'a = 2' }]
    const runId = await playRun(api, [{ name: 'one', changes: [{ kind: 'edit', path: 'a.py', baseHash, edits }] }])
    const { out } = await remora(api.token, 'token', 'create', '--name', 'eve')
    await remora(out.trim(), 'reject', runId, 'a.py', 'one', '--because', 'too short')
    const eve = (await listed()).find(({ name }) => name === 'eve')
    await remora(api.token, 'token', 'revoke', eve?.token_id ?? '')
    const who = `eve (human/${eve?.token_id ?? ''})`
    const shown = await remora(api.token, 'diff', runId, 'a.py', 'one')
    expect(shown.err).toContain(`rejected, by ${who} `)
    const [change] = Diff.parse(
      JSON.parse((await remora(api.token, 'diff', runId, 'a.py', 'one', '--json')).out),
    ).changes
    expect(change?.decision).toMatchObject({ decided_by: `human/${eve?.token_id ?? ''}`, decided_by_name: 'eve' })
    const late = await api.ask(`/v1/runs/${runId}/decisions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decisions: [{ change_set_id: change?.change_set_id, verdict: 'accept', version: 0 }] }),
    })
    expect(await late.json()).toMatchObject({ detail: expect.stringContaining(`${who} has decided otherwise`) })
    expect((await api.ledger.verify(runId)).violations).toEqual([])
  })

  it('lists one that cannot be read, and revokes it', async () => {
    const id = 't0123456789abcdef'
    const readable = { tokenId: id, projectId: api.project, name: '', scopes: [], createdAt: 1, expiresAt: null }
    await api.tokenStore.add('hash of a token', { ...readable, createdAt: 1e20 })
    expect((await remora(api.token, 'token', 'list')).out).toContain(`${id}  damaged, and refused everywhere`)
    expect((await remora(api.token, 'token', 'revoke', id)).out).toBe(`${id}: revoked\n`)
    expect((await remora(api.token, 'token', 'list')).out).not.toContain(id)
  })

  it('makes the first token of a project, whose owner manages the tokens of it alone', async () => {
    const project = `${api.project}shop`
    const next = `"remora token create --project ${project}" makes a token of it`
    expect((await remora(api.token, 'project', 'create', project)).out).toBe(`${project}: ${next}\n`)
    expect((await remora(api.token, 'project', 'list')).out).toMatch(
      new RegExp(`^default\n${project}  created \\d{4}-.*\n$`),
    )
    const list = ['token', 'list', '--project', project]
    expect((await remora(api.token, ...list)).out).toContain(`project ${project} has no tokens: "remora token create`)
    const made = await remora(api.token, 'token', 'create', '--project', project, '--scopes', 'tokens:admin')
    const ofShop = (...args: string[]) => remora(made.out.trim(), ...args)
    expect((await ofShop('token', 'list')).out.split('\n')).toHaveLength(2)
    expect((await ofShop('token', 'list')).out).toBe(
      (await remora(api.token, 'token', 'list', '--project', project)).out,
    )
    const operators = { code: 'AUTH_002' }
    await expect(ofShop('project', 'create', 'mine')).rejects.toMatchObject(operators)
    await expect(ofShop('project', 'list')).rejects.toMatchObject(operators)
    await expect(ofShop('token', 'create', '--project', 'default')).rejects.toMatchObject(operators)
    await expect(remora(api.token, 'project', 'create', 'My-Shop')).rejects.toMatchObject({
      code: 'commander.invalidArgument',
      message: expect.stringContaining('4 to 64 lower-case letters'),
    })
    const unknown = remora(api.token, 'token', 'create', '--project', 'nowhere')
    await expect(unknown).rejects.toMatchObject({ code: 'PROJECT_001' })
  })

  it('sets budgets in whole sentences, and says when one lets nothing more start', async () => {
    const runId = await playRun(api, [
      { name: 'one', leaves: 'nothing to do' },
      { name: 'two', asks: { text: 'Which?', choices: null } },
    ])
    const { tokens } = await api.ledger.getRun(runId)
    expect(tokens).toBe(0)
    expect((await remora(api.token, 'budget', runId, '--tokens', '1')).out).toBe(`${runId}: 0 of 1 token used\n`)
    const ofProject = await remora(api.token, 'project', 'budget', api.project, '--tokens-per-day', '1')
    expect(ofProject.out).toMatch(/: \d of 1 token used today; the day ends \d{4}-\d\d-\d\d 00:00 UTC\n$/)
    await remora(api.token, 'project', 'budget', api.project, '--unlimited')
    await expect(remora(api.token, 'budget', runId, '--tokens', '1000001M')).rejects.toThrow('1000000M at most')
  })

  it('tells a token without the scope what it lacks', async () => {
    const { out } = await remora(api.token, 'token', 'create')
    await expect(remora(out.trim(), 'token', 'list')).rejects.toMatchObject({
      code: 'AUTH_002',
      message: 'This needs a token with the scope tokens:admin.',
    })
  })

  it.for([
    ['--scopes', 'runs:everything'],
    ['--expires', '30'],
    ['--expires', '5s'],
  ])('refuses %s %s as wrong usage', async ([option = '', value = '']) => {
    await expect(remora(api.token, 'token', 'create', option, value)).rejects.toMatchObject({
      code: 'commander.invalidArgument',
    })
  })
})
