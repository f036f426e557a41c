import { defined } from "@coffer/domain/base/Defined"
import { ConnectionName, RotationName, SecretKey } from "@coffer/domain/base/Names"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { DatabaseUser } from "@coffer/domain/secrets/Connection"
import { newRotation, type Rotation } from "@coffer/domain/secrets/Rotation"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { momentCell, momentText } from "../../base/Moments.js"
import { CannotDo } from "../../base/Failures.js"
import { asking, atEnv, type Call, group, wide, yes } from "../../grammar/Command.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { argument, option, repeatedOption, requiredOption } from "../../grammar/Fields.js"
import type { Codec } from "../../grammar/Specs.js"
import { confirm } from "../../terminal/Prompts.js"
import { printFields } from "../../terminal/Print.js"
import { doneView, listView } from "../../terminal/View.js"
import { orphans } from "./Orphans.js"

const name = argument("NAME", RotationName, "The rotation's name")

const stateOf = ({ failures, paused, state }: Rotation): string =>
  paused !== null ? "paused" : failures > 0 ? `${state}, ${failures} failed` : state

const columns = {
  name: (one: Rotation) => one.name,
  connection: ({ connection }: Rotation) => connection,
  users: ({ users }: Rotation) => users.join(" "),
  writes: ({ writes }: Rotation) => Object.keys(writes).join(" "),
  every: ({ every }: Rotation) => every,
  state: stateOf,
  "due at": ({ due_at }: Rotation) => momentCell(due_at),
  "rotated at": ({ rotated_at }: Rotation) => momentCell(rotated_at)
}

const list = atEnv("list", {
  description: "List the credentials of the environment that renew themselves",
  examples: ["coffer rotation list webshop/prod"],
  options: { place: optionalPlace, wide },
  place: inPlace,
  run: ({ call, path }) =>
    Effect.map(
      call("rotations", (api) => api.list({ path })),
      (found) =>
        listView(
          found,
          columns,
          "there are no rotations; make one with: coffer rotation create NAME --connection CONNECTION",
          ["name", "state", "due at"],
          "look at one with: coffer rotation show NAME"
        )
    )
})

const windowText = ({ window }: Rotation): string | null =>
  window === null ? null : `${window.days.join(",")} ${window.from}-${window.to} ${window.zone}`

const fieldsOf = (one: Rotation) => ({
  name: one.name,
  connection: one.connection,
  users: one.users.join(" "),
  ...Object.fromEntries(Object.entries(one.writes).map(([key, template]) => [`writes ${key}`, template])),
  every: one.every,
  window: windowText(one),
  passwords: `${one.length} of ${one.alphabet}`,
  state: stateOf(one),
  "next user": one.next_user,
  "due at": momentCell(one.due_at),
  "rotated at": momentCell(one.rotated_at),
  failures: one.failures,
  problem: one.problem,
  paused: one.paused,
  "created by": one.created_by,
  "created at": momentCell(one.created_at),
  "updated at": momentCell(one.updated_at)
})

const show = atEnv("show", {
  description: "Show a rotation: its terms, how far its turn is, and why the last try failed",
  examples: ["coffer rotation show shop-app --env prod"],
  options: { name },
  run: ({ call, options, path }) =>
    Effect.map(
      call("rotations", (api) => api.get({ path: { ...path, rotation_name: options.name } })),
      (found) => ({ json: found, text: printFields(fieldsOf(found)) })
    )
})

const writeForm: Codec<readonly [key: SecretKey, template: string]> = {
  value: "text",
  description: "",
  decode: (option, text) => {
    const equals = text.indexOf("=")
    const key = text.slice(0, equals)
    return Schema.is(SecretKey)(key)
      ? Either.right([key, text.slice(equals + 1)] as const)
      : Either.left(`${option} must be KEY=TEXT, as in 'DATABASE_URL=postgres://{user}:{password}@db/shop'`)
  }
}

const windowForm: Codec<NonNullable<Rotation["window"]>> = {
  value: "text",
  description: "",
  decode: (option, text) => {
    const [, days = "", from = "", to = "", zone = ""] = /^(\S+) (\S+)-(\S+) (\S+)$/.exec(text) ?? []
    const made = Schema.decodeUnknownEither(newRotation.window.from)({ days: days.split(","), from, to, zone })
    return Either.mapLeft(made, () => `${option} must be as in 'sat,sun 22:00-04:00 Europe/Berlin'`)
  }
}

const create = atEnv("create", {
  description: "Renew credentials in a database on a schedule; the first turn is after the given time",
  examples: [
    "coffer rotation create shop-app --env prod --connection shop-db --user app_a --user app_b --write 'DB_URL=postgres://{user}:{password}@db/app' --every 30d"
  ],
  options: {
    name,
    connection: requiredOption("connection", ConnectionName, "The connection, as coffer connection list shows it"),
    users: repeatedOption("user", DatabaseUser, "A user in the database; two take turns, the one in use now first"),
    writes: repeatedOption(
      "write",
      writeForm,
      "A secret to write, as KEY=TEXT with {user} and {password}; may be given again"
    ),
    every: option("every", newRotation.every.from, "How often, 1h to 365d; default: 30d"),
    window: option("window", windowForm, "When a turn may begin, as in 'sat,sun 22:00-04:00 Europe/Berlin'"),
    length: option("length", newRotation.length.from, "The length of passwords, 16 to 128; default: 32"),
    alphabet: option("alphabet", newRotation.alphabet.from, "The characters of passwords; default: letters and digits"),
    ...asking
  },
  check: ({ users, writes }) =>
    users.length === 0
      ? "name at least one --user"
      : writes.length === 0
        ? "name at least one --write, such as 'DATABASE_URL=postgres://{user}:{password}@db/shop'"
        : undefined,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const { alphabet, connection, every, length, name, users, window, writes } = options
      const terms = defined({ every, window, length, alphabet })
      const payload = { name, connection, users, writes: Object.fromEntries(writes), ...terms }
      const made = yield* call("rotations", (api) => api.create({ path, payload }))
      return doneView(
        `rotation ${name} created: its first turn is at ${momentText(made.due_at)}; begin it now with: coffer rotation run ${name}`,
        made
      )
    })
})

/** How often, and how many times, the end of a turn is asked for. */
const askEvery = "1 second"
const mostAsks = 60

/** Waits for the end of a turn: its secrets are written, or a step failed. */
const ended = (call: Call, path: EnvPath & { readonly rotation_name: RotationName }, before: Rotation) =>
  Effect.gen(function* () {
    for (let asks = 0; asks < mostAsks; asks++) {
      const now = yield* call("rotations", (api) => api.get({ path }))
      if (now.failures > before.failures || now.paused !== null) {
        return yield* new CannotDo({ message: `rotation ${now.name}: ${now.problem ?? now.paused ?? "it failed"}` })
      }
      if (now.state === "idle" && now.rotated_at !== before.rotated_at) return now
      yield* Effect.sleep(askEvery)
    }
    return yield* new CannotDo({
      message: `rotation ${before.name} is not over yet: see coffer rotation show ${before.name}`
    })
  })

const run = atEnv("run", {
  description: "Begin a turn of a rotation now, and wait for its end",
  examples: ["coffer rotation run shop-app --env prod"],
  options: { name },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const at = { ...path, rotation_name: options.name }
      const begun = yield* call("rotations", (api) => api.run({ path: at }))
      const done = yield* ended(call, at, begun)
      return doneView(`rotation ${done.name} is done; its next turn is at ${momentText(done.due_at)}`, done)
    })
})

const setPaused = (paused: boolean) =>
  atEnv(paused ? "pause" : "resume", {
    description: paused ? "Let no turn of a rotation begin, or go on" : "Let the turns of a rotation go on",
    examples: [`coffer rotation ${paused ? "pause" : "resume"} shop-app --env prod`],
    options: { name, ...asking },
    run: ({ call, options, path }) =>
      Effect.map(
        call("rotations", (api) => api.update({ path: { ...path, rotation_name: options.name }, payload: { paused } })),
        (changed) =>
          doneView(`rotation ${changed.name} is ${paused ? "paused" : `due at ${momentText(changed.due_at)}`}`, changed)
      )
  })

const edit = atEnv("edit", {
  description: "Change a rotation: options that are left out stay as they are",
  examples: ["coffer rotation edit shop-app --env prod --every 14d"],
  options: {
    name,
    writes: repeatedOption(
      "write",
      writeForm,
      "A secret to write, as KEY=TEXT; replaces all of them; may be given again"
    ),
    every: option("every", newRotation.every.from, "How often, 1h to 365d"),
    window: option("window", windowForm, "When a turn may begin, as in 'sat,sun 22:00-04:00 Europe/Berlin'"),
    ...asking
  },
  check: ({ every, window, writes }) =>
    every === undefined && window === undefined && writes.length === 0
      ? "say what to change: --write, --every or --window"
      : undefined,
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const { every, name, window, writes } = options
      const payload = {
        ...defined({ every, window }),
        ...(writes.length > 0 && { writes: Object.fromEntries(writes) })
      }
      const changed = yield* call("rotations", (api) => api.update({ path: { ...path, rotation_name: name }, payload }))
      return doneView(`rotation ${name} changed; its next turn is at ${momentText(changed.due_at)}`, changed)
    })
})

const remove = atEnv("delete", {
  description: "Remove a rotation; its secrets and the users in the database stay as they are",
  examples: ["coffer rotation delete shop-app --env prod"],
  options: { name, yes, ...asking },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`Remove the rotation ${options.name}?`, options.yes)
      yield* call("rotations", (api) => api.delete({ path: { ...path, rotation_name: options.name } }))
      return doneView(`rotation ${options.name} removed`)
    })
})

export const rotationCommand = group("rotation", "Credentials in databases that renew themselves", [
  list,
  create,
  show,
  run,
  edit,
  setPaused(true),
  setPaused(false),
  remove,
  orphans
])
