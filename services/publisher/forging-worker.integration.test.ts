import { beforeEach, describe, expect, it } from 'vitest'
import { type RunId, sha256 } from '#domain/ids.ts'
import { Publication } from '#domain/publication.ts'
import { runKeys } from '#store/ledger/keys.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putHashedJson } from '#store/objects/object-store.ts'
import { openSigner } from '#platform/signer.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from './published-run.fixture.ts'
import { z } from 'zod'

const one = { name: 'one', path: 'a.py', from: '1', to: '2' } as const
const two = { name: 'two', path: 'b.py', from: '1', to: '666' } as const

/** All that a worker can do which may write to all of Redis, and does not have the key. */
describe.skipIf(lacks('git'))('a worker that was taken over', () => {
  const at = usePublisher()
  let writesBefore = 0
  beforeEach(() => (writesBefore = writes().length))

  const writes = () =>
    at.publisher.github.requests.filter(({ method, path }) => method !== 'GET' && !path.endsWith('access_tokens'))
  const keys = (runId: RunId) => runKeys(at.publisher.namespace, runId)
  const fileOf = (path: string) => at.repository.git(['show', `remora/main:${path}`])
  const attacker = () =>
    openLedger(at.publisher.redis, {
      namespace: at.publisher.namespace,
      signer: openSigner(['a key of the attacker, as long as it must be']),
    })
  const eventsOf = async (runId: RunId, name: string) => {
    const events = await at.publisher.ledger.readEvents(runId, { after: 0, limit: 1_000 })
    return events.filter(({ event }) => event === name)
  }
  const decisionOn = async (runId: RunId) => {
    const { byChangeSet, last } = await at.publisher.ledger.readDecisions(runId)
    const found = [...byChangeSet.values()].at(-1)
    if (found === undefined) throw new Error('nothing was decided')
    const { node } = await at.publisher.ledger.getOperation(runId, found.operationId)
    const { version: _version, at: _at, by: _by, ...decision } = found
    return { last, decision: { ...decision, node, before: 'pending', verdict: 'accepted' } as const }
  }

  it.each([
    ['its own key', false],
    ['the words and the signature of another run', true],
  ])('makes up no decision of a person with %s, and what is really accepted is published', async (_, isCopied) => {
    const request = { accept: 'none' } as const
    const other = await at.play({ changes: [one, two], request, areOfPerson: true })
    const runId = await at.play({ changes: [one, two], request, areOfPerson: true })
    const { decision, last } = await decisionOn(runId)
    await at.publisher.redis.hdel(keys(runId).decisions, decision.changeSetId)
    await attacker().decide(runId, { last, decisions: [decision], by: { kind: 'human', id: 'ada' } })
    if (isCopied) {
      const copied = (await at.publisher.redis.hget(keys(other).decisions, decision.changeSetId)) ?? ''
      await at.publisher.redis.hset(keys(runId).decisions, decision.changeSetId, copied)
    }
    await at.publisher.ledger.notePublication(runId, { publication: Publication.parse({ isAsked: true }) })
    await at.publisher.settle(runId)
    const [event, ...others] = await eventsOf(runId, 'publication.refused')
    expect(event?.data).toMatchObject({ error_code: 'PUBLISH_005', change_set_ids: [decision.changeSetId] })
    expect(others).toEqual([])
    const { pulls } = (await at.publisher.publicationOf(runId)) ?? {}
    expect(pulls).toMatchObject([{ number: 1, changeSetIds: [expect.not.stringContaining(decision.changeSetId)] }])
    expect(await fileOf('b.py')).toBe('b = 1')
  })

  it('takes back no decision of a person by what it may write itself', async () => {
    const runId = await at.play({ changes: [one], request: { accept: 'none' }, areOfPerson: true })
    const { decision } = await decisionOn(runId)
    await at.publisher.redis.hset(keys(runId).policyDecisions, decision.changeSetId, 'junk')
    const { byChangeSet, forged } = await at.publisher.ledger.readDecisions(runId)
    expect(byChangeSet.get(decision.changeSetId)).toMatchObject({
      verdict: 'accepted',
      by: expect.stringContaining('human'),
    })
    expect(forged).toEqual([decision.changeSetId])
  })

  it('cannot keep what is done for a run from being noted', async () => {
    const runId = await at.play({ changes: [one] })
    await at.publisher.redis.set(keys(runId).publication, `${'9'.repeat(15)} x {}`)
    for (let times = 0; times < 2; times++) {
      const { publication } = await at.publisher.ledger.getRun(runId)
      const noted = await at.publisher.ledger.notePublication(runId, {
        publication: publication ?? Publication.parse({}),
      })
      expect(noted).toBeDefined()
    }
  })

  it('has nothing accepted by a policy that the run was not given', async () => {
    const runId = await at.play({ changes: [one], request: { accept: 'none' } })
    await at.publisher.settle(runId)
    expect(await eventsOf(runId, 'publication.refused')).toHaveLength(1)
    expect(await at.publisher.publicationOf(runId)).toMatchObject({ pulls: [] })
    expect(await at.repository.branches()).toEqual(['main'])
  })

  it('publishes nothing by changing what a run was asked to do', async () => {
    const runId = await at.play({ changes: [one], request: { accept: 'none' } })
    const text = (await at.publisher.redis.hget(keys(runId).run, 'request')) ?? ''
    await at.publisher.redis.hset(keys(runId).run, 'request', text.replace('"none"', '"auto"'))
    await at.publisher.settle(runId)
    expect(writes().slice(writesBefore)).toEqual([])
    expect(await eventsOf(runId, 'publication.failed')).toMatchObject([{ errorCode: 'PUBLISH_005' }])
    await at.publisher.look(runId)
    expect(await eventsOf(runId, 'publication.failed')).toHaveLength(1)
  })

  it('is in the way of no other run, asks for no pull request and says of no commit that it is ours', async () => {
    const runId = await at.play({ changes: [one] })
    await at.publisher.settle(runId)
    const { version = 0, pulls = [] } = (await at.publisher.publicationOf(runId)) ?? {}
    const person = await at.repository.humanCommit('remora/main', { 'c.py': 'c = 1\n' })
    const lie = Publication.parse({ version, isAsked: true, pulls: pulls.map((pull) => ({ ...pull, head: person })) })
    await attacker().notePublication(runId, { publication: lie })
    const next = await at.play({ changes: [two] })
    const before = writes().length
    await at.publisher.settle(runId)
    expect(writes().slice(before)).toEqual([])
    expect(await eventsOf(runId, 'publication.failed')).toMatchObject([{ errorCode: 'PUBLISH_005' }])
    await at.publisher.settle(next)
    expect(await at.repository.tip('remora/main')).toBe(person)
    expect(await at.publisher.publicationOf(next)).toMatchObject({ fault: { errorCode: 'PUBLISH_002' } })
  })

  it('puts no other changes in the place of those that a person has accepted', async () => {
    const { blobs, objects, project, redis } = at.publisher
    const lie = 'a = 666\n'
    await blobs.put(project, Buffer.from(lie))
    const runId = await at.play({
      changes: [one],
      request: { accept: 'none' },
      areOfPerson: true,
      lie: (files) => files.map((file) => ({ ...file, resultHash: sha256(lie) })),
    })
    const { decision } = await decisionOn(runId)
    const { recordHash, operationId } = decision
    // As a set that has the id of the other one by chance: worker and publisher read it under the operation that has made it.
    const record = Buffer.from(await objects.get(objectKeys.attempt(project, recordHash))).toString()
    const forged = z.looseObject({}).parse(JSON.parse(record.replace('"text":"2"', '"text":"666"')))
    const hash = await putHashedJson(objects, (name) => objectKeys.attempt(project, name), forged)
    const key = keys(runId).operation(operationId)
    const outcome = (await redis.hget(key, 'outcome')) ?? ''
    expect(outcome).toContain(recordHash)
    await redis.hset(key, 'outcome', outcome.replaceAll(recordHash, hash))
    await at.publisher.ledger.notePublication(runId, { publication: Publication.parse({ isAsked: true }) })
    await at.publisher.settle(runId)
    expect(await at.publisher.publicationOf(runId)).toMatchObject({ fault: { errorCode: 'PUBLISH_001' }, pulls: [] })
    expect(await at.repository.branches()).toEqual(['main'])
  })
})
