import { openAsBlob } from 'node:fs'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { peakMemory, type PeakMemory } from '../../tests/e2e/peak-memory.ts'
import { openPrograms } from '../../tests/e2e/program.ts'
import { startServices, startStores } from '../../tests/e2e/services.ts'
import { redisVersion } from '../ledger/redis-figures.ts'

export type ArchiveFigures = {
  redisVersion: string
  bytes: number
  status: string
  seconds: number
  /** Before the archive was sent, and when its run had ended. */
  atRest: PeakMemory[]
  atEnd: PeakMemory[]
}

const Accepted = z.object({ run_id: z.string() })

/** One run of a hundred operations on the archive at `path`, over services and stores that were started for it. */
export async function measureArchive(path: string): Promise<ArchiveFigures> {
  const programs = openPrograms()
  const stores = await startStores()
  try {
    const { api } = await startServices(programs, stores)
    const atRest = await peakMemory()
    const archive = await openAsBlob(path)
    const form = new FormData()
    form.set('request', JSON.stringify({ agents: ['lint'], limits: { operations: 100 } }))
    form.set('archive', archive, 'archive')
    const startedAt = performance.now()
    const answer = await api.ask('/v1/runs', { method: 'POST', body: form })
    const { status } = await api.follow(Accepted.parse(await answer.json()).run_id)
    const seconds = (performance.now() - startedAt) / 1000
    return {
      redisVersion: await versionOf(stores.redisUrl),
      bytes: archive.size,
      status,
      seconds,
      atRest,
      atEnd: await peakMemory(),
    }
  } finally {
    await programs.end()
    await stores.stop()
  }
}

async function versionOf(redisUrl: string): Promise<string> {
  const redis = new Redis(redisUrl)
  try {
    return await redisVersion(redis)
  } finally {
    redis.disconnect()
  }
}
