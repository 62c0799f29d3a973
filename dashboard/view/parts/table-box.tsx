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

type DataTableProps = Omit<TableBoxProps, 'children'> & { rows: readonly (readonly ComponentChildren[])[] }

/** Shows rows of one cell for each column, with the classes of it. */
export function DataTable({ rows, ...box }: DataTableProps) {
  return (
    <TableBox {...box}>
      {rows.map((cells, at) => (
        <tr key={at}>
          {cells.map((cell, column) => (
            <td key={column} class={box.columns[column]?.[1]}>
              {cell}
            </td>
          ))}
        </tr>
      ))}
    </TableBox>
  )
}
