import type { ComponentChildren } from 'preact'

/** Holds a table that may be wider than the page: it scrolls here, also by the keyboard. */
export function TableBox({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  )
}
