import { plural } from '#domain/timeline/words.ts'
import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from '@tanstack/virtual-core'
import { useCallback, useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { ReviewRow } from '../../core/review-filter.ts'
import { ChangeCard } from './change-card.tsx'
import { keyOfRow, type ReviewScreen } from './review-screen.ts'

type ListProps = { screen: ReviewScreen; mayDecide: boolean }

/** The toolbar above the list stays in sight. */
const barHeight = 56
const gap = 14
const [headHeight, lineHeight, foldedHeight] = [120, 20, 54]

/** Shows the changes one after the other, in the page itself; only those that can be seen are drawn and highlighted. */
export function ChangeList({ screen, mayDecide }: ListProps) {
  const rows = screen.rows.value
  const box = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtual(screen, box)
  const goal = screen.goal.value
  useEffect(() => {
    const index = goal === undefined ? -1 : screen.rows.value.findIndex((row) => keyOfRow(row) === goal.key)
    if (index >= 0) virtualizer.scrollToIndex(index, { align: 'start' })
  }, [goal])
  const measure = useCallback((node: HTMLElement | null) => virtualizer.measureElement(node), [virtualizer])
  return (
    <div
      ref={box}
      class="changes"
      role="feed"
      aria-label="Changes"
      style={{ height: `${virtualizer.getTotalSize()}px` }}
    >
      {virtualizer.getVirtualItems().map(({ index, key, start }) => {
        const row = rows[index]
        return (
          <div
            key={String(key)}
            ref={measure}
            data-index={index}
            class="change-row"
            style={{ top: `${start - virtualizer.options.scrollMargin}px` }}
          >
            {row && <Row screen={screen} row={row} mayDecide={mayDecide} />}
          </div>
        )
      })}
    </div>
  )
}

function Row({ screen, row, mayDecide }: ListProps & { row: ReviewRow }) {
  if (row.kind === 'file') {
    return (
      <h2 class="mono">
        {row.path} <span class="quiet">{plural(row.ids.length, 'change')}</span>
      </h2>
    )
  }
  const set = screen.desk.sets.value.get(row.id)
  return set && <ChangeCard screen={screen} set={set} rowKey={keyOfRow(row)} path={row.path} mayDecide={mayDecide} />
}

function useVirtual(screen: ReviewScreen, box: { current: HTMLDivElement | null }): Virtualizer<Window, HTMLElement> {
  const [, draw] = useReducer((times: number) => times + 1, 0)
  const [margin, setMargin] = useState(0)
  const rows = screen.rows.value
  const isSplit = screen.isSplit.value
  // Another function has all rows measured anew.
  const getItemKey = useCallback(
    (index: number) => {
      const row = rows[index]
      return row === undefined ? index : keyOfRow(row)
    },
    [rows, isSplit],
  )
  const options = {
    count: rows.length,
    estimateSize: (index: number) => heightOf(screen, rows[index]),
    getItemKey,
    overscan: 2,
    scrollMargin: margin,
    scrollPaddingStart: barHeight,
    getScrollElement: () => window,
    scrollToFn: windowScroll,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    initialOffset: () => window.scrollY,
    onChange: () => draw(undefined),
  }
  const [virtualizer] = useState(() => new Virtualizer<Window, HTMLElement>(options))
  virtualizer.setOptions(options)
  // What is decided on grows by a line: what is read below it stays where it is.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = ({ end }, _delta, { scrollOffset, scrollDirection }) =>
    end <= (scrollOffset ?? 0) + barHeight + gap && scrollDirection !== 'backward'
  useEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  useEffect(() => {
    // What stands above the list may grow, and the page with it. To ask for the place in each drawing would cost a layout each time.
    const observer = new ResizeObserver(() =>
      setMargin(Math.round((box.current?.getBoundingClientRect().top ?? 0) + window.scrollY)),
    )
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [])
  return virtualizer
}

/** A line of a diff has about so many characters. */
const lineCharacters = 35

/** Guesses the height of a row that was not drawn yet. */
function heightOf({ desk, isSplit }: ReviewScreen, row: ReviewRow | undefined): number {
  const change = row?.kind === 'change' ? desk.sets.peek().get(row.id)?.change : undefined
  if (change === undefined) return foldedHeight
  const lines = Math.min(300, change.diff.length / lineCharacters)
  return headHeight + lineHeight * Math.max(8, isSplit.value ? lines * 0.7 : lines)
}
