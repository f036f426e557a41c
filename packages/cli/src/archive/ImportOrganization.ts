/** Implementation of `coffer org import`. It is loaded late, with age, because few commands need it. */
import { loadSettings } from "@coffer/client/internal/Settings"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { CannotDo } from "../base/Failures.js"
import { connect } from "../grammar/Command.js"
import { readBytes, sourceOf } from "../terminal/Bytes.js"
import { plural } from "../terminal/Plural.js"
import { note, printLine } from "../terminal/Print.js"
import { withProgress } from "../terminal/Progress.js"
import { printView, type View } from "../terminal/View.js"
import { decrypt } from "./Age.js"
import { maxArchiveBytes } from "./Contents.js"
import { readIdentities, readPassphrase } from "./ArchiveKeys.js"
import { planOf } from "./Plan.js"
import { sendOrganization } from "./SendOrganization.js"
import { recordsOf } from "./Summary.js"
import { type Archive, unpack } from "./Unpack.js"

export interface ImportOptions {
  readonly serverUrl: string | undefined
  readonly nonInteractive: boolean
  readonly json: boolean
  readonly file: string
  readonly identity: string | undefined
  readonly passphraseFile: string | undefined
  readonly as: OrgName | undefined
  readonly plan: boolean
}

/** Encryption and headers add less than this. */
const overhead = 64 * 1024 * 1024

/** Reads, decrypts and checks an archive. */
const readArchive = Effect.fnUntraced(function* ({ file, identity, passphraseFile }: ImportOptions) {
  const key = identity === undefined ? yield* readPassphrase(passphraseFile ?? "") : yield* readIdentities(identity)
  const source = sourceOf(file)
  const tooLarge = new CannotDo({
    message: `${source.name} is larger than any archive: check that it is the right file`
  })
  return yield* withProgress((progress) =>
    Effect.gen(function* () {
      yield* progress.step(0, `reading ${source.name}`)
      const bytes = yield* readBytes(source, maxArchiveBytes + overhead, tooLarge)
      yield* progress.step(1 / 3, "decrypting")
      const tar = yield* decrypt(key, source.name, bytes)
      yield* progress.step(2 / 3, "checking")
      return yield* unpack(source.name, tar)
    })
  )
})

type Sent = Effect.Effect.Success<ReturnType<typeof sendOrganization>>

/** Describes the records that were created and the steps that are left to do. */
const doneOf = (
  { counts, left_out, organization: { name } }: Sent,
  { manifest, organization: { members } }: Archive
): View => {
  const at = `--org ${name}`
  const { accounts, webhooks } = counts
  const steps = [
    ...left_out.map((each) => `left out: ${each}`),
    ...(members.length > 0 ? [`${plural(members.length, "member")} of the archive can log in; nobody was mailed`] : []),
    ...(accounts > 0
      ? [
          `${plural(accounts, "service account")} without a key; make one each: coffer service-account rotate NAME ${at}`
        ]
      : []),
    ...(webhooks > 0
      ? [
          `${plural(webhooks, "webhook is", "webhooks are")} disabled, with a new signing key; get one by: coffer webhook rotate ID ${at}; then: coffer webhook edit ID --enable ${at}`
        ]
      : [])
  ]
  const text = Effect.zipRight(
    printLine(`organization ${name} imported and verified: ${recordsOf(counts, manifest.versions)}`),
    Effect.forEach(steps, note, { discard: true })
  )
  return { json: { name, counts, left_out }, text }
}

/** Imports an organization from an archive, or says what would be made of it. */
export const importOrganization = Effect.fnUntraced(function* (options: ImportOptions) {
  const { as, json, nonInteractive, plan, serverUrl } = options
  if (plan) {
    const archive = yield* readArchive(options)
    return yield* printView(planOf(archive, as ?? archive.manifest.organization), json)
  }
  // Before the archive is read: who is not logged in should not wait for that.
  const server = yield* (yield* loadSettings({ serverUrl })).server
  const { call } = yield* connect(server, undefined, nonInteractive)
  const archive = yield* readArchive(options)
  const name = as ?? archive.manifest.organization
  const mayAsk = !json && !nonInteractive
  const sent = yield* withProgress((progress) => sendOrganization(call, archive, name, { progress, mayAsk }))
  yield* printView(doneOf(sent, archive), json)
})
