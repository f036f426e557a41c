import type { ScimWithToken } from "@coffer/domain/directory/Scim"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { atOrg, group, yes } from "../../grammar/Command.js"
import { confirm } from "../../terminal/Prompts.js"
import { note, printJson, write } from "../../terminal/Print.js"
import { doneView, recordView } from "../../terminal/View.js"

/** Prints only the token to standard output, for scripts. */
const printToken = Effect.fnUntraced(function* (made: ScimWithToken, json: boolean, sentence: string) {
  const token = Redacted.value(made.token)
  yield* json ? printJson({ ...made, token }) : write(`${token}\n`)
  yield* note(`${sentence}; the token is shown this once: keep it in the directory alone`)
})

const show = atOrg("show", {
  description: "Show whether a directory manages people, and by which tokens",
  examples: ["coffer scim show", "coffer scim show --json"],
  options: {},
  run: ({ call, path }) =>
    Effect.map(
      call("scim", (api) => api.get({ path })),
      (found) => ({
        ...recordView({
          SCIM: found.enabled ? "on" : "off",
          path: found.path,
          domains: found.domains.join(", ") || "none: SERVICE_SCIM_DOMAINS is not set",
          users: String(found.users),
          groups: String(found.groups),
          ...Object.fromEntries(
            found.tokens.map(({ created_at, created_by, expires_at, hint, last_used_at }) => [
              `token …${hint}`,
              `by ${created_by}, ${created_at}; last used ${last_used_at ?? "never"}${expires_at === undefined ? "" : `; ends ${expires_at}`}`
            ])
          )
        }),
        json: found
      })
    )
})

const enable = atOrg("enable", {
  description: "Let a directory manage people and groups, and print its token, once",
  examples: ["coffer scim enable"],
  options: {},
  run: ({ call, json, path, server }) =>
    Effect.gen(function* () {
      const made = yield* call("scim", (api) => api.enable({ path }))
      yield* printToken(made, json, `SCIM is on for ${path.org_name}, at ${server.base}${made.path}`)
    })
})

const rotate = atOrg("rotate", {
  description: "Print a new token for the directory; the former one stays valid for 24 hours",
  examples: ["coffer scim rotate"],
  options: {},
  run: ({ call, json, path }) =>
    Effect.gen(function* () {
      const made = yield* call("scim", (api) => api.rotate({ path }))
      yield* printToken(made, json, "the former token ends in 24 hours")
    })
})

const disable = atOrg("disable", {
  description: "End all tokens of the directory; people and groups stay, and are managed by hand",
  examples: ["coffer scim disable"],
  options: { yes },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      yield* confirm(`End the management of people in ${path.org_name} by its directory?`, options.yes)
      yield* call("scim", (api) => api.disable({ path }))
      return doneView(`SCIM is off for ${path.org_name}; its people and groups stay`)
    })
})

export const scimCommand = group("scim", "A directory that manages people and groups (SCIM 2.0)", [
  show,
  enable,
  rotate,
  disable
])
