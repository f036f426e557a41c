import { withMessage } from "@coffer/domain/base/Message"
import { defined } from "@coffer/domain/base/Defined"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { CannotDo } from "../../base/Failures.js"
import { command, json } from "../../grammar/Command.js"
import { argument, option } from "../../grammar/Fields.js"
import { plural } from "../../terminal/Plural.js"
import { printTable } from "../../terminal/Print.js"
import { printView } from "../../terminal/View.js"
import { Version } from "../../base/Version.js"
import {
  checkProvenance,
  checkSignature,
  checkSums,
  fingerprintOf,
  NotGenuine,
  parseKey,
  type ReleaseCheck,
  releaseChecks
} from "./Release.js"
import { checkVersion, isVersion } from "./ReleaseVersion.js"

/** The publisher's public key in PEM, which the release builds in; empty if there is none yet. */
declare const COFFER_RELEASE_KEY: string

const builtIn = typeof COFFER_RELEASE_KEY === "undefined" ? "" : COFFER_RELEASE_KEY

interface Finding {
  readonly check: ReleaseCheck
  readonly state: "ok" | "failed" | "skipped"
  readonly finding: string
}

const keyOf = (file: string | undefined) =>
  Effect.flatMap(
    file !== undefined
      ? Effect.tryPromise({
          try: () => readFile(file, "utf8"),
          catch: () => new NotGenuine({ check: "signature", message: `cannot read the key ${file}` })
        })
      : builtIn === ""
        ? new NotGenuine({
            check: "signature",
            message: "no key is built into this client: give the publisher's public key with --key"
          })
        : Effect.succeed(builtIn),
    parseKey
  )

/** The findings up to the first that fails; what comes after it would prove nothing. */
const verified = Effect.fnUntraced(function* (
  folder: string,
  keyFile: string | undefined,
  expected: string | undefined
) {
  const found: Array<Finding> = []
  const note = (check: ReleaseCheck, finding: string) => found.push({ check, state: "ok", finding })
  const outcome = yield* Effect.either(
    Effect.gen(function* () {
      const { sums, text } = yield* checkSums(folder)
      note("sums", `${plural(sums.size, "file is", "files are")} as SHA256SUMS says`)
      const key = yield* keyOf(keyFile)
      yield* checkSignature(folder, text, key)
      note("signature", `SHA256SUMS is signed by the key ${fingerprintOf(key)}`)
      const { commit, version } = yield* checkProvenance(folder, sums, key)
      note("provenance", `made from the commit ${commit}`)
      const installed = yield* Version
      yield* checkVersion(version, { installed, sums, ...defined({ expected }) })
      note("version", `${version}; ${installed} is installed`)
    })
  )
  if (Either.isRight(outcome)) return found
  const { check, message } = outcome.left
  const after = releaseChecks.slice(releaseChecks.indexOf(check) + 1)
  return [
    ...found,
    { check, state: "failed", finding: message } satisfies Finding,
    ...after.map((name): Finding => ({ check: name, state: "skipped", finding: "" }))
  ]
})

export const verifyReleaseCommand = command("verify-release", {
  description: "Check that a downloaded release is what its publisher signed, and not older than this client",
  examples: [
    "coffer verify-release ./coffer-0.3.0 --expect 0.3.0",
    "coffer verify-release ./coffer-0.3.0 --key release-key.pem"
  ],
  options: {
    folder: argument(
      "FOLDER",
      Schema.NonEmptyString.annotations(withMessage("FOLDER is empty: name the folder of a release")),
      "The folder with all files of the release"
    ),
    key: option(
      "key",
      Schema.NonEmptyString.annotations(withMessage("--key is empty: name a file")),
      "The publisher's public key in PEM; without it, the key that is built into this client"
    ),
    expect: option(
      "expect",
      Schema.String.pipe(Schema.filter(isVersion, withMessage("--expect takes a version, such as 0.3.0"))),
      "The version that the release must have; without it, any that is not older than this client"
    ),
    json
  },
  run: ({ expect, folder, json, key }) =>
    Effect.gen(function* () {
      const findings = yield* verified(folder, key, expect)
      yield* printView(
        {
          json: { data: findings },
          text: printTable(
            ["state", "check", "finding"],
            findings.map(({ check, finding, state }) => [state, check, finding])
          )
        },
        json
      )
      const bad = findings.find(({ state }) => state === "failed")
      if (bad !== undefined) {
        return yield* new CannotDo({ message: `the release is not proven: ${bad.finding}` })
      }
    })
})
