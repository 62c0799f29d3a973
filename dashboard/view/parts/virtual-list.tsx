import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

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
  const { first, last, look } = useWindow(props, box)
  return (
    <div
      ref={box}
      class="virtual-list"
      role="list"
      aria-label={label}
      tabIndex={0}
      onScroll={look}
      onWheel={({ deltaY }) => deltaY < 0 && onScrolledUp?.()}
      onTouchMove={() => onScrolledUp?.()}
      onKeyDown={({ key }) => keysUp.has(key) && onScrolledUp?.()}
    >
      <div style={{ height: `${count * rowHeight}px`, position: 'relative' }}>
        {Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at).map((index) => (
          <div
            key={index}
            role="listitem"
            aria-setsize={count}
            aria-posinset={index + 1}
            class="virtual-row"
            style={{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  )
}

/** Rows beyond those that can be seen, on each side. */
const overscan = 10

/** Knows which rows can be seen. All rows have one height, so that a longer list costs nothing more. */
function useWindow(props: VirtualListProps, box: RefObject<HTMLDivElement | null>) {
  const { count, rowHeight, onShown, sticksToEnd, target } = props
  const [{ top, height }, setSeen] = useState({ top: 0, height: 0 })
  const look = () => {
    if (box.current !== null) setSeen({ top: box.current.scrollTop, height: box.current.clientHeight })
  }
  useLayoutEffect(() => {
    if (box.current === null) return undefined
    const resized = new ResizeObserver(look)
    resized.observe(box.current)
    return () => resized.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (sticksToEnd && box.current !== null) box.current.scrollTop = count * rowHeight
  }, [count, sticksToEnd, height])
  useLayoutEffect(() => {
    if (target !== undefined && box.current !== null)
      box.current.scrollTop = target.index * rowHeight - (box.current.clientHeight - rowHeight) / 2
  }, [target])
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan)
  const last = Math.min(count - 1, Math.ceil((top + height) / rowHeight) + overscan)
  useEffect(() => onShown?.(first, last), [first, last])
  return { first, last, look }
}
