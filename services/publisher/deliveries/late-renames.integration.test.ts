import { describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../published-run.fixture.ts'

describe.skipIf(lacks('git'))('a webhook of a repository that has another name by now', () => {
  const at = usePublisher()
  const idOf = async (name: string) => {
    const { owner } = at.repository
    return (await at.publisher.host().handling.installations.repositoryNamed({ owner, name }))?.id
  }

  it('that comes late takes the name from no other one', async () => {
    const { webhooks } = at.publisher.github
    const { id, name } = at.repository
    await at.publisher.takeAll()
    webhooks.hold()
    await at.repository.humanCommit('main', { 'a.py': 'a = 2\n' })
    at.repository.rename(`${name}-old`)
    const other = await at.publisher.addRepository(name)
    await other.humanCommit('main', { 'a.py': 'a = 3\n' })
    webhooks.release((waiting) => waiting.toReversed())
    await at.publisher.takeAll()
    expect(await idOf(name)).toBe(other.id)
    expect(await idOf(`${name}-old`)).toBe(id)
  })

  it('and then the former one again, keeps it', async () => {
    const { webhooks } = at.publisher.github
    const { id, name } = at.repository
    await at.publisher.takeAll()
    webhooks.hold()
    at.repository.rename(`${name}-old`)
    at.repository.rename(name)
    webhooks.release((waiting) => waiting.toReversed())
    await at.publisher.takeAll()
    expect(await idOf(name)).toBe(id)
    expect(await idOf(`${name}-old`)).toBeUndefined()
  })

  it('in time is known by its new name alone', async () => {
    const { id, name } = at.repository
    await at.repository.humanCommit('main', { 'a.py': 'a = 2\n' })
    await at.publisher.takeAll()
    at.repository.rename(`${name}-new`)
    await at.publisher.takeAll()
    expect([await idOf(name), await idOf(`${name}-new`)]).toEqual([undefined, id])
  })

  it('or was taken from the app, does not bring it back', async () => {
    const { github, takeAll, host } = at.publisher
    await github.addRepository({ owner: 'beta', name: 'shop', files: { 'a.py': 'a = 1\n' } })
    const installation = github.install({ account: 'beta', repositories: [] })
    await takeAll()
    github.webhooks.hold()
    installation.addRepositories('shop')
    installation.removeRepositories('shop')
    github.webhooks.release((waiting) => waiting.toReversed())
    await takeAll()
    const { installations } = host().handling
    expect(await installations.repositoryNamed({ owner: 'beta', name: 'shop' })).toBeUndefined()
    installation.addRepositories('shop')
    await takeAll()
    expect(await installations.repositoryNamed({ owner: 'beta', name: 'shop' })).toMatchObject({ name: 'shop' })
  })
})
