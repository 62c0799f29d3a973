import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'

type VirtualListProps = {
  count: number
  /** Is the height of a row in pixels: all have the same. */
  rowHeight: number
  label: string
  row: (index: number) => ComponentChildren
  /** Is told which rows are shown. */
  onShown?: (first: number, last: number) => void
  /** Keeps the end in view while rows are added. */
  sticksToEnd?: boolean
  /** Is called when a person scrolls up. */
  onScrolledUp?: () => void
  /** Is scrolled to when it is another one. */
  target?: { index: number } | undefined
}

const keysUp: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home'])

/** Shows a list of any length: only the rows that can be seen are in the page. */
export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, label, row, onScrolledUp } = props
  const box = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer(props, box)
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
        {virtualizer.getVirtualItems().map(({ index, start }) => (
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

type List = Virtualizer<HTMLDivElement, HTMLDivElement>

function useVirtualizer(props: VirtualListProps, box: RefObject<HTMLDivElement | null>): List {
  const { count, rowHeight, onShown, sticksToEnd, target } = props
  const [, draw] = useReducer((times: number) => times + 1, 0)
  const options = {
    count,
    estimateSize: () => rowHeight,
    overscan: 10,
    getScrollElement: () => box.current,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined),
  }
  const [virtualizer] = useState<List>(() => new Virtualizer(options))
  virtualizer.setOptions(options)
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
  return virtualizer
}
