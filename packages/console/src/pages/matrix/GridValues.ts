import { defined } from "@coffer/domain/base/Defined"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { call } from "../../client/Calls.js"
import { makeRevealed } from "../../kit/Revealed.js"
import type { ProjectPlace } from "../../staging/Writes.js"

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

export const { hide, show, shown } = makeRevealed<Shown>()

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
