import type { ComponentChildren } from 'preact'

type TableBoxProps = {
  label: string
  /** Are the heads of the columns, each with its classes. */
  columns: readonly (readonly [name: string, classes?: string])[]
  children: ComponentChildren
}

/** Holds a table that may be wider than the page: it scrolls here, also by the keyboard. Its children are the rows. */
export function TableBox({ label, columns, children }: TableBoxProps) {
  return (
    <div class="table-box" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(([name, classes]) => (
              <th key={name} scope="col" class={classes}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
