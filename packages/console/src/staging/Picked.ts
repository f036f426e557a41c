import type { SecretKey } from "@coffer/domain/base/Names"
import { signal } from "@preact/signals"
import type { ProjectPlace } from "./Writes.js"

interface Picked extends ProjectPlace {
  readonly keys: ReadonlyArray<SecretKey>
}

const picked = signal<Picked | null>(null)

/** Chooses keys on the page that promotes, which is opened next. */
export const pickForPromotion = ({ org, project }: ProjectPlace, keys: ReadonlyArray<SecretKey>): void => {
  picked.value = { org, project, keys }
}

/** The keys that were chosen for a project; null if none were. */
export const pickedKeys = ({ org, project }: ProjectPlace): ReadonlySet<SecretKey> | null => {
  const found = picked.peek()
  return found?.org === org && found.project === project ? new Set(found.keys) : null
}

export const forgetPicked = (): void => {
  picked.value = null
}
