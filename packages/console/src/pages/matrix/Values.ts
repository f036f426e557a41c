import { defined } from "@coffer/domain/Defined"
import type { EnvName, SecretKey } from "@coffer/domain/Names"
import { effect, signal } from "@preact/signals"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { call } from "../../client/Calls.js"
import { start } from "../../client/Run.js"
import type { ProjectPlace } from "../../staging/Writes.js"
import { asked } from "../../state/Login.js"
import { me, onEndElsewhere } from "../../state/Session.js"

/** A value that is shown. */
interface Shown {
  readonly env: EnvName
  readonly key: SecretKey
  readonly value: string
  /** Its version, if it was chosen; else it is what a read leads to. */
  readonly version?: number
  /** The value that it is compared with, if it is. */
  readonly before?: string
}

const shownMillis = 30_000

/** How often the session is checked while a value is shown: it may have ended elsewhere. */
const checkMillis = 3_000

/** The one value that is shown; null: none. */
export const shown = signal<Shown | null>(null)

let timer: ReturnType<typeof setTimeout> | undefined
let checks: ReturnType<typeof setInterval> | undefined

export const hide = (): void => {
  clearTimeout(timer)
  clearInterval(checks)
  shown.value = null
}

/** A session that has ended makes `call` ask for a login, which hides the value. */
const checkSession = () => {
  start(
    call("auth", (api) => api.me()),
    (outcome) => {
      if (outcome !== null && "value" in outcome && outcome.value.id !== me.peek()?.id) hide()
    }
  )
}

/** Shows a value for 30 seconds, or until the page is hidden or the session ends. */
export const show = (next: Shown): void => {
  hide()
  // The value may arrive after the page was hidden.
  if (document.hidden) return
  shown.value = next
  timer = setTimeout(hide, shownMillis)
  checks = setInterval(checkSession, checkMillis)
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) hide()
})

effect(() => {
  if (asked.value !== null) hide()
})

onEndElsewhere(hide)

/** Reads a value, or the text of a reference if `raw` is set; of the current version or a given one. The audit log records it. */
export const readValue = (
  { org, project }: ProjectPlace,
  env: EnvName,
  key: SecretKey,
  raw = false,
  version?: number
) =>
  Effect.map(
    call("secrets", (api) =>
      api.get({
        path: { org_name: org, project_name: project, env_name: env, key },
        urlParams: { ...(raw && { raw: true as const }), ...defined({ version }) }
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
