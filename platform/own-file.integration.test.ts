import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { giveAway } from '#testing/this-machine.ts'
import { isOwnFolder, makeOwnFolder, readOwnFile } from './own-file.ts'

let dir = ''
let path = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-own-'))
  path = join(dir, 'file')
  await writeFile(path, 'mine', { mode: 0o644 })
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const rules = { maxBytes: 100 }
const refused = (why: string) => ({ kind: 'refused', why })

describe('a file of this user', () => {
  it('is read, also one that others can read, unless it is to be a secret', async () => {
    expect(readOwnFile(path, rules)).toEqual({ kind: 'text', text: 'mine' })
    expect(readOwnFile(path, { ...rules, isSecret: true })).toEqual(refused('may be read by others'))
    await chmod(path, 0o600)
    expect(readOwnFile(path, { ...rules, isSecret: true })).toEqual({ kind: 'text', text: 'mine' })
  })

  it('is not reached through a link', async () => {
    await symlink(path, join(dir, 'link'))
    expect(readOwnFile(join(dir, 'link'), rules)).toEqual(refused('is a link'))
  })

  it('is none when it is a folder or not there, and when it is a pipe nobody writes to, without waiting', async () => {
    execFileSync('mkfifo', [join(dir, 'pipe')])
    await mkdir(join(dir, 'folder'))
    for (const name of ['pipe', 'folder', 'nothing']) {
      expect(readOwnFile(join(dir, name), rules), name).toEqual({ kind: 'absent' })
    }
  })

  it('is no larger than was allowed', () => {
    expect(readOwnFile(path, { maxBytes: 4 })).toEqual({ kind: 'text', text: 'mine' })
    expect(readOwnFile(path, { maxBytes: 3 })).toEqual(refused('has more than 3 bytes'))
  })

  it('is not one of another user', async (test) => {
    const refusal = await giveAway(path)
    if (refusal !== undefined) return test.skip(refusal)
    expect(readOwnFile(path, rules)).toEqual(refused('belongs to another user'))
  })

  it('may be written by the group of this user alone, by no other and not by everybody', async (test) => {
    await chmod(path, 0o666)
    expect(readOwnFile(path, rules)).toEqual(refused('may be written by others'))
    const uid = process.getuid?.() ?? 0
    const given = await chown(path, uid, uid).catch((error: unknown) => String(error))
    if (given !== undefined) return test.skip(`this user has no group of its own: ${given}`)
    await chmod(path, 0o664)
    expect(readOwnFile(path, rules)).toEqual({ kind: 'text', text: 'mine' })
    const shared = await chown(path, uid, uid + 1).catch((error: unknown) => String(error))
    if (shared !== undefined) return test.skip(`no file can be given to another group here: ${shared}`)
    await chmod(path, 0o664)
    expect(readOwnFile(path, rules)).toEqual(refused('may be written by others'))
  })
})

describe('a folder of this user', () => {
  it('is made closed to others, and is one also when they may look into it', async () => {
    const made = join(dir, 'a', 'b')
    expect(await makeOwnFolder(made)).toBe(true)
    await chmod(made, 0o755)
    expect(await isOwnFolder(made)).toBe(true)
  })

  it('is none when it is a link, a file, not there, or others may write it', async () => {
    await symlink(dir, join(dir, 'link'))
    for (const name of ['link', 'file', 'nothing']) expect(await isOwnFolder(join(dir, name)), name).toBe(false)
    await chmod(dir, 0o777)
    expect(await isOwnFolder(dir)).toBe(false)
    expect(await makeOwnFolder(dir)).toBe(false)
  })

  it('is not one of another user', async (test) => {
    await mkdir(join(dir, 'other'))
    const refusal = await giveAway(join(dir, 'other'))
    if (refusal !== undefined) return test.skip(refusal)
    expect(await isOwnFolder(join(dir, 'other'))).toBe(false)
  })
})
