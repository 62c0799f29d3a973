import { describe, expect, it } from 'vitest'
import { type RepositorySettings, repositorySettingsOf } from './repository-settings.ts'

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

describe('the remora.yaml of a repository', () => {
  it('says what the operator leaves to it, and is refused with the line of each fault', () => {
    const { settings } = repositorySettingsOf('github:\n  allow_paths: [AGENTS.md]\n  max_files: 7\n  poll_s: 9\n', of)
    expect(settings).toEqual({ ...operator, allowPaths: ['AGENTS.md'], maxFiles: 7 })
    expect(() => repositorySettingsOf('github:\n  agent: lint\n', of)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_004',
        message: expect.stringMatching(/^remora\.yaml of ada\/shop:2: .*github\.agent/),
      }),
    )
  })

  it('is refused unread where it is larger than a stranger may keep the publisher busy with', () => {
    const large = '# a comment\n'.repeat(2_000)
    expect(() => repositorySettingsOf(large, of)).toThrow(
      expect.objectContaining({ code: 'CONFIG_002', message: 'remora.yaml of ada/shop is larger than 16384 bytes' }),
    )
  })
})
