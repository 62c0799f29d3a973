import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { testLedger } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { type Installations, openInstallations } from './installations.ts'

let installations: Installations
const test = useOpened(testLedger)
beforeEach(() => {
  installations = openInstallations(test.redis, `${test.namespace}${randomUUID().slice(0, 8)}`)
})

const ofShop = { installationId: 7, projectId: 'shop', account: 'octocat', isSuspended: false }
const repository = { id: 1, owner: 'octocat', name: 'Hello' }

describe('installations', () => {
  it('finds a repository for the project of its installation alone, in whatever case it is written', async () => {
    await installations.note(ofShop)
    await installations.addRepositories(7, [repository])
    const found = { ...repository, installationId: 7, projectId: 'shop' }
    expect(await installations.findRepository('shop', repository)).toEqual(found)
    expect(await installations.findRepository('shop', { owner: 'OctoCat', name: 'hello' })).toEqual(found)
    expect(await installations.findRepository('other', repository)).toBeUndefined()
    expect(await installations.findRepository('shop', { owner: 'octocat', name: 'else' })).toBeUndefined()
  })

  it('finds nothing of an installation that is suspended, removed or has lost the repository', async () => {
    await installations.note(ofShop)
    await installations.addRepositories(7, [repository])
    const finds = async () => (await installations.findRepository('shop', repository)) !== undefined
    await installations.note({ ...ofShop, isSuspended: true })
    expect(await finds()).toBe(false)
    await installations.note(ofShop)
    expect(await finds()).toBe(true)
    await installations.removeRepositories([{ owner: 'Octocat', name: 'hello' }])
    expect(await finds()).toBe(false)
    await installations.addRepositories(7, [repository])
    await installations.remove(7)
    expect(await finds()).toBe(false)
    expect(await installations.list()).toEqual([])
    expect(await installations.listRepositories()).toEqual([])
  })

  it('keeps the project that the operator has given it, also when both write at the same time', async () => {
    await installations.note(ofShop)
    const notes = Array.from({ length: 50 }, (_, at) => installations.note({ ...ofShop, account: `name${at}` }))
    const [assigned] = await Promise.all([installations.assign(7, 'other'), ...notes])
    expect(assigned).toBe(true)
    expect(await installations.find(7)).toMatchObject({ projectId: 'other' })
    expect(await installations.note(ofShop)).toMatchObject({ projectId: 'other', account: 'octocat' })
    expect(await installations.assign(8, 'other')).toBe(false)
  })

  it('takes thousands of repositories at once', async () => {
    await installations.note(ofShop)
    const many = Array.from({ length: 2_001 }, (_, at) => ({ id: at + 1, owner: 'octocat', name: `r${at}` }))
    await installations.addRepositories(7, many)
    expect(await installations.listRepositories()).toHaveLength(many.length)
    await installations.removeRepositories(many)
    expect(await installations.listRepositories()).toEqual([])
  })
})
