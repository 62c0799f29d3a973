import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lockStack } from './running-stack.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

let dir = ''
useFreshFolder((path) => (dir = path))

/** A process that does nothing until `end` is called. */
function idleProcess() {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
  const exited = once(child, 'exit')
  const end = async () => {
    child.stdin.end()
    await exited
  }
  return { pid: child.pid ?? 0, end }
}

/** Wants the folder. Says whether it was got in the time in which another, for which nobody waits, is taken several times. */
async function wantFolder() {
  let isTaken = false
  const lock = lockStack(dir).then((held) => {
    isTaken = true
    return held
  })
  for (let time = 0; time < 5; time += 1) await (await lockStack(join(dir, 'redis'))).release()
  return { lock, wasTaken: isTaken }
}

const lockedBy = async () => JSON.parse(await readFile(join(dir, 'stack.lock'), 'utf8')).owner.pid
const lockOf = (owner: object, children: object[] = []) => JSON.stringify({ owner, children, isBrief: false })

describe('the lock of a data folder', () => {
  it('is refused while a living process has it, and free again after it', async () => {
    const lock = await lockStack(dir)
    const second = lockStack(dir)
    await expect(second).rejects.toThrow(`Process ${process.pid} already runs the services`)
    await expect(second).rejects.toMatchObject({ code: 'CONFIG_006' })
    await lock.release()
    await (await lockStack(dir)).release()
    expect(await readdir(dir)).toEqual(['.gitignore', 'stack-version'])
  })

  it('is taken over from a process that has ended, or whose id another process has now', async () => {
    const former = idleProcess()
    await former.end()
    await writeFile(join(dir, 'stack.lock'), lockOf({ pid: former.pid, startedAt: '1' }))
    await (await lockStack(dir)).release()
    await writeFile(join(dir, 'stack.lock'), lockOf({ pid: process.pid, startedAt: 'before the reboot' }))
    const lock = await lockStack(dir)
    expect(await lockedBy()).toBe(process.pid)
    await lock.release()
  })

  it('is taken over from a lock file nobody can read', async () => {
    await writeFile(join(dir, 'stack.lock'), 'half a li')
    const lock = await lockStack(dir)
    expect(await lockedBy()).toBe(process.pid)
    await lock.release()
  })

  it('waits for the processes a killed stack has left', async () => {
    const orphan = idleProcess()
    const lock = await lockStack(dir)
    await lock.addChildren([orphan.pid])
    const { children } = JSON.parse(await readFile(join(dir, 'stack.lock'), 'utf8'))
    await writeFile(join(dir, 'stack.lock'), lockOf({ pid: process.pid, startedAt: 'another life' }, children))

    const second = await wantFolder()
    expect(second.wasTaken).toBe(false)
    await orphan.end()
    await (await second.lock).release()
  })

  it('waits for a command that only looks into it', async () => {
    const brief = await lockStack(dir, { isBrief: true })
    const second = await wantFolder()
    expect(second.wasTaken).toBe(false)
    await brief.release()
    await (await second.lock).release()
  })
})
