/** Entry of the thread that reads one large `remora.yaml`. */
import { asAppError } from '#domain/error.ts'
import { answerRequests } from '#platform/thread-entry.ts'
import type { SettingsAnswer, SettingsQuestion } from './read-repository-settings.ts'
import { repositorySettingsOf } from './repository-settings.ts'

answerRequests<SettingsQuestion, SettingsAnswer>(({ text, of }, begin) => {
  begin(0)
  try {
    return { kind: 'read', read: repositorySettingsOf(text, of) }
  } catch (error) {
    const { code, message } = asAppError(error, 'CONFIG_002')
    return { kind: 'faulty', code, message }
  }
})
