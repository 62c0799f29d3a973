import type { ComponentChildren } from 'preact'

export type Tab = { name: string; label: ComponentChildren; href: string }

/** Shows links to the parts of a page. */
export function Tabs({ label, tabs, current }: { label: string; tabs: readonly Tab[]; current: string }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <a key={tab.name} href={tab.href} aria-current={tab.name === current ? 'page' : undefined}>
          {tab.label}
        </a>
      ))}
    </nav>
  )
}
