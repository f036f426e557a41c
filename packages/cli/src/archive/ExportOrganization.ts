/** Implementation of `coffer org export`. It is loaded late, with age, because few commands need it. */
import type { ExportId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import type { OrganizationExport } from "@coffer/domain/archive/Export"
import * as Effect from "effect/Effect"
import { momentText } from "../base/Moments.js"
import { Waits } from "../base/Failures.js"
import type { Call } from "../grammar/Command.js"
import { note } from "../terminal/Print.js"
import { withProgress } from "../terminal/Progress.js"
import { doneView, type View } from "../terminal/View.js"
import { encryptionFor } from "./Age.js"
import { readPassphrase } from "./ArchiveKeys.js"
import { openArchive, writeArchive } from "./ArchiveFile.js"
import { pack } from "./Pack.js"
import { readOrganization } from "./ReadOrganization.js"
import { recordsOf } from "./Summary.js"

export interface ExportOptions {
  readonly toAge: ReadonlyArray<string>
  readonly passphraseFile: string | undefined
  readonly versions: boolean
  readonly id: ExportId | undefined
  readonly force: boolean
  readonly out: string
}

/** Asks for an export, or looks at one that was asked for. Fails if it waits for another owner. */
const permission = Effect.fnUntraced(function* (call: Call, org_name: OrgName, { id, versions }: ExportOptions) {
  const found: OrganizationExport =
    id === undefined
      ? yield* call("exports", (api) => api.create({ path: { org_name }, payload: { versions } }))
      : yield* call("exports", (api) => api.get({ path: { org_name, export_id: id } }))
  if (found.state === "ready") return found
  return yield* new Waits({
    message: `nothing was exported yet: ${org_name} has a protected environment, and export ${found.id} waits until another owner approves it, at most until ${momentText(found.expires_at)}; another owner runs: coffer request approve ${found.id}; then run the same command with --id ${found.id}`
  })
})

/** Exports an organization into an encrypted archive. */
export const exportOrganization = Effect.fnUntraced(function* (call: Call, org: OrgName, options: ExportOptions) {
  const { force, out, passphraseFile, toAge } = options
  const key =
    passphraseFile === undefined
      ? ({ type: "recipients", recipients: toAge } as const)
      : yield* readPassphrase(passphraseFile)
  const encryption = yield* encryptionFor(key)
  const target = yield* openArchive(out, force)
  const granted = yield* permission(call, org, options)
  const counts = yield* withProgress((progress) =>
    Effect.gen(function* () {
      const whole = yield* readOrganization(call, granted, org, progress)
      yield* progress.step(1, "encrypting")
      yield* writeArchive(target, encryption(yield* pack(granted, whole)))
      return whole.counts
    })
  ).pipe(
    Effect.onError(() =>
      note(`until ${momentText(granted.expires_at)}, the same command continues with --id ${granted.id}`)
    )
  )
  // The export on the server is no longer needed. It expires by itself if this call fails.
  yield* Effect.ignore(call("exports", (api) => api.end({ path: { org_name: org, export_id: granted.id } })))
  const sentence = `organization ${org} exported: ${recordsOf(counts, granted.versions)}`
  if (out !== "-") return doneView(`${sentence}, encrypted in ${out}`, { id: granted.id, file: out, counts })
  const view: View = { json: undefined, text: note(sentence) }
  return view
})
