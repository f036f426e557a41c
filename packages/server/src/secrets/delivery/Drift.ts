import type { TargetKeyState } from "@coffer/domain/secrets/Target"
import { type TargetStateKind, targetStates } from "@coffer/domain/secrets/TargetState"
import { wasChanged } from "./Plan.js"
import type { OwnRow } from "./Repo.js"
import type { Prepared } from "./Sending.js"
import type { Told } from "./TargetKind.js"

const stateOf = (own: OwnRow, told: Told | undefined, digest: (told: Told) => string | null): TargetStateKind => {
  if (told === undefined) return own.digest === null ? "unknown" : "missing there"
  if (own.digest === null) return "unknown"
  const found = digest(told)
  if (found !== null) return found === own.digest ? "in step" : "changed there"
  if (told.stamp === undefined || own.stamp === null) return "unknown"
  return wasChanged(told, own) ? "changed there" : "in step"
}

/** Compares the keys that this server wrote with those that the platform has: by their values or, without them, by their stamps. */
export const driftOf = ({ digestOf, listed, own }: Pick<Prepared, "digestOf" | "listed" | "own">) => {
  const keys: ReadonlyArray<TargetKeyState> = own.map((row) => ({
    name: row.name,
    key: row.secret_key,
    state: stateOf(row, listed.keys.get(row.name), ({ value }) =>
      value === undefined ? null : digestOf(row.name, value)
    )
  }))
  const state = targetStates.find((one) => keys.some((key) => key.state === one)) ?? "in step"
  return { keys, state }
}
