import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findRunningStack, publishAccess } from './running-stack.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

const access = {
  url: 'http://127.0.0.1:8420',
  token: 'not for others',
  redisUrl: 'redis://127.0.0.1:6379',
  objectsUrl: 'file:///data/objects',
}

let dir = ''
useFreshFolder((path) => (dir = path))

describe('the access to a running stack', () => {
  it('can be read only by its user, until it is removed', async () => {
    const withdraw = await publishAccess(dir, access)
    expect(await findRunningStack(dir)).toEqual(access)
    const [file = ''] = await readdir(dir)
    expect((await stat(join(dir, file))).mode & 0o777).toBe(0o600)
    await withdraw()
    expect(await findRunningStack(dir)).toBeUndefined()
    expect(await readdir(dir)).toEqual([])
  })

  it('does not count when its process has ended, and is replaced by the next', async () => {
    await publishAccess(dir, access)
    const path = join(dir, 'stack-access.json')
    const left = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...left, owner: { ...left.owner, startedAt: 'before the reboot' } }))
    expect(await findRunningStack(dir)).toBeUndefined()
    await publishAccess(dir, { ...access, url: 'http://127.0.0.1:8421' })
    expect(await findRunningStack(dir)).toMatchObject({ url: 'http://127.0.0.1:8421' })
  })

  it('does not count as a checkout would bring it: readable by others, or of a process whose start nobody knew', async () => {
    await publishAccess(dir, access)
    const path = join(dir, 'stack-access.json')
    await chmod(path, 0o644)
    expect(await findRunningStack(dir)).toBeUndefined()
    await chmod(path, 0o600)
    expect(await findRunningStack(dir)).toEqual(access)
    const left = JSON.parse(await readFile(path, 'utf8'))
    for (const startedAt of ['', '1', left.owner.startedAt.split(' ')[0]]) {
      await writeFile(path, JSON.stringify({ ...left, owner: { pid: process.pid, startedAt } }))
      expect(await findRunningStack(dir)).toBeUndefined()
    }
  })

  it.each(['', 'half a li', '{}'])('does not count when its file holds %j', async (text) => {
    await writeFile(join(dir, 'stack-access.json'), text)
    expect(await findRunningStack(dir)).toBeUndefined()
  })
})
