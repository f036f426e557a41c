import type { SecretPath } from "@coffer/domain/api/Paths"
import { type DuePage, type DueSecret, DueWithin, Expiry, RotationDays } from "@coffer/domain/secrets/Due"
import { Email, type SecretKey } from "@coffer/domain/base/Names"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { atOrg, type Call, wide } from "../../grammar/Command.js"
import { codecOf, option } from "../../grammar/Fields.js"
import { type Codec, old, oneOf } from "../../grammar/Specs.js"
import { duration, endOf, moment } from "../../grammar/Times.js"
import { dueText } from "../../secrets/List.js"
import { note, printTable } from "../../terminal/Print.js"
import { listView, type View } from "../../terminal/View.js"

/** Reads every page. */
const allDue = Effect.fnUntraced(function* (
  call: Call,
  path: Pick<SecretPath, "org_name">,
  within: string | undefined
) {
  const data: Array<DueSecret> = []
  for (let after: string | null | undefined = undefined; after !== null;) {
    const urlParams = { limit: maxPageSize, ...defined({ within, after }) }
    const page: DuePage = yield* call("dues", (api) => api.list({ path, urlParams }))
    data.push(...page.data)
    after = page.pagination.next_cursor
  }
  return { data }
})

export const due = atOrg("due", {
  description: "List the secrets of the organization that are overdue or due soon, the earliest first",
  examples: ["coffer secret due", "coffer secret due --for 90d --json"],
  options: {
    within: oneOf(
      option("for", DueWithin, "How far ahead to look, such as 12h or 90d; default: 14d"),
      old(option("within", DueWithin, "Old form of --for"))
    ),
    wide
  },
  run: ({ call, options: { within }, path }) =>
    Effect.gen(function* () {
      const response = yield* allDue(call, path, within)
      const now = yield* Clock.currentTimeMillis
      const columns = {
        env: ({ env, project }: DueSecret) => `${project}/${env}`,
        key: ({ key }: DueSecret) => key,
        due: (secret: DueSecret) => dueText(secret, now),
        owner: ({ owner }: DueSecret) => owner
      }
      return listView(response, columns, `nothing that you may list is due within ${within ?? "14d"}`)
    })
})

/** A value of this schema, or `none`, which takes one away. */
const orNone = <A, I>(
  schema: Schema.Schema<A, I>,
  takes: string,
  parse: (text: string) => unknown = (text) => text
): Codec<A | null> => ({
  value: "text",
  description: "",
  decode: (name, text) =>
    text === "none"
      ? Either.right(null)
      : Either.mapLeft(Schema.decodeUnknownEither(schema)(parse(text)), () => `${name} must be ${takes}, or none`)
})

const daysOf = (text: string): number => (/^[1-9][0-9]{0,3}d$/.test(text) ? Number.parseInt(text, 10) : NaN)

const expiry = codecOf(Expiry)

/** A moment, or `none`. */
const momentOrNone: Codec<string | null> = {
  ...moment,
  decode: (name, text) =>
    text === "none"
      ? Either.right(null)
      : Either.mapLeft(
          Either.flatMap(moment.decode(name, text), (utc) => expiry.decode(name, utc)),
          () => `${name} must be a date, or a date and time with a zone such as 2027-01-31T08:00:00Z, or none`
        )
}

export const dueOptions = {
  expires: oneOf<string | null>(
    option(
      "until",
      momentOrNone,
      "When the value stops working: a date, or a date and time with a zone; none removes it"
    ),
    option("for", duration, "How long the value works from now on, such as 90d"),
    old(option("expires", momentOrNone, "Old form of --until"))
  ),
  rotateEvery: option(
    "rotate-every",
    orNone(RotationDays, "days from 1d to 3650d, such as 90d", daysOf),
    "The age at which a version is due to be replaced, such as 90d; none removes it"
  ),
  owner: option("owner", orNone(Email, "an e-mail address"), "E-mail address of the owner; none removes it")
}

interface DueOptions {
  readonly expires: string | null | undefined
  readonly rotateEvery: number | null | undefined
  readonly owner: Email | null | undefined
}

export const setsDue = ({ expires, owner, rotateEvery }: DueOptions): boolean =>
  [expires, owner, rotateEvery].some((given) => given !== undefined)

/** Sets what the options give for each of the keys. */
export const setDue = Effect.fnUntraced(function* (
  call: Call,
  path: Omit<SecretPath, "key">,
  keys: ReadonlyArray<SecretKey>,
  { expires, owner, rotateEvery }: DueOptions
) {
  const expires_at = typeof expires === "string" ? yield* endOf(expires) : expires
  const payload = defined({ expires_at, rotate_every_days: rotateEvery, owner })
  // A key that waits for votes does not keep the others from being asked for: each has a request of its own.
  const results = yield* Effect.forEach(keys, (key) =>
    call("dues", (api) => api.update({ path: { ...path, key }, payload })).pipe(
      Effect.map(Either.right),
      Effect.catchTag("ChangeRequested", (requested) => Effect.succeed(Either.left(requested)))
    )
  )
  const [waiting, data] = Array.separate(results)
  const last = waiting.at(-1)
  yield* Effect.forEach(waiting.slice(0, -1), ({ message }) => note(message))
  if (last !== undefined) return yield* last
  const now = yield* Clock.currentTimeMillis
  const rows = data.map((secret) => [secret.key, dueText(secret, now), secret.owner])
  const view: View = { json: { data }, text: printTable(["key", "due", "owner"], rows) }
  return view
})
