import type { Pair } from "@coffer/domain/formats/Format"
import type { FormatName } from "@coffer/domain/formats/FormatNames"
import { loadFormat } from "@coffer/domain/formats/Reading"
import { refusedPairs, textOfPairs } from "@coffer/domain/formats/Writing"
import type { EnvName, SecretKey } from "@coffer/domain/base/Names"
import { type Bundle, listOf } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { call } from "../../../client/Calls.js"
import type { ProjectPlace } from "../../../staging/Writes.js"

/** The secrets that were read for an export, and the references that lead to no value. */
export interface ExportRead {
  readonly pairs: Redacted.Redacted<ReadonlyArray<Pair>>
  readonly unreadable: ReadonlyArray<string>
}

/** A file, and what it does not hold. */
export interface ExportFile {
  readonly text: Redacted.Redacted
  readonly count: number
  /** Which secrets are left out, and why, as sentences. */
  readonly left: ReadonlyArray<string>
}

/** The longest list of keys in an address: servers and proxies refuse addresses of more than 8 KiB. */
const maxKeysText = 4_000

/** Lists of keys that fit in addresses. */
export const partsOf = (keys: ReadonlyArray<SecretKey>): ReadonlyArray<ReadonlyArray<SecretKey>> => {
  const parts: Array<Array<SecretKey>> = []
  let length = Infinity
  for (const key of keys) {
    if (length + key.length + 1 > maxKeysText) {
      parts.push([])
      length = 0
    }
    parts.at(-1)?.push(key)
    length += key.length + 1
  }
  return parts
}

/** Reads the values of keys, with their audit entries. `null` reads the environment as a whole. */
export const readForExport = (
  { org, project }: ProjectPlace,
  env: EnvName,
  keys: ReadonlyArray<SecretKey> | null
): Effect.Effect<ExportRead, Effect.Effect.Error<ReturnType<typeof readPart>>> =>
  Effect.map(
    Effect.forEach(keys === null ? [null] : partsOf(keys), (part) => readPart({ org, project }, env, part)),
    (found) => ({
      pairs: Redacted.make(
        found.flatMap(({ data }) => data.map(({ key, value }): Pair => ({ key, value: Redacted.value(value) })))
      ),
      unreadable: found.flatMap(({ errors = [] }) => errors.map(({ message }) => message))
    })
  )

const readPart = ({ org, project }: ProjectPlace, env: EnvName, keys: ReadonlyArray<SecretKey> | null) =>
  Effect.map(
    call("environments", (api) =>
      api.bundle({
        path: { org_name: org, project_name: project, env_name: env },
        urlParams: keys === null ? {} : { keys },
        headers: {}
      })
    ),
    (bundle): Pick<Bundle, "data" | "errors"> => listOf(bundle) ?? { data: [] }
  )

/** Makes the file of a format, without what it cannot hold. */
export const fileOf = ({ pairs, unreadable }: ExportRead, name: FormatName): Effect.Effect<ExportFile> =>
  Effect.map(loadFormat(name), (format) => {
    const all = Redacted.value(pairs)
    const refused = refusedPairs(name, format, all, () => false)
    return {
      text: Redacted.make((format.head ?? "") + textOfPairs(format, all, refused)),
      count: all.length - refused.length,
      left: [...refused.map(({ why }) => why), ...unreadable]
    }
  })

const extensions: Readonly<Record<FormatName, string>> = {
  env: ".env",
  shell: ".sh",
  docker: ".docker.env",
  json: ".json",
  yaml: ".yaml"
}

/** The name of a file for an environment. */
export const fileNameOf = ({ project }: ProjectPlace, env: EnvName, format: FormatName): string =>
  `${project}-${env}${extensions[format]}`

/** Has the browser store a file. */
export const download = (name: string, text: Redacted.Redacted): void => {
  const url = URL.createObjectURL(new Blob([Redacted.value(text)], { type: "application/octet-stream" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
