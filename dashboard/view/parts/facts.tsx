import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

/** Lists names and values; those without a value are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined || value === null || value === '' || value === false ? null : (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ),
      )}
    </dl>
  )
}
