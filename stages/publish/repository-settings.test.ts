import { describe, expect, it } from 'vitest'
import { operatorSettings } from '#settings/github-settings.ts'
import { environmentOf } from '#settings/settings-table.ts'
import { readEnv } from '#platform/env.ts'
import { repositorySettingsOf } from './repository-settings.ts'

const operator = operatorSettings(readEnv(environmentOf('publisher'), { REMORA_GITHUB_MAX_LINES: '5' }))
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
