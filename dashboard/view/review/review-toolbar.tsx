import { figure } from '#domain/figure.ts'
import { plural } from '#domain/timeline/words.ts'
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { pause } from '#client/timers.ts'
import type { ReviewFilter } from '../../core/review-filter.ts'
import type { Verdict } from '../../core/review-fold.ts'
import { usePage } from '../page-context.ts'
import { Choice } from '../parts/controls.tsx'
import { type ReviewScreen, setFilter } from './review-screen.ts'

const verdicts: readonly Verdict[] = ['pending', 'accepted', 'rejected']
const proofs: readonly (readonly [NonNullable<ReviewFilter['evidence']>, string])[] = [
  ['passed', 'all checks hold'],
  ['failed', 'a check fails'],
  ['unchecked', 'not checked in full'],
  ['left_out', 'left out of the patch'],
]

type ToolbarProps = { screen: ReviewScreen; search: RefObject<HTMLInputElement | null> }

/** Chooses which changes are shown, and how. It stays in sight. */
export function ReviewToolbar({ screen, search }: ToolbarProps) {
  const { filter, shown } = screen
  const isFiltered = Object.values(filter.value).some((one) => one !== undefined)
  return (
    <div class="toolbar review-bar" role="search" aria-label="Which changes">
      <ReviewCounts screen={screen} />
      <WordField screen={screen} search={search} />
      <Choices screen={screen} />
      {isFiltered && (
        <button class="plain" onClick={() => setFilter(screen, {})}>
          {plural(shown.value.length, 'change')} shown · all
        </button>
      )}
      <LayoutButtons screen={screen} />
    </div>
  )
}

/** A list of thousands is searched when somebody rests, not with each letter. */
const restMs = 120

function WordField({ screen, search }: ToolbarProps) {
  const { path = '' } = screen.filter.value
  const [text, setText] = useState(path)
  useEffect(() => setText(path), [path])
  useEffect(() => {
    const typing = new AbortController()
    const choose = async () => {
      await pause(restMs, typing.signal)
      setFilter(screen, { ...screen.filter.value, path: text || undefined })
    }
    if (text !== path) choose().catch(() => {}) // something more was typed
    return () => typing.abort()
  }, [text])
  return (
    <input
      ref={search}
      type="search"
      aria-label="Path or name"
      placeholder="Path or name  /"
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur()
      }}
    />
  )
}

/** Chooses by what the changes have in common. */
function Choices({ screen }: { screen: ReviewScreen }) {
  const { agent, evidence, verdict } = screen.filter.value
  const agents = [...new Set([...screen.desk.sets.value.values()].map(({ change }) => change.agent))].toSorted()
  const choose = (filter: ReviewFilter) => {
    setFilter(screen, { ...screen.filter.value, ...filter })
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur() // keys are for the changes again
  }
  return (
    <>
      <Choice
        label="Agent"
        value={agent ?? ''}
        options={[['', 'Agent: any'], ...agents]}
        onChange={(name) => choose({ agent: name || undefined })}
      />
      <Choice
        label="Evidence"
        value={evidence ?? ''}
        options={[['', 'Evidence: any'], ...proofs]}
        onChange={(value) => choose({ evidence: proofs.find(([name]) => name === value)?.[0] })}
      />
      <Choice
        label="Verdict"
        value={verdict ?? ''}
        options={[['', 'Verdict: any'], ...verdicts]}
        onChange={(value) => choose({ verdict: verdicts.find((name) => name === value) })}
      />
    </>
  )
}

function LayoutButtons({ screen }: { screen: ReviewScreen }) {
  const { isByFile, isSplit } = screen
  return (
    <span class="row push">
      <button aria-pressed={isByFile.value} onClick={() => (isByFile.value = !isByFile.value)}>
        By file
      </button>
      <button class="wide" aria-pressed={isSplit.value} onClick={() => (isSplit.value = !isSplit.value)}>
        Split
      </button>
      <button onClick={() => (screen.dialog.value = { kind: 'keys' })}>
        Keys <kbd>?</kbd>
      </button>
    </span>
  )
}

/** Counts what was decided, of all that the run has. */
function ReviewCounts({ screen: { desk, counts } }: { screen: ReviewScreen }) {
  const { all, pending, accepted, rejected } = counts.value
  const { isAway } = usePage()
  const isReading = desk.list.value.kind === 'reading'
  return (
    <p class="review-counts" role="status">
      <b>{plural(all, 'change')}</b>
      {isReading ? ' so far' : ''}: {figure(pending)} pending, <span class="good">{figure(accepted)} accepted</span>,{' '}
      <span class="bad">{figure(rejected)} rejected</span>
      {isAway.value && <span class="warn"> · not connected: decisions of others are not shown</span>}
    </p>
  )
}
