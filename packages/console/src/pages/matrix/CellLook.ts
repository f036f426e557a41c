/** The look of cells without the library of the page: they are drawn before it has come, too. */
import { dueStateAt } from "@coffer/domain/secrets/DueState"
import { exactly } from "../../kit/Exactly.js"
import { ageOf } from "./Age.js"
import type { Column, GridCell } from "./Grid.js"

/** A part of a cell: its class, its text, and what is shown when the pointer is over it. */
export type Piece = readonly [look: string, text: string, title?: string]

/** The masked value. */
export const masked = "matrix-dots"

const dots: Piece = [masked, "••••••"]

export const classOf = ({ differs, isRequired, staged, stored }: GridCell, { canRead }: Column): string => {
  const names = ["matrix-cell"]
  if (!canRead) names.push("off")
  else if (stored === null) names.push(isRequired ? "missing required" : "missing")
  if (differs) names.push("differs")
  if (staged !== null) names.push(staged.type === "delete" ? "removed" : "staged")
  return names.join(" ")
}

/** The content of a cell, from left to right. */
export const piecesOf = (
  { differs, equal, isOld, staged, stored }: GridCell,
  { canRead }: Column,
  now: number
): ReadonlyArray<Piece> => {
  if (!canRead) return [["quiet", "·"]]
  if (staged?.type === "set") return [dots, ["matrix-note", stored === null ? "new" : "edited"]]
  if (stored === null) return [["matrix-none", "missing"]]
  const { due_at, kind, updated_at, updated_by, version } = stored
  const due = dueStateAt(due_at, now)
  const pieces: ReadonlyArray<Piece | false> = [
    differs && ["matrix-mark", "≠"],
    dots,
    equal !== null && ["matrix-equal", `= ${equal}`],
    kind === "reference" && ["matrix-kind", "ref"],
    due !== null && [`matrix-due due-${due}`, due],
    [
      isOld ? "matrix-note old" : "matrix-note",
      staged?.type === "delete" ? "delete" : `v${version} · ${ageOf(updated_at, now)}`,
      `Version ${version}, ${exactly(updated_at)}, by ${updated_by}`
    ]
  ]
  return pieces.filter((piece) => piece !== false)
}
