import { beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import type { Delivery, HandledDelivery } from '#code-hosts/delivery.ts'
import { openDeliveryInbox } from '#code-hosts/delivery-inbox.ts'
import { Publication } from '#domain/publication.ts'
import { submitRun } from '../../services/api/played-run.fixture.ts'
import { testSigner } from '#testing/test-signer.ts'
import { remoraHere } from '../../tests/remora-here.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
beforeAll(async () => {
  await served.api.installations.note({
    installationId: 7,
    projectId: served.api.project,
    account: 'octocat',
    isSuspended: false,
  })
  await served.api.installations.addRepositories(7, [{ id: 1, owner: 'octocat', name: 'hello' }])
})

const remora = (...args: string[]) => remoraHere({ path: '.' }, args, { ...served.env(), REMORA_CONFIG: 'none' })

const submit = ['submit', '--agents', 'lint', '--repository']

describe('remora submit --repository', () => {
  it('has the service fetch the code', async () => {
    const { out, code } = await remora(...submit, 'https://github.com/octocat/hello', '--ref', 'dev', '--limit', '3')
    expect(code).toBe(0)
    const { request } = await served.api.ledger.getRun(out.trim())
    expect(request).toMatchObject({ repository: { repository: { id: 1 }, ref: 'dev' }, limits: { operations: 3 } })
    const shown = (await remora('show', out.trim())).out
    expect(shown).toMatch(/^repository +octocat\/hello dev$/m)
  })

  it('says that the App is not installed on a repository', async () => {
    const { code, err } = await remora(...submit, 'octocat/other')
    expect([code, err]).toEqual([1, expect.stringContaining('HOST_002')])
  })

  it.for([
    [['submit', '.', '--repository', 'octocat/hello'], 'exclude each other'],
    [['submit', '--repository', 'octocat/hello', '--since', 'HEAD'], '--since is for a folder'],
    [['submit', '--ref', 'main'], '--ref is for --repository'],
  ] as const)('refuses what is about a folder: %s', async ([args, reason]) => {
    expect(await remora(...args, '--agents', 'lint')).toMatchObject({ code: 2, err: expect.stringContaining(reason) })
  })
})

describe('remora publish', () => {
  it('asks for the pull request, and says which one there will be', async () => {
    const runId = (await remora(...submit, 'octocat/hello')).out.trim()
    const first = await remora('publish', runId)
    expect(first.out).toMatch(/^r\w+: asked for\n {2}one branch with what is accepted, and one pull request for /)
    const before = (await served.api.ledger.getRun(runId)).publication ?? Publication.parse({})
    const url = 'https://github.com/octocat/hello/pull/12'
    const [head, base] = ['a'.repeat(40), 'b'.repeat(40)]
    const pull = {
      agent: null,
      branch: 'remora/x',
      number: 12,
      url,
      head,
      base,
      state: 'open' as const,
      isDraft: false,
    }
    const publication = { ...before, pulls: [{ ...pull, changeSetIds: ['c1'], carried: [] }] }
    await served.api.ledger.notePublication(runId, { publication })
    expect((await remora('publish', runId)).out).toContain(`brought up to date: ${url}`)
    expect((await remora('show', runId)).out).toContain(url)
    expect(JSON.parse((await remora('publish', runId, '--json')).out)).toMatchObject({ run_id: runId })
  })

  it('says what to do for a run whose code was uploaded', async () => {
    const { code, err } = await remora('publish', await submitRun(served.api))
    expect([code, err]).toEqual([1, expect.stringContaining('PUBLISH_004')])
    expect(err).toContain('--to')
  })
})

describe('remora github', () => {
  it('lists installations, and gives one to another project', async () => {
    const { out } = await remora('github', 'installations')
    expect(out.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['installation', 'account', 'project', 'repositories'],
      ['7', 'octocat', served.api.project, '1'],
      [''],
    ])
    await remora('project', 'create', 'shop')
    const assigned = await remora('github', 'installations', '--assign', '7', 'shop', '--json')
    expect(JSON.parse(assigned.out)).toMatchObject({ installations: [{ installation_id: 7, project_id: 'shop' }] })
    expect(await remora('github', 'installations', '--assign', '7')).toMatchObject({ code: 2 })
    const unknown = await remora('github', 'installations', '--assign', '8', 'shop')
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('HOST_002')])
  })

  it('lists what became of webhooks', async () => {
    expect((await remora('github', 'deliveries', '--all')).out).toBe('no webhook was handled yet\n')
    const inbox = openDeliveryInbox(served.api.redis, served.api.namespace, { signer: testSigner })
    const about = { deliveryId: 'd1', event: 'push' }
    const delivery: Delivery = {
      ...about,
      bodyHash: sha256('d1'),
      installationId: 7,
      repository: null,
      sender: null,
      body: { kind: 'other', action: null },
    }
    const handled: HandledDelivery = {
      ...about,
      action: null,
      repository: 'octocat/hello',
      ref: 'refs/heads/\u001b[31mdev',
      outcome: 'ignored',
      reason: 'no such branch',
      projectId: null,
      runId: null,
      at: Date.UTC(2026, 0, 2, 3, 4),
    }
    await inbox.put(delivery)
    for (const taken of await inbox.take('test', 1)) await inbox.end(taken, handled)
    expect((await remora('github', 'deliveries')).out).toBe('webhooks that were ignored are listed with --all\n')
    const { out } = await remora('github', 'deliveries', '--all', '--limit', '5')
    expect(out).toMatch(/^2026-01-02 03:04 +push +octocat\/hello +refs\/heads\/.*dev +ignored +no such branch +d1$/m)
    expect(out).not.toContain('\u001b')
    expect(JSON.parse((await remora('github', 'deliveries', '--all', '--json')).out)).toMatchObject({
      deliveries: [{ delivery_id: 'd1', run_id: null, outcome: 'ignored' }],
    })
  })
})
