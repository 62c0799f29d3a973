import { useMemo } from 'preact/hooks'
import { parseDiff } from '#domain/read-diff.ts'
import { verdictOf } from '../../core/review-fold.ts'
import { type CardProps, decideOne, startRejecting, toggle, toggleViewed, undo } from './review-screen.ts'

const states = { pending: undefined, accepted: 'good', rejected: 'bad' } as const

type HeadProps = CardProps & { isViewed: boolean; isOpen: boolean }

/** Says what a change is, and how it is decided. It stays in sight while its diff is read. */
export function CardHead({ screen, set, path, mayDecide, isViewed, isOpen }: HeadProps) {
  const { change } = set
  const id = change.change_set_id
  const files = useMemo(() => parseDiff(change.diff), [change.diff])
  const shown = files.filter((file) => path === undefined || file.path === path)
  const lines = (kind: 'added' | 'removed') => shown.reduce((sum, file) => sum + file[kind], 0)
  const verdict = verdictOf(set)
  const Title = path === undefined ? 'h2' : 'h3' // below that of the file
  const isFile = change.qualified_name === change.path
  const rules = change.rules.length > 0 ? ` (${change.rules.join(', ')})` : ''
  return (
    <header class="change-head">
      <button
        class="plain quiet"
        aria-expanded={isOpen}
        aria-label={isOpen ? 'Fold' : 'Unfold'}
        onClick={() => toggle(screen.turned, id)}
      >
        {isOpen ? '▾' : '▸'}
      </button>
      <Title class="change-name grow">
        <span class="quiet">{change.agent}</span> {path === undefined && <span class="mono">{change.path}</span>}{' '}
        <b class="mono">{isFile ? '' : change.qualified_name}</b>
        <span class="mono">{rules}</span>
      </Title>
      <span class="id">
        <span class="good">+{lines('added')}</span> <span class="bad">−{lines('removed')}</span>
      </span>
      <label class="check quiet">
        <input type="checkbox" checked={isViewed} onChange={() => toggleViewed(screen, id)} /> Viewed
      </label>
      <span class="badge" data-state={states[verdict]}>
        {verdict}
      </span>
      {mayDecide && (
        <span class="row decide">
          <button class={verdict === 'pending' ? 'unseen' : undefined} onClick={() => undo(screen, id)}>
            Undo
          </button>
          <button aria-pressed={verdict === 'accepted'} onClick={() => decideOne(screen, id, 'accept')}>
            Accept
          </button>
          <button aria-pressed={verdict === 'rejected'} onClick={() => startRejecting(screen, id)}>
            Reject
          </button>
        </span>
      )}
    </header>
  )
}
