/** A cell of the grid: a row, and a column of which the first is the key itself. */
export interface Position {
  readonly row: number
  readonly column: number
}

interface Size {
  readonly rows: number
  readonly columns: number
  /** Rows on a page. */
  readonly page: number
}

interface Pressed {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

const within = (value: number, count: number): number => Math.max(0, Math.min(count - 1, value))

/** Where a key leads in the grid (WAI-ARIA, "Grid pattern"); null if it does not move. */
export const move = (
  { column, row }: Position,
  { altKey, ctrlKey, key, metaKey }: Pressed,
  size: Size
): Position | null => {
  const far = ctrlKey || metaKey
  const to = (nextRow: number, nextColumn: number): Position => ({
    row: within(nextRow, size.rows),
    column: within(nextColumn, size.columns)
  })
  if (altKey) return null
  switch (key) {
    case "ArrowDown":
      return to(far ? size.rows : row + 1, column)
    case "ArrowUp":
      return to(far ? 0 : row - 1, column)
    case "ArrowRight":
      return to(row, far ? size.columns : column + 1)
    case "ArrowLeft":
      return to(row, far ? 0 : column - 1)
    case "PageDown":
      return to(row + size.page, column)
    case "PageUp":
      return to(row - size.page, column)
    case "Home":
      return to(far ? 0 : row, 0)
    case "End":
      return to(far ? size.rows : row, size.columns)
    default:
      return null
  }
}

/** The rows to draw: those in view and a few around them. */
export const rowsInView = (
  top: number,
  height: number,
  rowHeight: number,
  rows: number
): { readonly first: number; readonly last: number } => {
  const around = 6
  const first = Math.max(0, Math.floor(top / rowHeight) - around)
  return { first, last: Math.min(rows, Math.ceil((top + height) / rowHeight) + around) }
}
