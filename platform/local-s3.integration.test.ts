import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { until } from '#testing/until.ts'
import { startLocalS3, type LocalS3 } from './local-s3.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-local-s3-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

const openStore = ({ accessKeyId, secretAccessKey, endpoint, bucket, region }: LocalS3) =>
  openS3ObjectStore({ endpoint, bucket, region, credentials: { accessKeyId, secretAccessKey } })

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('the embedded S3', () => {
  it('keeps its objects over a restart, and is gone after stop', async () => {
    const first = await startLocalS3({ dir: join(dir, 'kept') })
    const store = openStore(first)
    await store.put('a/b', 'still here')
    store.close()
    await first.stop()
    await first.stop()
    expect(isAlive(first.pid)).toBe(false)
    const second = await startLocalS3({ dir: join(dir, 'kept') })
    const again = openStore(second)
    expect(Buffer.from(await again.get('a/b')).toString()).toBe('still here')
    again.close()
    await second.stop()
  })

  it('serves nobody who does not sign with its keys', async () => {
    const server = await startLocalS3({ dir: join(dir, 'locked') })
    const store = openStore(server)
    await store.put('a/b', 'kept')
    for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS']) {
      const body = method === 'PUT' || method === 'POST' ? { body: 'changed' } : {}
      for (const path of ['', '/', '/a/b', '/a/b?X-Amz-Algorithm=AWS4-HMAC-SHA256', '?list-type=2']) {
        const { status } = await fetch(`${server.endpoint}/${server.bucket}${path}`, { method, ...body })
        expect(status, `${method} ${path}`).toBe(403)
      }
    }
    const guesses = [{ secretAccessKey: 'a guess' }, { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }]
    for (const guess of guesses) {
      const other = openStore({ ...server, ...guess })
      await expect(other.get('a/b')).rejects.toMatchObject({ code: 'STORE_002' })
      await expect(other.put('a/b', 'changed')).rejects.toMatchObject({ code: 'STORE_002' })
      other.close()
    }
    expect(Buffer.from(await store.get('a/b')).toString()).toBe('kept')
    store.close()
    await server.stop()
  })

  it('never shows half of an object that is being written again', async () => {
    const server = await startLocalS3({ dir: join(dir, 'rewritten') })
    const store = openStore(server)
    const bytes = Buffer.alloc(300_000, 'x')
    await store.put('same', bytes)
    const writes = Promise.all(Array.from({ length: 40 }, () => store.put('same', bytes)))
    const sizes = await Promise.all(Array.from({ length: 80 }, async () => (await store.get('same')).length))
    await writes
    store.close()
    await server.stop()
    expect(new Set(sizes)).toEqual(new Set([bytes.length]))
  })

  it('ends when its signal is aborted', async () => {
    const abort = new AbortController()
    const server = await startLocalS3({ dir: join(dir, 'aborted'), signal: abort.signal })
    abort.abort()
    await until(() => !isAlive(server.pid))
    await expect(server.stop()).resolves.toBeUndefined()
  })

  it('dies with the process that started it, even when that is killed', async () => {
    const parentFile = join(dir, 'parent.ts')
    const source = new URL('local-s3.ts', import.meta.url).href
    await writeFile(
      parentFile,
      `import { startLocalS3 } from '${source}'
       const { pid } = await startLocalS3({ dir: ${JSON.stringify(join(dir, 'orphan'))} })
       process.send?.({ pid })
       await new Promise(() => {})`,
    )
    const parent = fork(parentFile, { stdio: 'ignore' })
    const [message]: unknown[] = await once(parent, 'message')
    const { pid } = z.object({ pid: z.int() }).parse(message)
    expect(isAlive(pid)).toBe(true)
    parent.kill('SIGKILL')
    await until(() => !isAlive(pid))
  })
})
