import { describe, expect, it } from 'vitest'
import { maxYamlBytes } from '#platform/yaml-source.ts'
import { readRepositorySettings } from './read-repository-settings.ts'
import type { RepositorySettings } from './repository-settings.ts'

const operator: RepositorySettings = {
  agents: ['lint'],
  branches: [],
  pullRequests: false,
  forks: false,
  ignoreAuthors: [],
  supersede: 'finish',
  perAgent: false,
  draft: false,
  labels: [],
  reviewers: [],
  schedule: [],
  timezone: 'UTC',
  maxOpenPulls: 3,
  maxPullsPerDay: 10,
  maxFiles: 100,
  maxLines: 2_000,
  allowWorkflows: false,
  allowPaths: [],
}
const of = { name: 'ada/shop', operator }
const hostile = 'a: !x '.repeat(maxYamlBytes / 6)

/** How often this thread could turn to something else while `work` was done. */
async function turnsDuring(work: () => unknown): Promise<number> {
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isDone = true
  return turns
}

describe('a large remora.yaml', { timeout: 60_000 }, () => {
  it('has the same settings and the same faults as a small one', async () => {
    const filled = (text: string) => `${text}${'# a comment\n'.repeat(1_000)}`
    const { settings } = await readRepositorySettings(filled('github:\n  allow_paths: [AGENTS.md]\n'), of)
    expect(settings).toEqual({ ...operator, allowPaths: ['AGENTS.md'] })
    const wrong = {
      code: 'CONFIG_004',
      message: expect.stringMatching(/^remora\.yaml of ada\/shop:2: .*github\.agent/),
    }
    await expect(readRepositorySettings(filled('github:\n  agent: lint\n'), of)).rejects.toMatchObject(wrong)
  })

  it('of a stranger keeps nobody else waiting while it is read', async () => {
    const reading = () => expect(readRepositorySettings(hostile, of)).rejects.toThrow(/remora\.yaml/)
    expect(await turnsDuring(reading)).toBeGreaterThan(20)
  })

  it('that cannot be read in time is refused with its code', async () => {
    const reading = readRepositorySettings(hostile, of, { limitMs: 1 })
    await expect(reading).rejects.toMatchObject({
      code: 'CONFIG_002',
      message: expect.stringContaining('cannot be read'),
    })
  })
})
