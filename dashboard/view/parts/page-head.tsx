import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Shows the one `h1` of a page with what can be done there, and names the document after it. It takes the focus when somebody has come here from another page. */
export function PageHead({ title, children }: { title: string; children?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (document.activeElement?.id === 'content') heading.current?.focus({ preventScroll: true })
  }, [])
  useEffect(() => void (document.title = `${title} · Remora`), [title])
  return (
    <div class="page-head">
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  )
}
