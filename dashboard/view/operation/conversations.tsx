import { useState } from 'preact/hooks'
import type { OperationView } from '#schemas/operation-schema.ts'
import type { TranscriptView } from '#schemas/transcript-schema.ts'
import { Choice } from '../parts/choice.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { usePage } from '../page-context.ts'
import { Conversation } from './conversation.tsx'

/** A conversation that can be shown: of this operation's last attempt, of an earlier one, or of the same work in another generation. */
type Choosable = { operation: OperationView; attempt: number | undefined; words: string }

const mostGenerations = 10

/** Shows the conversation, and beside it another one of the same work: an earlier attempt, or another generation. */
export function Conversations({ operation }: { operation: OperationView }) {
  const [attempts, setAttempts] = useState<readonly number[]>([])
  const [beside, setBeside] = useState('')
  const others = useOtherGenerations(operation)
  const last = attempts.at(-1)
  const choosable: readonly Choosable[] = [
    ...others.map((other) => ({ operation: other, attempt: undefined, words: `generation ${other.generation}` })),
    ...attempts
      .filter((attempt) => attempt !== last)
      .map((attempt) => ({ operation, attempt, words: `attempt ${attempt}` })),
  ]
  const chosen = choosable.find(({ words }) => words === beside)
  return (
    <section class="stack" aria-label="Conversation">
      <div class="row">
        <h2>Conversation</h2>
        {choosable.length > 0 && (
          <Choice
            label="Beside it"
            value={beside}
            options={[['', 'Compare with …'], ...choosable.map(({ words }) => words)]}
            onChange={setBeside}
          />
        )}
      </div>
      <div class={chosen === undefined ? 'conversations' : 'conversations two'}>
        {chosen && (
          <div>
            <p>
              <b>{chosen.words}</b>
            </p>
            <Conversation key={chosen.words} operation={chosen.operation} attempt={chosen.attempt} />
          </div>
        )}
        <div>
          {chosen && (
            <p>
              <b>{last === undefined ? 'this one' : `generation ${operation.generation}, attempt ${last}`}</b>
            </p>
          )}
          <Conversation
            operation={operation}
            attempt={undefined}
            onAttempts={(transcript: TranscriptView) => setAttempts(transcript.attempts)}
          />
        </div>
      </div>
    </section>
  )
}

/** Finds the operations that have done the same work before, and do it since. */
function useOtherGenerations({
  run_id: runId,
  operation_id: id,
  repeats,
  superseded_by: next,
}: OperationView): readonly OperationView[] {
  const { connection } = usePage()
  const { value = [] } = useLoaded(`generations ${id} ${next}`, async (signal) => {
    const found: OperationView[] = []
    let wanted = repeats ?? next
    while (wanted !== null && found.length < mostGenerations) {
      const operation = await connection.json<OperationView>(`/v1/runs/${runId}/operations/${wanted}`, { signal })
      if (operation.operation_id !== id) found.push(operation)
      wanted = operation.superseded_by
      if (wanted === id) wanted = next
    }
    return found
  })
  return value
}
