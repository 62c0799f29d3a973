import { hasCode } from '#domain/error.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { delay } from '#platform/clock.ts'

type AttemptCommands = Pick<Ledger, 'append' | 'release' | 'settle' | 'suspend'>

/** Is shorter than what is left of any lease: one is renewed three times before it runs out. */
const pauseMs = 500

/**
 * `ledger`, whose commands about running attempts are sent again while Redis refuses them, as one does that is full. One that is away
 * lets them wait anyway: so no attempt is lost for a refusal that is over before its lease. Each command may be sent twice. When
 * `closing` is aborted they fail with STORE_001.
 */
export function patientCommands<Given extends AttemptCommands>(ledger: Given, closing: AbortSignal): Given {
  const patient =
    <Args extends unknown[], Answer>(command: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      for (;;) {
        try {
          return await command(...args)
        } catch (error) {
          if (!hasCode(error, 'STORE_001') || closing.aborted) throw error
          await delay(pauseMs, closing).catch(() => Promise.reject(error))
        }
      }
    }
  const commands: AttemptCommands = {
    append: patient(ledger.append),
    release: patient(ledger.release),
    settle: patient(ledger.settle),
    suspend: patient(ledger.suspend),
  }
  return { ...ledger, ...commands }
}
