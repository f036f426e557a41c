import { variable, Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { CannotDo, WrongUsage } from "../../../base/Failures.js"
import type { Live } from "./Live.js"
import { openApi } from "./ToolApi.js"

const Mount = Schema.Struct({
  data: Schema.Struct({
    path: Schema.String,
    type: Schema.String,
    options: Schema.NullOr(Schema.Struct({ version: Schema.optional(Schema.String) }))
  })
})
const Listed = Schema.Struct({ data: Schema.Struct({ keys: Schema.Array(Schema.String) }) })

/** How many secrets are read at most. */
const maxSecrets = 5_000

const encoded = (path: string) => path.split("/").map(encodeURIComponent).join("/")

/** The secrets of a mount of Vault or OpenBao, or those below a path in it, by their paths in the mount. */
export const readVault: Live = (from) =>
  Effect.gen(function* () {
    if (from === undefined) {
      return yield* new WrongUsage({ message: "name what to read from Vault: --from MOUNT or --from MOUNT/PATH" })
    }
    const env = yield* Variables
    const named = variable(env, "VAULT_NAMESPACE") ?? variable(env, "BAO_NAMESPACE")
    const namespace = named === undefined ? {} : { "x-vault-namespace": named }
    const { decode, find, get } = yield* openApi({
      tool: "Vault",
      addresses: ["VAULT_ADDR", "BAO_ADDR"],
      usualAddress: "https://127.0.0.1:8200",
      tokens: ["VAULT_TOKEN", "BAO_TOKEN"],
      headers: (token) => ({ "x-vault-token": token, "x-vault-request": "true", ...namespace })
    })
    const asked = from.replace(/^\/+|\/+$/g, "")
    const { data } = yield* decode(Mount, yield* get(`/v1/sys/internal/ui/mounts/${encoded(asked)}`))
    if (data.type !== "kv" && data.type !== "generic") {
      return yield* new CannotDo({ message: `${data.path} of Vault is not a mount of kv secrets` })
    }
    const mount = data.path.replace(/\/+$/, "")
    const [reading, listing] = data.options?.version === "2" ? ["data/", "metadata/"] : ["", ""]
    const list = (path: string) =>
      Effect.flatMap(
        find(`/v1/${encoded(mount)}/${listing}${encoded(path)}`, { list: "true" }),
        Option.match({
          onNone: () => Effect.succeed<ReadonlyArray<string>>([]),
          onSome: (body) => Effect.map(decode(Listed, body), ({ data: { keys } }) => keys)
        })
      )
    const paths: Array<string> = []
    const add = (path: string) =>
      paths.push(path) <= maxSecrets
        ? Effect.void
        : new CannotDo({ message: `${from} of Vault holds more than ${maxSecrets} secrets: name a path below it` })
    const walk = (folder: string): Effect.Effect<void, CannotDo> =>
      Effect.flatMap(
        list(folder),
        Effect.forEach((name) => (name.endsWith("/") ? walk(folder + name) : add(folder + name)), { discard: true })
      )
    const below = asked.slice(mount.length).replace(/^\/+/, "")
    if (below !== "") yield* add(below)
    yield* walk(below === "" ? "" : `${below}/`)
    const found = yield* Effect.forEach(
      paths,
      (path) =>
        Effect.map(find(`/v1/${encoded(mount)}/${reading}${encoded(path)}`), (body) =>
          Option.map(body, (text) => `${JSON.stringify(path)}: ${Redacted.value(text)}`)
        ),
      { concurrency: 8 }
    )
    const members = found.flatMap((each) => Option.toArray(each))
    if (members.length === 0)
      return yield* new CannotDo({ message: `${from} of Vault holds no secrets that the token may read` })
    return [{ name: `${from} of Vault`, text: Redacted.make(`{${members.join(",\n")}}`) }]
  })
