import {
  type AccessHolder,
  type HolderDelegation,
  type HolderPage,
  ReviewNote
} from "@coffer/domain/access/AccessHolder"
import { Permission } from "@coffer/domain/access/AclRule"
import { defined } from "@coffer/domain/base/Defined"
import { SecretKey } from "@coffer/domain/base/Names"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import { momentCell, momentText } from "../../base/Moments.js"
import { atEnv, wide } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { inPlace, optionalPlace } from "../../grammar/PlaceForm.js"
import { note } from "../../terminal/Print.js"
import { doneView, listView } from "../../terminal/View.js"
import { because } from "./AccessTable.js"
import { usageColumn } from "./UsageText.js"

/** A line of the list: a holder, or a delegation of the person before it. */
interface Line {
  readonly holder: AccessHolder
  readonly delegation?: HolderDelegation
  readonly usage?: string | undefined
}

const nameOf = ({ email, group, id, kind, name }: AccessHolder): string =>
  kind === "group" ? `group ${group ?? id}` : kind === "service_account" ? `account ${name ?? id}` : (email ?? id)

const columns = {
  who: ({ delegation, holder }: Line) =>
    delegation === undefined
      ? `${nameOf(holder)}${holder.invited === true ? ", invited" : ""}`
      : `delegation ${delegation.name} of ${nameOf(holder)}`,
  permission: ({ delegation, holder }: Line) =>
    delegation?.permission ?? `${holder.permission}${holder.for_some === true ? " for some keys" : ""}`,
  because: ({ delegation, holder }: Line) =>
    delegation === undefined
      ? because(holder.because)
      : [
          `until ${momentText(delegation.expires_at)}`,
          ...(delegation.keys === undefined ? [] : [`only ${delegation.keys.join(", ")}`]),
          ...(delegation.limited_by === undefined ? [] : [`limited by ${delegation.limited_by}`])
        ].join(", "),
  "last used": ({ delegation, holder }: Line) =>
    momentCell(delegation === undefined ? holder.last_used_at : delegation.last_used_at)
}

const kinds = ["user", "service_account", "group"]
const byKind = Order.mapInput(Order.number, ({ kind }: AccessHolder) => kinds.indexOf(kind))
const inOrder = Order.combine(byKind, Order.mapInput(Order.string, nameOf))

export const who = atEnv("who", {
  description: "Who has a permission in an environment, which role or rule gives it, until when, and its last use",
  examples: ["coffer acl who webshop/prod", "coffer acl who webshop/prod --permission write --key DATABASE_URL --json"],
  options: {
    place: optionalPlace,
    permission: option("permission", Permission, "The permission to look for; default: read"),
    key: option("key", SecretKey, "The secret to look for; default: any of the environment"),
    wide
  },
  place: inPlace,
  run: ({ call, options: { key, permission }, path }) =>
    Effect.gen(function* () {
      const data: Array<AccessHolder> = []
      let superadmins = 0
      let reviewed: HolderPage["reviewed"]
      for (let after: string | null | undefined = undefined; after !== null;) {
        const urlParams = { limit: maxPageSize, ...defined({ permission, key, after }) }
        const page: HolderPage = yield* call("acl", (api) => api.who({ path, urlParams }))
        data.push(...page.data)
        reviewed ??= page.reviewed
        superadmins = page.superadmins
        after = page.pagination.next_cursor
      }
      if (reviewed !== undefined) yield* note(`last reviewed by ${reviewed.by} at ${momentText(reviewed.at)}`)
      if (superadmins > 0) yield* note(`${superadmins} superadmins of the server may do everything here, too`)
      data.sort(inOrder)
      const lines = data.flatMap((holder): ReadonlyArray<Line> => [
        { holder, usage: holder.usage },
        ...(holder.delegations ?? []).map((delegation) => ({ holder, delegation }))
      ])
      const { text } = listView(
        { data: lines },
        { ...columns, ...usageColumn(lines) },
        "nobody has this permission here"
      )
      return { json: { data, superadmins, ...defined({ reviewed }) }, text }
    })
})

const counted = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`

export const review = atEnv("review", {
  description: "Record in the audit log that you reviewed who has a permission in an environment",
  examples: ["coffer acl review webshop/prod --note 'quarterly review'"],
  options: {
    place: optionalPlace,
    permission: option("permission", Permission, "The permission whose holders you reviewed; default: read"),
    note: option("note", ReviewNote, "What the audit log says of the review")
  },
  place: inPlace,
  run: ({ call, options: { note, permission }, path }) =>
    Effect.map(
      call("acl", (api) => api.review({ path, payload: defined({ permission, note }) })),
      (made) =>
        doneView(
          `reviewed who has ${made.permission} in ${path.project_name}/${path.env_name}: ${[
            counted(made.people, "person", "people"),
            counted(made.service_accounts, "account", "accounts"),
            counted(made.groups, "group", "groups"),
            counted(made.delegations, "delegation", "delegations")
          ].join(", ")}`,
          made
        )
    )
})
