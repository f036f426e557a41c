import { readHeaders, refuseHeaders } from "@coffer/client/internal/ClientHeaders"
import { readPrivate, type PrivateFileError } from "@coffer/client/internal/PrivateFile"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { allowEnvKey, helpersKey, leasesKey, serviceFileName } from "@coffer/client/internal/ServiceFileKeys"
import { sessionPath } from "@coffer/client/internal/SessionFile"
import type { MissingSettings, SettingName, Settings } from "@coffer/client/internal/Settings"
import type { BadSetting } from "@coffer/client/internal/Variables"
import { fileTrust } from "@coffer/client/internal/TrustedFiles"
import { trustedPath } from "@coffer/client/internal/TrustedOrigins"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Version } from "../../base/Version.js"
import { allowanceProblem } from "../../run/FileAllowance.js"
import { failed, type Finding, ok, warning } from "./Finding.js"

/** The versions of the client and of Node. */
export const checkClient = Effect.map(Version, (version) =>
  ok("client", `coffer ${version} on Node ${process.version}`)
)

/** Whether a file that must be private is. */
const checkFile = (check: string, path: Effect.Effect<string, PrivateFileError>) =>
  Effect.gen(function* () {
    const file = yield* path
    return Option.match(yield* readPrivate(file), {
      onNone: () => ok(check, `${file} does not exist`),
      onSome: () => ok(check, `${file} can be read by you alone`)
    })
  }).pipe(Effect.catchAll((failure) => Effect.succeed(failed(check, failure))))

export const checkFiles = Effect.all([checkFile("session file", sessionPath), checkFile("trusted file", trustedPath)])

/** Returns the part of a file besides the place. It counts only while the file is trusted. */
const trustedPart = ({ allowEnv, helpers, leases }: Settings["files"]) => {
  if (allowEnv !== undefined) {
    const { file, names: keys } = allowEnv
    return { file, what: `${allowEnvKey}: ${keys.join(", ")}`, problem: { name: file.name, keys } }
  }
  if (helpers !== undefined) {
    const { file, rules } = helpers
    const keys = rules.map(({ key }) => key)
    return { file, what: `${helpersKey}: ${keys.join(", ")}`, problem: { name: file.name, keys } }
  }
  if (leases === undefined) return undefined
  const { file, roles } = leases
  const keys = [...roles.keys()]
  return { file, what: `${leasesKey}: ${keys.join(", ")}`, problem: { name: file.name, keys } }
}

/** Which `service.yml` applies, and whether what needs trust does. */
export const checkServiceFile = ({ files }: Settings): Effect.Effect<Finding> => {
  const check = serviceFileName
  const { nearest } = files
  const misnamed = files.misnamed()
  if (misnamed !== undefined) {
    return Effect.succeed(warning(check, `${misnamed} is not read: rename it to ${serviceFileName}`))
  }
  if (nearest === undefined) return Effect.succeed(ok(check, "no service.yml found"))
  const part = trustedPart(files)
  if (part === undefined) return Effect.succeed(ok(check, nearest.path))
  const { file, problem, what } = part
  return fileTrust(file).pipe(
    Effect.map((trust) =>
      trust === "trusted"
        ? ok(check, `${file.path}, which is trusted with ${what}`)
        : warning(check, allowanceProblem({ ...problem, trust }))
    ),
    Effect.catchAll((failure) => Effect.succeed(failed(check, failure)))
  )
}

/** Each setting with where it comes from. */
export const checkSettings = (settings: Settings): Effect.Effect<ReadonlyArray<Finding>> => {
  const server = Effect.match(settings.server, {
    onFailure: (failure) => failed("server_url", failure),
    // Not the text: a wrong one may hold a password.
    onSuccess: ({ base }) => ok("server_url", `${base} (${settings.findServer().where})`)
  })
  const read: Readonly<Record<SettingName, Effect.Effect<string, BadSetting | MissingSettings>>> = settings
  const name = (key: SettingName) =>
    Effect.match(read[key], {
      onFailure: (failure) =>
        failure._tag === "MissingSettings" ? warning(key, failure.message) : failed(key, failure),
      onSuccess: (text) => ok(key, `${text} (${settings.find(key)?.where ?? "the default"})`)
    })
  return Effect.all([server, name("org"), name("project"), name("env")])
}

/** Which headers go to the server for what is before it. Their values are secrets. */
export const checkHeaders = (server: ServerUrl) =>
  Effect.gen(function* () {
    const headers = yield* readHeaders
    if (headers.length === 0) return ok("headers", "not set")
    yield* refuseHeaders(server)
    return ok("headers", headers.map(({ name }) => `${name}: ***`).join(", "))
  }).pipe(
    Effect.catchTag("UntrustedServer", ({ message }) => Effect.succeed(warning("headers", message))),
    Effect.catchAll((failure) => Effect.succeed(failed("headers", failure)))
  )
