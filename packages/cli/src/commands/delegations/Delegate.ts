import type { PrivateFileError } from "@coffer/client/internal/PrivateFile"
import { placeName } from "@coffer/client/internal/DelegationFile"
import { endDelegations, forgetDelegations, stageDelegations } from "@coffer/client/internal/StoredDelegations"
import {
  DelegablePermission,
  type DelegatedEnvironment,
  type Delegation,
  DelegationName
} from "@coffer/domain/directory/Delegation"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { DelegationId } from "@coffer/domain/base/Ids"
import { withMessage } from "@coffer/domain/base/Message"
import { type EnvName, ProjectName, SecretKey } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/base/Defined"
import { momentCell, momentText } from "../../base/Moments.js"
import { CannotDo, NotThere, WrongUsage } from "../../base/Failures.js"
import { atServer, type Call, wide } from "../../grammar/Command.js"
import { argument, codecOf, option, repeatedOption } from "../../grammar/Fields.js"
import { meantBy } from "../../grammar/IdKinds.js"
import { type Named, repeatedEnv } from "../../grammar/PlaceArguments.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { anyText, completedBy, flag, type Given, old, type OptionSpec, orOld } from "../../grammar/Specs.js"
import { duration, millisUntil, moment } from "../../grammar/Times.js"
import { questionAbout } from "../../grammar/Words.js"
import { note } from "../../terminal/Print.js"
import { doneView, listView } from "../../terminal/View.js"
import { placesOf } from "./DelegatedPlaces.js"
import { endedLine, shownDelegations } from "./StoredDelegations.js"

/** The name and the length of a delegation. */
interface Naming {
  readonly name: DelegationName
  /** A duration or a moment. */
  readonly end: string | undefined
}

const names = codecOf(DelegationName)

const textIn = (given: Given, name: string): string => given.get(name)?.[0] ?? ""

/** The options for the length, each with its form. `--ttl` is that of earlier releases. */
const lengths = {
  for: option("for", anyText, "How long it lasts, such as 30m or 8h; 8h when left out"),
  until: option("until", moment, "Until when it lasts: a date, or a date and time with a zone"),
  ttl: old(option("ttl", duration, "Old form of --for"))
}

/** In earlier releases, `--for` was the name. It still is where there is no `--name`, so no value is ambiguous. */
const naming: OptionSpec<Naming> = {
  data: {
    ...option("name", names, "Who or what it is for, as the audit log names it").data,
    isRequired: true,
    unless: ["for"]
  },
  also: Object.values(lengths).map(({ data }) => data),
  decode: (texts, given) => {
    const name =
      texts === undefined ? names.decode("--for", textIn(given, "for")) : names.decode("--name", texts[0] ?? "")
    const [length, other] = (["for", "until", "ttl"] as const).filter(
      (each) => given.has(each) && (each !== "for" || texts !== undefined)
    )
    if (length !== undefined && other !== undefined) {
      return Either.left(`--${length} and --${other} say the same: give one of them`)
    }
    const end =
      length === undefined
        ? Either.right(undefined)
        : (length === "until" ? moment : duration).decode(`--${length}`, textIn(given, length))
    return Either.all({ name, end })
  }
}

const keysIn = (texts: ReadonlyArray<string>) =>
  Effect.mapError(
    Schema.decode(Schema.Array(SecretKey))(texts.flatMap((text) => text.split(","))),
    () => new WrongUsage({ message: "--only takes secret keys, separated by commas" })
  )

/** `--place` is an old form, whose first is the place. */
const furtherEnv = repeatedEnv("also", "Another environment of the organization that it is for")
const further: typeof furtherEnv = {
  ...furtherEnv,
  decode: (texts = [], given) => furtherEnv.decode([...texts, ...(given.get("place") ?? []).slice(1)], given)
}

/** Reads the further environments of a delegation, whose names above are those of its first where they are left out. */
const environmentsBeside = (path: EnvPath, further: ReadonlyArray<Named<EnvName>>) =>
  Effect.forEach(further, ({ above: { org = path.org_name, project = path.project_name }, name }) =>
    org === path.org_name
      ? Effect.map(
          Effect.mapError(Schema.decode(ProjectName)(project), ({ message }) => new WrongUsage({ message })),
          (projectName): DelegatedEnvironment => ({ project: projectName, env: name })
        )
      : new WrongUsage({
          message: `a delegation is for environments of one organization: ${org}/${project}/${name} is not of ${path.org_name}`
        })
  )

const placeOf = (made: Pick<Delegation, "also" | "env" | "org" | "project">) => placesOf(made).map(placeName).join(" ")

const columns = {
  id: ({ id }: Delegation) => id,
  name: ({ name }: Delegation) => name,
  place: placeOf,
  permission: ({ permission }: Delegation) => permission,
  reveal: ({ reveal }: Delegation) => (reveal ? "yes" : "no"),
  keys: ({ keys }: Delegation) => keys?.join(" ") ?? "all",
  ends: ({ expires_at }: Delegation) => momentCell(expires_at),
  "last used": ({ last_used_at }: Delegation) => momentCell(last_used_at)
}

/** Ends a delegation that could not be stored: nobody would have its token, or it would have to be printed. */
const takeBack = (call: Call, id: DelegationId, { message }: PrivateFileError) =>
  Effect.matchEffect(
    call("delegations", (api) => api.revoke({ path: { delegation_id: id } })),
    {
      onSuccess: () => new CannotDo({ message: `${message}; the delegation was revoked again` }),
      onFailure: ({ message: why }) =>
        new CannotDo({
          message: `${message}; the delegation could not be revoked again: ${why}; run: coffer delegate revoke ${id}`
        })
    }
  )

export const delegate = atServer("delegate", {
  description: "Give an agent or a script a part of your rights, for commands without a terminal on this machine",
  examples: [
    "coffer delegate webshop/dev --name claude",
    "coffer delegate webshop/dev --name 'nightly job' --permission write --for 2h --only DATABASE_URL",
    "coffer delegate dev --also staging --name claude --no-reveal"
  ],
  options: {
    naming,
    place: orOld(optionalPlace, { place: repeatedOption("place", Schema.String, "Old form of PLACE") }, ({ place }) =>
      Either.right(place[0])
    ),
    also: further,
    permission: option(
      "permission",
      DelegablePermission,
      "use values without seeing them, read them, or write them too; read when left out"
    ),
    noReveal: flag("no-reveal", "Never give it a value: it can list and write, but not read"),
    only: completedBy(
      "keys",
      repeatedOption("only", Schema.String, "Only these keys, separated by commas; may be given again")
    )
  },
  place: inPlace,
  run: ({ call, options, server, settings }) =>
    Effect.gen(function* () {
      const { also: others, naming: named, noReveal, only, permission = "read" } = options
      const { end = "8h", name } = named
      const path = yield* settings.envPath
      const keys = yield* keysIn(only)
      const { env_name: env, org_name: org, project_name: project } = path
      const also = yield* environmentsBeside(path, others)
      const payload = {
        name,
        org,
        project,
        env,
        permission,
        expires_in: Math.ceil((yield* millisUntil(end)) / 1_000),
        ...defined({
          also: also.length === 0 ? undefined : also,
          keys: keys.length === 0 ? undefined : keys,
          reveal: noReveal ? false : undefined
        })
      }
      const store = yield* stageDelegations(server.origin, placesOf({ also, env, org, project }))
      const { token, ...made } = yield* Effect.uninterruptibleMask((restore) =>
        Effect.tap(restore(call("delegations", (api) => api.create({ payload }))), (created) =>
          Effect.catchTag(store({ ...created, expiresAt: created.expires_at }), "PrivateFileError", (failure) =>
            takeBack(call, created.id, failure)
          )
        )
      )
      const values = made.reveal ? "" : ", without values"
      return doneView(
        `${name} may ${made.permission} in ${placeOf(made)}${values} until ${momentText(made.expires_at)}: commands on this machine that have no terminal take it there`,
        { ...made, token: Redacted.value(token) }
      )
    })
})

export const delegateList = atServer("delegate list", {
  description: "List your delegations that have not ended, and those of this machine that have",
  examples: ["coffer delegate list", "coffer delegate list --json"],
  options: { wide },
  run: ({ call, server }) =>
    Effect.gen(function* () {
      const found = yield* call("delegations", (api) => api.list({}))
      const live = new Set<string>(found.data.map(({ id }) => id))
      // One that was revoked elsewhere has ended too, although it says another time.
      const stored = (yield* shownDelegations(server)).map((each) => ({
        ...each,
        ended: each.ended || !live.has(each.id)
      }))
      const list = listView(
        found,
        columns,
        "there are no delegations; make one with: coffer delegate",
        ["name", "place", "permission", "ends"],
        "end one with: coffer delegate revoke ID"
      )
      const notes = Effect.forEach(
        stored.filter(({ ended }) => ended),
        (each) => note(endedLine(each)),
        { discard: true }
      )
      return { json: { ...found, stored }, text: Effect.zipRight(list.text, notes) }
    })
})

const NameOrId = Schema.Union(DelegationId, DelegationName).annotations(
  withMessage("must be the name or the id of a delegation")
)

export const delegateRevoke = atServer("delegate revoke", {
  description: "End a delegation; by its name, all of that name",
  examples: ["coffer delegate revoke claude"],
  options: { nameOrId: argument("NAME_OR_ID", NameOrId, "The delegation, by name or id") },
  run: ({ call, options: { nameOrId }, server }) =>
    Effect.gen(function* () {
      const { data } = yield* call("delegations", (api) => api.list({}))
      const found = meantBy(data, nameOrId)
      const names = new Set<string>(found.map(({ name }) => name))
      if (names.size > 1) {
        const ids = found.map(({ id, name }) => `${id} (${name})`).join(", ")
        return yield* new WrongUsage({
          message: `${nameOrId} is the beginning of the ids of ${found.length} delegations: ${ids}; give more of it`
        })
      }
      for (const { id } of found) yield* call("delegations", (api) => api.revoke({ path: { delegation_id: id } }))
      const ids = new Set<string>(found.map(({ id }) => id))
      if (found.length > 0) {
        const kept = yield* endDelegations(server.origin, ({ id }) => ids.has(id))
        const again = `; commands without a terminal are refused there, until coffer delegate revoke ${nameOrId} is run once more: then they take your session`
        return doneView(
          `delegation ${nameOrId} ended: ${found.map(placeOf).join(", ")}${kept === 0 ? "" : again}`,
          found.map(({ id }) => ({ id }))
        )
      }
      const forgotten = yield* forgetDelegations(server.origin, ({ id, name }) => id === nameOrId || name === nameOrId)
      if (forgotten > 0) return doneView(`delegation ${nameOrId} had ended, and is forgotten here`, [])
      return yield* new NotThere({
        message: `there is no delegation ${nameOrId} of yours that has not ended${questionAbout(
          nameOrId,
          data.map(({ name }) => name)
        )} coffer delegate list shows them`
      })
    })
})
