import type { EnvName, SecretKey } from "@coffer/domain/Names"
import { signal } from "@preact/signals"
import { Effect, Redacted } from "effect"
import { call } from "../../client/Calls.js"
import type { ProjectPlace } from "../../staging/Sending.js"

/** A value that is shown. */
interface Shown {
  readonly env: EnvName
  readonly key: SecretKey
  readonly value: string
}

const shownMillis = 30_000

/** The one value that is shown; null: none. */
export const shown = signal<Shown | null>(null)

let timer: ReturnType<typeof setTimeout> | undefined

export const hide = (): void => {
  clearTimeout(timer)
  shown.value = null
}

/** Shows a value for 30 seconds, or until the page is hidden. */
export const show = (next: Shown): void => {
  hide()
  // The value may arrive after the page was hidden.
  if (document.hidden) return
  shown.value = next
  timer = setTimeout(hide, shownMillis)
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) hide()
})

/** Reads a value, or the text of a reference if `raw` is set. The audit log records it. */
export const readValue = ({ org, project }: ProjectPlace, env: EnvName, key: SecretKey, raw = false) =>
  Effect.map(
    call("secrets", (api) =>
      api.get({
        path: { org_name: org, project_name: project, env_name: env, key },
        urlParams: raw ? { raw: true } : {}
      })
    ),
    ({ value }) => value
  )

/** Why a value cannot be copied. */
class CannotCopy {
  readonly _tag = "CannotCopy"
  constructor(readonly message: string) {}
}

/** Copies a value without showing it. */
export const copyValue = (value: Redacted.Redacted) =>
  Effect.tryPromise({
    try: () => navigator.clipboard.writeText(Redacted.value(value)),
    catch: () =>
      new CannotCopy(
        isSecureContext
          ? "the browser did not allow the copy; press Copy again"
          : "browsers copy only on pages that are served over https"
      )
  })
