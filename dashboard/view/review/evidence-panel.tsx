import { plural } from '#domain/timeline/words.ts'
import { checkWords, type Evidence, stateOfCheck, type CheckState } from '../../core/review-words.ts'

const signs = { fails: '✗', not_checked: '?', holds: '✓', not_applicable: '–' } as const
const tones = { fails: 'bad', not_checked: 'warn', holds: 'good', not_applicable: 'quiet' } as const
const order: readonly CheckState[] = ['fails', 'not_checked', 'holds', 'not_applicable']

type EvidenceProps = { evidence: readonly Evidence[]; isOpen: boolean; onToggle: () => void }

/** Shows what was proved of a change: what fails first; opened, what was compared, and with which tool. */
export function EvidencePanel({ evidence, isOpen, onToggle }: EvidenceProps) {
  const sorted = evidence.toSorted(
    (left, right) => order.indexOf(stateOfCheck(left)) - order.indexOf(stateOfCheck(right)),
  )
  const isOneFile = new Set(evidence.map(({ path }) => path)).size < 2
  const holding = sorted.filter((proof) => stateOfCheck(proof) === 'holds')
  const shown = isOpen ? sorted : sorted.filter((proof) => ['fails', 'not_checked'].includes(stateOfCheck(proof)))
  return (
    <div class="evidence" role="group" aria-label="Evidence">
      <ul class="stack tight">
        {shown.map((proof, at) => (
          <Check key={at} proof={proof} isOpen={isOpen} path={isOneFile ? undefined : proof.path} />
        ))}
        {!isOpen && holding.length > 0 && (
          <li>
            <span class="good" aria-hidden="true">
              ✓
            </span>
            <span title="What was proved of the change by programs, not by a model">
              {plural(holding.length, 'check')} {holding.length === 1 ? 'holds' : 'hold'}
            </span>
          </li>
        )}
        {evidence.length === 0 && <li class="warn">Nothing was checked</li>}
      </ul>
      {evidence.length > 0 && (
        <button class="plain link" aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? 'Less' : 'What was checked'}
        </button>
      )}
    </div>
  )
}

type CheckProps = { proof: Evidence; isOpen: boolean; path: string | undefined }

function Check({ proof, isOpen, path }: CheckProps) {
  const state = stateOfCheck(proof)
  const { detail } = proof
  const isTold = detail !== undefined && (isOpen || state !== 'holds')
  return (
    <li>
      <span class={tones[state]} aria-hidden="true">
        {signs[state]}
      </span>
      <span>
        <span class={state === 'fails' ? 'bad' : state === 'not_applicable' ? 'quiet' : undefined}>
          {checkWords(proof)}
        </span>
        {state === 'not_checked' && <span class="warn"> not checked</span>}
        {state === 'not_applicable' && <span class="quiet"> (says nothing about such a file)</span>}
        {isTold && <span class="detail">{detail}</span>}
        {isOpen && <span class="detail quiet">{[path, comparedIn(proof)].filter(Boolean).join(' · ')}</span>}
      </span>
    </li>
  )
}

/** Names what the figures of a check count. */
const figures: Readonly<Record<string, string>> = {
  parses: 'syntax errors',
  lint_before_after: 'findings',
  comments_kept: 'missing comments',
  line_length: 'too long lines',
}

function comparedIn({ check, before, after, tool, version, duration_ms: ms }: Evidence): string {
  const noun = figures[check]
  const numbers =
    before === undefined || after === undefined || noun === undefined
      ? undefined
      : `${before} ${noun} before, ${after} after`
  const took = ms === undefined ? undefined : `in ${(ms / 1000).toFixed(1)} s`
  return [numbers, [tool, version, took].filter(Boolean).join(' ')].filter(Boolean).join(' · ')
}
