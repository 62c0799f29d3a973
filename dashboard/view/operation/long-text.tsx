import { figure } from '#domain/figure.ts'
import { useState } from 'preact/hooks'
import { beginningOf } from '../../core/transcript-turns.ts'

const folded = { lines: 40, characters: 3_000 } as const

/** Shows a text as it is; of a long one the beginning, until the whole is wanted. */
export function LongText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false)
  const beginning = beginningOf(text, folded)
  return (
    <div class="long-text">
      <pre>{isWhole ? text : (beginning ?? text)}</pre>
      {beginning !== undefined && (
        <button class="plain" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Fold' : `Show all ${figure(text.length)} characters`}
        </button>
      )}
    </div>
  )
}
