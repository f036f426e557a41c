import type { EnvPlace } from "./Access.js"
import type { Action } from "@coffer/domain/access/Permissions"
import type { Touched } from "./gate/Passage.js"

/** Notes what a requested change alters: if it is another thing when it is made, the request is outdated. */
export const touch = ({ passage }: EnvPlace<Action>, touched: ReadonlyArray<Touched>): void => {
  if (passage?.kind === "requested") passage.touched.push(...touched)
}

/** Notes the revision that a requested change makes. */
export const noteRevision = ({ passage }: EnvPlace<Action>, revision: number): void => {
  if (passage?.kind === "requested") passage.revision = revision
}
