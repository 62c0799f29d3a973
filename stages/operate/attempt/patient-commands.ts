import { hasCode } from '#domain/error.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { delay } from '#platform/clock.ts'

type AttemptCommands = Pick<Ledger, 'append' | 'awaitTool' | 'isAllowed' | 'release' | 'settle' | 'suspend'>

/** Is shorter than what is left of any lease: one is renewed three times before it runs out. */
const pauseMs = 500

/** Sends commands about running attempts again while Redis refuses them, as one does that is full; until `closing` is aborted (STORE_001). */
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
    awaitTool: patient(ledger.awaitTool),
    isAllowed: patient(ledger.isAllowed),
    release: patient(ledger.release),
    settle: patient(ledger.settle),
    suspend: patient(ledger.suspend),
  }
  return { ...ledger, ...commands }
}
