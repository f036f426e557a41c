import { defined } from "@coffer/domain/base/Defined"
import { passkeyRecoveries, UnusedAccessMailWord } from "@coffer/domain/directory/Organization"
import * as Schema from "effect/Schema"
import * as Effect from "effect/Effect"
import { asking, atOrg } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import { doneView } from "../../terminal/View.js"

export const edit = atOrg("edit", {
  description: "Change the settings of the organization",
  examples: ["coffer org edit --unused-mail monthly", "coffer org edit --passkey-recovery none --org acme"],
  options: {
    unusedMail: option(
      "unused-mail",
      UnusedAccessMailWord,
      "When its owners are mailed the rules and accounts that nobody used for 90 days: monthly or never"
    ),
    recovery: option(
      "passkey-recovery",
      Schema.Literal(...passkeyRecoveries),
      "How a member removes a lost passkey: after a new login, or with none only by another passkey"
    ),
    ...asking
  },
  check: ({ recovery, unusedMail }) =>
    recovery === undefined && unusedMail === undefined
      ? "say what to change: --unused-mail or --passkey-recovery"
      : undefined,
  run: ({ call, options: { recovery, unusedMail }, path }) =>
    Effect.map(
      call("organizations", (api) =>
        api.update({ path, payload: defined({ unused_access_mail: unusedMail, passkey_recovery: recovery }) })
      ),
      (changed) =>
        doneView(
          `organization ${changed.name}: unused access is mailed ${changed.unused_access_mail ?? "never"}, and a lost passkey is removed by ${
            changed.passkey_recovery === "none" ? "another passkey only" : "a new login"
          }`,
          changed
        )
    )
})
