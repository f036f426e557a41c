import { DecryptionFailed } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { mapInSlices, pacing } from "../../base/EventLoop.js"
import { type Binding, openEither, type Sealed } from "../../keys/Envelope.js"
import { Keyring } from "../../keys/Keyring.js"
import { sizeOf } from "../stored/Versions.js"
import { bindingIn } from "./ImportedVersions.js"
import { type VersionRow, versionsAfter } from "./ExportRepo.js"
import { type ImportedPlace, importRepo, type ImportRow } from "./ImportRepo.js"

const rowsAtOnce = 200

const isSealed = (row: VersionRow): row is VersionRow & Sealed => row.ciphertext !== null && row.wrapped_key !== null

/**
 * Makes the function that decrypts every value of a hidden organization, page by page and without a transaction. Fails with
 * DecryptionFailed for one that was altered: the tag of a value authenticates it together with its place.
 */
export const makeImportedValues = Effect.gen(function* () {
  const imports = yield* importRepo
  const versions = yield* versionsAfter
  const keyring = yield* Keyring

  const isWhole = (binding: Binding, row: VersionRow): boolean =>
    row.newest === 1 &&
    (row.destroyed_at !== null ||
      (isSealed(row) &&
        Either.match(openEither(keyring, binding, row), {
          onLeft: () => false,
          onRight: (value) => sizeOf(value) === row.value_bytes
        })))

  const verifyPlace = Effect.fnUntraced(function* ({ org_id }: ImportRow, place: ImportedPlace) {
    for (let after = { key: "", version: 0 }; ;) {
      const rows = yield* versions({ envId: place.env_id, ...after, limit: rowsAtOnce })
      const whole = yield* mapInSlices(rows, (row) => isWhole(bindingIn(org_id, place, row, row.version), row))
      const altered = rows[whole.indexOf(false)]
      if (altered !== undefined) {
        const { key, version } = altered
        return yield* new DecryptionFailed({
          message: `version ${version} of ${key} in ${place.project}/${place.env} does not authenticate: it was altered`
        })
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < rowsAtOnce) return
      after = { key: last.key, version: last.version }
    }
  })

  return Effect.fnUntraced(function* (row: ImportRow) {
    const pace = pacing()
    for (let after = { project: "", env: "" }; ;) {
      const places = yield* imports.places({ orgId: row.org_id, ...after, limit: rowsAtOnce })
      for (const place of places) {
        if (place.secret_count > 0) yield* verifyPlace(row, place)
        yield* pace
      }
      const last = places.at(-1)
      if (last === undefined || places.length < rowsAtOnce) return
      after = { project: last.project, env: last.env }
    }
  })
})
