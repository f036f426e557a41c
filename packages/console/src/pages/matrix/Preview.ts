import type { CompactMatrix } from "@coffer/domain/secrets/CompactMatrix"
import { matrixOf } from "@coffer/domain/secrets/MatrixOf"
import { nothingStaged } from "../../staging/Staged.js"
import { wallMillis } from "../../state/ServerTime.js"
import type { PlaceAt } from "../PageProps.js"
import { classOf, piecesOf } from "./CellLook.js"
import { chipWords } from "./Chips.js"
import { countRows, type Grid, gridOf, type GridRow } from "./Grid.js"
import { groupRows, isGroup, type ShownRow } from "./Groups.js"
import { rowHeight } from "./GridSize.js"
import { countIn, driftOf, groupCellOf, previewCount, rightsOf, type Track, tracksOf, widthsOf } from "./Tracks.js"

/** An element with a class, and with a role as `role=row` puts it. */
const element = (tag: string, look: string, ...content: ReadonlyArray<Node | string>): HTMLElement => {
  const made = document.createElement(tag)
  made.className = look
  made.append(...content)
  return made
}

const withRole = (role: string, made: HTMLElement): HTMLElement => {
  made.role = role
  return made
}

/** Keeps the room of what the page will show, such as a button that nothing can press yet. */
const unseen = (made: HTMLElement): HTMLElement => {
  made.style.visibility = "hidden"
  return made
}

const placed = (index: number, made: HTMLElement): HTMLElement => {
  made.style.transform = `translateY(${index * rowHeight}px)`
  return made
}

const note = (text: string) => element("span", "matrix-note", text)

const pick = () => {
  const box = document.createElement("input")
  box.type = "checkbox"
  box.disabled = true
  return box
}

const cellOf = (row: GridRow, track: Track, now: number): HTMLElement => {
  if (track.type === "group") {
    const { readable, stored } = groupCellOf(track, row)
    return element("div", "matrix-group", note(readable === 0 ? "·" : `${stored} of ${readable}`))
  }
  const cell = row.cells[track.index]
  if (cell === undefined) return element("div", "matrix-cell")
  const pieces = piecesOf(cell, track.column, now).map(([look, text]) => element("span", look, text))
  return element("div", classOf(cell, track.column), ...pieces)
}

const rowOf = (row: ShownRow, index: number, tracks: ReadonlyArray<Track>, now: number): HTMLElement => {
  const cells = tracks.map((track) =>
    withRole(
      "gridcell",
      isGroup(row) ? element("div", "matrix-cell", note(countIn(row.rows, track))) : cellOf(row, track, now)
    )
  )
  const head = isGroup(row)
    ? [
        element("span", "matrix-fold", "▾"),
        element("span", "key", row.prefix),
        " ",
        element("span", "quiet", row.rows.length.toLocaleString("en"))
      ]
    : [pick(), element("span", "key", row.key)]
  const made = element(
    "div",
    isGroup(row) ? "matrix-row matrix-line" : "matrix-row",
    withRole("rowheader", element("div", "matrix-key", ...head)),
    ...cells
  )
  return placed(index, withRole("row", made))
}

const headOf = (track: Track): HTMLElement => {
  if (track.type === "group") return element("div", "matrix-group", previewCount(track))
  const { name } = track
  const rights = rightsOf(track.column)
  const words = rights === null ? [] : [element("span", "quiet matrix-rights", rights)]
  const marks = driftOf(track.column) === null ? [] : [element("span", "badge warn", "drift")]
  const parts = [element("button", "plain", name), ...marks, ...words]
  return element("div", "matrix-env", element("span", "matrix-name", ...parts))
}

const gridElement = ({ columns, rows }: Grid, project: string): HTMLElement => {
  const tracks = tracksOf(columns, false)
  const shown = groupRows(rows, new Set())
  const now = wallMillis()
  const drawn = shown.slice(0, Math.ceil(innerHeight / rowHeight)).map((row, index) => rowOf(row, index, tracks, now))
  const count = element("span", "quiet", rows.length.toLocaleString("en"))
  const body = element("div", "matrix-body", ...drawn)
  body.style.height = `${shown.length * rowHeight}px`
  const line = element(
    "div",
    "matrix-row matrix-head",
    element("div", "matrix-key", pick(), "Key ", count),
    ...tracks.map(headOf)
  )
  const grid = withRole("grid", element("div", "matrix-grid", line, body))
  grid.ariaLabel = `Secrets of ${project}`
  const scroller = element("div", "matrix-scroller", grid)
  scroller.style.setProperty("--tracks", widthsOf(tracks))
  return scroller
}

const button = (look: string, ...content: ReadonlyArray<Node | string>) => element("button", look, ...content)

/** An icon's room. */
const icon = () => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  made.setAttribute("class", "icon")
  return made
}

/** The room of the toolbar, whose lines depend on its words. */
const toolbar = ({ columns, rows }: Grid): HTMLElement => {
  const counts = countRows(rows)
  const chips = chipWords.flatMap(([mark, words, isAlways]) => {
    const count = counts.get(mark) ?? 0
    return isAlways === true || count > 0 ? [`${words} ${count.toLocaleString("en")}`] : []
  })
  const readable = columns.filter(({ canRead }) => canRead)
  const names = readable.map(({ name }) => element("option", "", name))
  const compare = element("label", "matrix-base", "Compare with ", element("select", "", ...names))
  const strip = [...chips, "Deleted"].map((words) => button("matrix-chip", words))
  return unseen(
    element(
      "div",
      "matrix-toolbar",
      element("input", ""),
      element("div", "matrix-strip", ...strip, ...(readable.length < 2 ? [] : [compare])),
      button("plain dots", icon()),
      button("primary", "New key")
    )
  )
}

/** The room of the lines above the page, with the place. */
const frame = ({ org, project }: PlaceAt<"project">, page: HTMLElement): ReadonlyArray<HTMLElement> => {
  const crumb = (name: string) => [
    element("span", "crumb-separator", "/"),
    element("span", "crumb", name),
    unseen(button("plain crumb-menu", icon()))
  ]
  return [
    element(
      "header",
      "bar",
      element("span", "mark", "Coffer"),
      element("nav", "crumbs", ...crumb(org), ...crumb(project)),
      element("span", "space bar-space"),
      unseen(button("find", "Go to…")),
      unseen(element("div", "account", button("plain account-button", element("span", "disc"))))
    ),
    element("div", "content", element("nav", "tabs", unseen(element("span", "tab", icon(), "Matrix"))), page)
  ]
}

/** Whether the page shows what it is about, or why it cannot. */
const isShown = (): boolean => {
  const page = document.getElementById("page")
  return page !== null && page.childElementCount > 0 && page.querySelector(".loading") === null
}

/** Draws a matrix over the page, as the page will show it, until that does. Nothing in it can be pressed. */
export const drawPreview = (place: PlaceAt<"project">, sent: CompactMatrix, isFirstVisit: boolean): void => {
  const root = document.getElementById("console")
  const matrix = matrixOf(sent)
  if (root === null || root.childElementCount > 0 || matrix === undefined) return
  const grid = gridOf(matrix, nothingStaged, { areFolded: true })
  if (grid.rows.length === 0) return
  const main = element("div", "matrix-main", element("div", "", gridElement(grid, place.project)))
  const page = element("main", "", element("section", "matrix", toolbar(grid), main))
  const preview = element("div", isFirstVisit ? "shell early first" : "shell early", ...frame(place, page))
  preview.inert = true
  preview.ariaBusy = "true"
  document.body.append(preview)
  const watcher = new MutationObserver(() => {
    if (!isShown()) return
    watcher.disconnect()
    preview.remove()
  })
  watcher.observe(root, { childList: true, subtree: true })
}
