import { type BundleRequest, type FetchedBundle, readBundle } from "@coffer/client/internal/BundleClient"
import { connectTo } from "@coffer/client/internal/Connection"
import { credentialFor } from "@coffer/client/internal/ProgramCredential"
import { listSecrets } from "@coffer/client/internal/SecretCalls"
import { warnOfClearText } from "@coffer/client/internal/ServerUrl"
import { loadSettings } from "@coffer/client/internal/Settings"
import { BadFile } from "@coffer/domain/formats/Format"
import { fillTemplate, parseTemplate, type TemplatePart } from "@coffer/domain/formats/Template"
import type { ReferenceTarget } from "@coffer/domain/secrets/Reference"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { CannotDo, NotThere } from "../../base/Failures.js"
import { explainingMissingOf, placeGiven } from "../../grammar/Place.js"
import { maxKeysLength } from "../SecretSource.js"
import { readBytes, sourceOf } from "../../terminal/Bytes.js"
import { Version } from "../../base/Version.js"
import type { RenderOptions } from "./RenderOptions.js"

/** The largest template, in bytes. */
const maxTemplate = 1024 * 1024

/** A template whose placeholders all name their environment, with one request for each environment. */
export interface Rendering {
  readonly parts: ReadonlyArray<TemplatePart>
  readonly requests: ReadonlyArray<BundleRequest>
}

/** Reads the template. Its bytes are characters here, so that each is kept whatever its encoding. */
const readTemplate = Effect.fnUntraced(function* ({ delimiters, template }: RenderOptions) {
  const source = sourceOf(template)
  const tooLarge = new CannotDo({ message: `${source.name} is larger than 1 MiB; is it the right file?` })
  const bytes = yield* readBytes(source, maxTemplate, tooLarge)
  return yield* Either.mapLeft(
    parseTemplate(bytes.toString("latin1"), delimiters),
    (mistakes) => new BadFile({ file: source.name, mistakes })
  )
})

const targetsIn = (parts: ReadonlyArray<TemplatePart>): ReadonlyArray<ReferenceTarget> =>
  parts.filter((part) => typeof part !== "string")

const envOf = ({ env }: ReferenceTarget): string => env ?? ""

/** The keys to ask for: all of the environment if their names are too long for an address. */
const keysOf = (targets: ReadonlyArray<ReferenceTarget>): ReadonlyArray<string> => {
  const keys = [...new Set(targets.map(({ key }) => key))].sort()
  return keys.join(",").length > maxKeysLength ? [] : keys
}

/** Reads the template, and finds where its values are. */
export const openTemplate = Effect.fnUntraced(function* (options: RenderOptions) {
  const read = yield* readTemplate(options)
  const none: Rendering = { parts: read, requests: [] }
  if (targetsIn(read).length === 0) return none
  const settings = yield* loadSettings(yield* placeGiven(options))
  const base = yield* settings.projectPath
  // A template that names the environment of each secret needs no other.
  const isOwn = targetsIn(read).some(({ env }) => env === null)
  const own = isOwn ? (yield* settings.envPath).env_name : null
  const parts = read.map((part) => (typeof part === "string" ? part : { ...part, env: part.env ?? own }))
  const server = yield* settings.server
  yield* warnOfClearText(server)
  const version = yield* Version
  const requests = yield* Effect.forEach(
    Object.entries(Array.groupBy(targetsIn(parts), envOf)),
    ([env_name, targets]) => {
      const path = { ...base, env_name }
      return Effect.map(credentialFor(server, path, options.nonInteractive), (credential): BundleRequest => ({
        server,
        credential,
        version,
        path,
        keys: keysOf(targets)
      }))
    }
  )
  const rendering: Rendering = { parts, requests }
  return rendering
})

const nameOf = ({ path }: BundleRequest) => `${path.project_name}/${path.env_name}`

const lack = (request: BundleRequest, keys: ReadonlyArray<string>) => `${nameOf(request)} has no ${keys.join(", ")}`

const notThere = (lacking: ReadonlyArray<string>) =>
  new NotThere({ message: `${lacking.join("; ")}; coffer secret list shows the keys` })

/** The keys of a request that do not exist: the server names only the first. None if the caller may not list them. */
const absentKeys = ({ credential, keys, path, server, version }: BundleRequest) =>
  connectTo({ server, credential: Option.some(credential), program: "cli", version }).pipe(
    Effect.flatMap((exchange) => listSecrets(exchange, path)),
    Effect.scoped,
    Effect.map(({ data }) => {
      const existing = new Set<string>(data.map(({ key }) => key))
      return keys.filter((key) => !existing.has(key))
    }),
    Effect.orElseSucceed(() => [])
  )

const nothing: FetchedBundle = { etag: undefined, secrets: [] }

/** Reads each environment once. Fails with the names of all secrets that do not exist. */
export const fetchValues = Effect.fnUntraced(function* ({ requests }: Rendering, given: RenderOptions) {
  const lacking: Array<string> = []
  const fetched = yield* Effect.forEach(requests, (request) =>
    readBundle(request).pipe(
      Effect.catchTag("NotFound", (failure) =>
        Effect.flatMap(absentKeys(request), (keys) => {
          if (keys.length === 0) return Effect.fail(failure)
          lacking.push(lack(request, keys))
          return Effect.succeed(nothing)
        })
      ),
      explainingMissingOf(request, given)
    )
  )
  return lacking.length === 0 ? fetched : yield* notThere(lacking)
})

const valuesOf = ({ secrets }: FetchedBundle) =>
  new Map(secrets.map(({ key, value }) => [key, Redacted.value(value)] as const))

/** The output of a template. Fails with the names of all secrets that do not exist. */
export const render = Effect.fnUntraced(function* (
  { parts, requests }: Rendering,
  fetched: ReadonlyArray<FetchedBundle>
): Effect.fn.Return<Buffer, CannotDo | NotThere> {
  const values = new Map<string, ReadonlyMap<string, string>>(
    Array.zip(requests, fetched).map(([{ path }, bundle]) => [path.env_name, valuesOf(bundle)])
  )
  const filled = fillTemplate(parts, (target) => values.get(envOf(target))?.get(target.key))
  if (Either.isRight(filled)) {
    const chunks = filled.right.map(({ text, type }) => Buffer.from(text, type === "literal" ? "latin1" : "utf8"))
    return Buffer.concat(chunks)
  }
  const { missing, refused } = filled.left
  if (missing.length === 0) return yield* new CannotDo({ message: refused.join("; ") })
  const lacking = requests.flatMap((request) => {
    const keys = missing.filter((target) => envOf(target) === request.path.env_name).map(({ key }) => key)
    return keys.length === 0 ? [] : [lack(request, keys)]
  })
  return yield* notThere(lacking)
})
