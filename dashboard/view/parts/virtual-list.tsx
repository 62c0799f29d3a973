import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'

type VirtualListProps = {
  count: number
  /** The height of a row in pixels: all have the same. */
  rowHeight: number
  label: string
  row: (index: number) => ComponentChildren
  /** Is told which rows are shown. */
  onShown?: (first: number, last: number) => void
  /** Keeps the end in view while rows are added. */
  sticksToEnd?: boolean
  /** Is called when a person scrolls up. */
  onScrolledUp?: () => void
  /** Another target is scrolled to. */
  target?: { index: number } | undefined
}

const keysUp: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home'])

/** Shows a list of any length: only the rows that can be seen are in the page. */
export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, label, row, onShown, sticksToEnd, onScrolledUp, target } = props
  const box = useRef<HTMLDivElement>(null)
  const [, draw] = useReducer((times: number) => times + 1, 0)
  const [virtualizer] = useState(
    () => new Virtualizer<HTMLDivElement, HTMLDivElement>({ ...optionsOf(count), onChange: () => draw(undefined) }),
  )
  function optionsOf(rows: number) {
    return {
      count: rows,
      estimateSize: () => rowHeight,
      overscan: 10,
      getScrollElement: () => box.current,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
    }
  }
  virtualizer.setOptions({ ...optionsOf(count), onChange: () => draw(undefined) })
  useEffect(() => virtualizer._didMount(), [virtualizer])
  useEffect(() => virtualizer._willUpdate())
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1]
  useEffect(() => onShown?.(first, last), [first, last])
  useEffect(() => {
    if (sticksToEnd && count > 0) virtualizer.scrollToIndex(count - 1)
  }, [count, sticksToEnd])
  useEffect(() => {
    if (target !== undefined) virtualizer.scrollToIndex(target.index, { align: 'center' })
  }, [target])
  return (
    <div
      ref={box}
      class="virtual-list"
      role="list"
      aria-label={label}
      tabIndex={0}
      onWheel={({ deltaY }) => deltaY < 0 && onScrolledUp?.()}
      onTouchMove={() => onScrolledUp?.()}
      onKeyDown={({ key }) => keysUp.has(key) && onScrolledUp?.()}
    >
      <div style={{ height: `${virtualizer.getTotalSize()}px`, position: 'relative' }}>
        {items.map(({ index, start }) => (
          <div
            key={index}
            role="listitem"
            aria-setsize={count}
            aria-posinset={index + 1}
            class="virtual-row"
            style={{ transform: `translateY(${start}px)`, height: `${rowHeight}px` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  )
}
