import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { playRun } from '../../services/api/played-run.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
const remora = (token: string, ...args: string[]) => served.remoraWith({ env: { REMORA_TOKEN: token } }, ...args)

const Listed = z.object({ tokens: z.array(z.looseObject({ token_id: z.string(), name: z.string() })) })
const Diff = z.looseObject({ changes: z.array(z.looseObject({ change_set_id: z.string(), decision: z.unknown() })) })
const listed = async () =>
  Listed.parse(JSON.parse((await remora(served.api.token, 'token', 'list', '--json')).out)).tokens

describe('remora token', () => {
  it('makes a token that works at once, lists it, and makes it worthless', async () => {
    const { out, err } = await remora(
      served.api.token,
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
    expect((await remora(served.api.token, 'token', 'list')).out).toMatch(/runs:read {2}until \d{4}-.* {2}CI\n$/)
    const id = made?.token_id ?? ''
    expect((await remora(served.api.token, 'token', 'revoke', id)).out).toBe(`${id}: revoked\n`)
    await expect(remora(token, 'runs')).rejects.toMatchObject({ code: 'AUTH_001' })
    await expect(remora(served.api.token, 'token', 'revoke', id)).rejects.toMatchObject({ code: 'AUTH_003' })
  })

  it('has its name beside the decisions that were made with it, also once it is revoked', async () => {
    const content = 'a = 1\n'
    const baseHash = await served.api.blobs.put(served.api.project, Buffer.from(content))
    const edits = [{ start: 0, end: 5, text: 'a = 2' }]
    const runId = await playRun(served.api, [
      { name: 'one', changes: [{ kind: 'edit', path: 'a.py', baseHash, edits }] },
    ])
    const { out } = await remora(served.api.token, 'token', 'create', '--name', 'eve')
    await remora(out.trim(), 'reject', runId, 'a.py', 'one', '--because', 'too short')
    const eve = (await listed()).find(({ name }) => name === 'eve')
    await remora(served.api.token, 'token', 'revoke', eve?.token_id ?? '')
    const who = `eve (human/${eve?.token_id ?? ''})`
    const shown = await remora(served.api.token, 'diff', runId, 'a.py', 'one')
    expect(shown.err).toContain(`rejected, by ${who} `)
    const [change] = Diff.parse(
      JSON.parse((await remora(served.api.token, 'diff', runId, 'a.py', 'one', '--json')).out),
    ).changes
    expect(change?.decision).toMatchObject({ decided_by: `human/${eve?.token_id ?? ''}`, decided_by_name: 'eve' })
    const late = await served.api.ask(`/v1/runs/${runId}/decisions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ decisions: [{ change_set_id: change?.change_set_id, verdict: 'accept', version: 0 }] }),
    })
    expect(await late.json()).toMatchObject({ detail: expect.stringContaining(`${who} has decided otherwise`) })
    expect((await served.api.ledger.verify(runId)).violations).toEqual([])
  })

  it('makes the first token of a project, whose owner manages the tokens of it alone', async () => {
    const project = `${served.api.project}shop`
    const next = `"remora token create --project ${project}" makes a token of it`
    expect((await remora(served.api.token, 'project', 'create', project)).out).toBe(`${project}: ${next}\n`)
    expect((await remora(served.api.token, 'project', 'list')).out).toMatch(
      new RegExp(`^default\n${project}  created \\d{4}-.*\n$`),
    )
    const list = ['token', 'list', '--project', project]
    expect((await remora(served.api.token, ...list)).out).toContain(
      `project ${project} has no tokens: "remora token create`,
    )
    const made = await remora(served.api.token, 'token', 'create', '--project', project, '--scopes', 'tokens:admin')
    const ofShop = (...args: string[]) => remora(made.out.trim(), ...args)
    expect((await ofShop('token', 'list')).out.split('\n')).toHaveLength(2)
    expect((await ofShop('token', 'list')).out).toBe(
      (await remora(served.api.token, 'token', 'list', '--project', project)).out,
    )
    const operators = { code: 'AUTH_002' }
    await expect(ofShop('project', 'create', 'mine')).rejects.toMatchObject(operators)
    await expect(ofShop('project', 'list')).rejects.toMatchObject(operators)
    await expect(ofShop('token', 'create', '--project', 'default')).rejects.toMatchObject(operators)
    await expect(remora(served.api.token, 'project', 'create', 'My-Shop')).rejects.toMatchObject({
      code: 'commander.invalidArgument',
      message: expect.stringContaining('4 to 64 lower-case letters'),
    })
    const unknown = remora(served.api.token, 'token', 'create', '--project', 'nowhere')
    await expect(unknown).rejects.toMatchObject({ code: 'PROJECT_001' })
  })

  it('sets budgets in whole sentences, and says when one lets nothing more start', async () => {
    const runId = await playRun(served.api, [
      { name: 'one', leaves: 'nothing to do' },
      { name: 'two', asks: { text: 'Which?', choices: null } },
    ])
    const { tokens } = await served.api.ledger.getRun(runId)
    expect(tokens).toBe(0)
    expect((await remora(served.api.token, 'budget', runId, '--tokens', '1')).out).toBe(`${runId}: 0 of 1 token used\n`)
    const ofProject = await remora(served.api.token, 'project', 'budget', served.api.project, '--tokens-per-day', '1')
    expect(ofProject.out).toMatch(/: \d of 1 token used today; the day ends \d{4}-\d\d-\d\d 00:00 UTC\n$/)
    await remora(served.api.token, 'project', 'budget', served.api.project, '--unlimited')
    await expect(remora(served.api.token, 'budget', runId, '--tokens', '1000001M')).rejects.toThrow('1000000M at most')
  })

  it.for([
    ['--scopes', 'runs:everything'],
    ['--expires', '30'],
    ['--expires', '5s'],
  ])('refuses %s %s as wrong usage', async ([option = '', value = '']) => {
    await expect(remora(served.api.token, 'token', 'create', option, value)).rejects.toMatchObject({
      code: 'commander.invalidArgument',
    })
  })
})
