import { AppError, type ErrorCode } from '#domain/error.ts'
import { openThreadPool } from '#platform/thread-pool.ts'
import { maxYamlBytes } from '#platform/yaml-source.ts'
import { type ReadSettings, repositorySettingsOf, type SettingsOwner } from './repository-settings.ts'

/** The worst known text of this size takes some 60 ms of one core; a larger one is read in a thread of its own. */
const maxHereBytes = 4 * 1024

export type SettingsQuestion = { text: string; of: SettingsOwner }
export type SettingsAnswer = { kind: 'read'; read: ReadSettings } | { kind: 'faulty'; code: ErrorCode; message: string }

/** The same as `repositorySettingsOf`, while whoever else is served here need not wait. CONFIG_002 for what cannot be read in time. */
export async function readRepositorySettings(
  text: string | undefined,
  of: SettingsOwner,
  { limitMs = 10_000 }: { limitMs?: number } = {},
): Promise<ReadSettings> {
  const bytes = Buffer.byteLength(text ?? '')
  if (text === undefined || bytes <= maxHereBytes || bytes > maxYamlBytes) return repositorySettingsOf(text, of)
  const entry = new URL('./settings-thread.ts', import.meta.url)
  const limits = { threads: 1, limitMs, memoryMb: 256 }
  const pool = openThreadPool<SettingsQuestion, SettingsAnswer>({ entry, name: 'the reader of settings', ...limits })
  try {
    const answer = await pool.ask({ text, of })
    if (answer.kind === 'lost')
      throw new AppError('CONFIG_002', `remora.yaml of ${of.name} cannot be read: ${answer.why}`)
    if (answer.report.kind === 'faulty') throw new AppError(answer.report.code, answer.report.message)
    return answer.report.read
  } finally {
    await pool.close()
  }
}
