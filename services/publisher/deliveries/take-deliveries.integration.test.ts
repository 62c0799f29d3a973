import { beforeAll, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { usePublisher } from '../published-run.fixture.ts'
import type { TestPublisher } from '../test-publisher.fixture.ts'
import { takeDeliveries, takeWaiting } from './take-deliveries.ts'

/** A GitHub that answers nothing about the repositories of one account until it is told to. */
function holdAccount({ github }: TestPublisher, account: string) {
  const released = Promise.withResolvers<void>()
  const held = new Set<string>()
  github.watch(async ({ path }) => {
    const [, , owner, name = ''] = path.split('/')
    if (owner !== account) return
    held.add(name)
    await released.promise
  })
  return { held, release: () => released.resolve() }
}

describe.skipIf(lacks('git'))('webhooks that are taken', () => {
  const silentMs = 300
  const at = usePublisher({ silentMs })
  let publisher: TestPublisher
  beforeAll(async () => {
    publisher = at.publisher
    publisher.github.install({ account: 'slow' })
    await publisher.takeAll()
  })

  const take = (consumer: string) => takeDeliveries({ ...publisher.host().handling, inbox: publisher.inbox, consumer })
  const slowRepository = (name: string) =>
    publisher.github.addRepository({ owner: 'slow', name, files: { 'a.py': 'a = 1\n' } })
  async function pushedSlowly(name: string) {
    const repositories = await Promise.all(Array.from({ length: 5 }, (_, nth) => slowRepository(`${name}${nth}`)))
    for (const one of repositories) await one.humanCommit('main', { 'a.py': 'a = 2\n' })
    await publisher.github.webhooks.settled()
    return repositories
  }
  /** The reasons, the oldest first. */
  async function handledOf(fullName: string): Promise<string[]> {
    const handled = await publisher.inbox.listHandled(1_000)
    return handled
      .flatMap((one) => (one.repository === fullName && one.event === 'push' ? one.reason : []))
      .toReversed()
  }

  const untilHandled = (repositories: readonly { fullName: string }[]) =>
    until(
      async () => {
        await takeWaiting({ ...publisher.host().handling, inbox: publisher.inbox })
        return Promise.all(repositories.map(({ fullName }) => handledOf(fullName)))
      },
      { holds: (handled) => handled.every((reasons) => reasons.length === 1) },
    )

  it('do not wait for a slow installation, whose own keep their order', async () => {
    const { held, release } = holdAccount(publisher, 'slow')
    const repositories = await Promise.all(Array.from({ length: 20 }, (_, nth) => slowRepository(`shop${nth}`)))
    const [first] = repositories
    for (const by of ['bob', 'eve']) await first?.humanCommit('main', { 'a.py': `a = '${by}'\n` }, { by })
    for (const one of repositories.slice(1)) await one.humanCommit('main', { 'a.py': 'a = 2\n' })
    await publisher.repository.humanCommit('main', { 'a.py': 'a = 2\n' })
    await publisher.github.webhooks.settled()
    const stop = take('one')
    try {
      await until(() => handledOf('acme/shop'), { holds: ({ length }) => length === 1 })
      expect(held.size).toBeLessThanOrEqual(2)
      // Several times as long as others wait for somebody who says nothing.
      const stopOther = take('other')
      for (let pushes = 2; pushes < 6; pushes++) {
        await publisher.repository.humanCommit('main', { 'a.py': `a = ${pushes + 1}\n` })
        await until(() => handledOf('acme/shop'), { holds: ({ length }) => length === pushes })
      }
      expect(await handledOf('slow/shop0')).toEqual([])
      expect(held.size).toBeLessThanOrEqual(2)
      release()
      for (const one of repositories) await until(() => handledOf(one.fullName), { holds: ({ length }) => length > 0 })
      await until(() => handledOf('slow/shop0'), { holds: ({ length }) => length === 2 })
      expect((await handledOf('slow/shop0')).map((reason) => reason.slice(-3))).toEqual(['bob', 'eve'])
      await stopOther()
    } finally {
      release()
      await stop()
    }
  })

  it('of an installation that has to wait for an hour ask GitHub nothing meanwhile', async () => {
    const { faults, requests } = publisher.github
    const path = /^\/repos\/slow\//
    faults.add({ how: 'status', status: 429, retryAfterSeconds: 3_600, path, times: 1_000 })
    const repositories = await pushedSlowly('limited')
    const before = requests.length
    const stop = take('limited')
    for (let pushes = 0; pushes < 3; pushes++) {
      const handled = (await handledOf('acme/shop')).length
      await publisher.repository.humanCommit('main', { 'a.py': `a = 2${pushes}\n` })
      await until(() => handledOf('acme/shop'), { holds: ({ length }) => length > handled })
    }
    // What was on its way at once.
    expect(requests.slice(before).filter((one) => path.test(one.path)).length).toBeLessThanOrEqual(2)
    await stop()
    faults.clear()
    const left = await publisher.inbox.take('next', 100)
    expect(left.filter(({ delivery }) => delivery.event === 'push')).toHaveLength(repositories.length)
    await untilHandled(repositories)
  })

  it('all wait while GitHub refuses the app itself, and are handled once it does not', async () => {
    const { faults, requests } = publisher.github
    const path = /\/access_tokens$/
    faults.add({ how: 'status', status: 401, path, times: 1_000 })
    const repositories = await pushedSlowly('refused')
    const said = () => publisher.log.messages().filter((message) => message.includes('refuses the App'))
    const asked = () => requests.filter((one) => path.test(one.path)).length
    const before = asked()
    const stop = take('refused')
    await until(said, { holds: ({ length }) => length > 0 })
    await stop()
    expect(said()).toHaveLength(1)
    // What was on its way at once.
    expect(asked() - before).toBeLessThanOrEqual(2)
    faults.clear()
    await untilHandled(repositories)
    const failed = (await publisher.inbox.listHandled(1_000)).filter(({ outcome }) => outcome === 'failed')
    expect(failed).toEqual([])
  })

  it('are left to others by one that stops, at once, but for those that it has begun', async () => {
    const { held, release } = holdAccount(publisher, 'slow')
    const repositories = await pushedSlowly('left')
    const stop = take('stopping')
    await until(() => held, { holds: ({ size }) => size === 2 })
    const stopped = stop()
    release()
    await stopped
    const ended = await Promise.all(repositories.map(({ fullName }) => handledOf(fullName)))
    expect(ended.flat()).toHaveLength(2)
    const waiting = await publisher.inbox.take('next', 10)
    expect(
      waiting.flatMap(({ delivery }) => (delivery.event === 'push' ? delivery.repository?.name : [])),
    ).toHaveLength(3)
  })
})
