import { momentCell } from "../../base/Moments.js"
import { completedBy, flag } from "../../grammar/Specs.js"
import { idOf } from "../../grammar/IdKinds.js"
import type { OrganizationExport } from "@coffer/domain/archive/Export"
import { ExportId } from "@coffer/domain/base/Ids"
import { withMessage } from "@coffer/domain/base/Message"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { approveExport, endExport } from "../requests/OtherRequests.js"
import { recipient } from "../../archive/ArchiveKeys.js"
import { WrongUsage } from "../../base/Failures.js"
import { atOrg, oldCommand, wide } from "../../grammar/Command.js"
import { argument, option, repeatedOption } from "../../grammar/Fields.js"
import { listView } from "../../terminal/View.js"

const out = argument(
  "OUT",
  Schema.NonEmptyString.annotations(withMessage("OUT is empty: name a file, or - for standard output")),
  "The file to write; - is standard output"
)

export const exportCommand = atOrg("export", {
  description: "Take the whole organization out, with all its secrets, into one file that age encrypts",
  examples: [
    'coffer org export --to-age "$(cat recipient.txt)" acme.age',
    "coffer org export --passphrase-file passphrase.txt --versions acme-whole.age"
  ],
  options: {
    toAge: repeatedOption("to-age", recipient, "Encrypt for this public key of age, as age-keygen prints it (age1...)"),
    passphraseFile: option(
      "passphrase-file",
      Schema.NonEmptyString,
      "Encrypt with the passphrase in this file, of at least 12 characters, which only you can read"
    ),
    versions: flag("versions", "Also earlier versions of secrets"),
    id: completedBy("export", option("id", idOf(ExportId), "Continue this export, which another owner has approved")),
    force: flag("force", "Replace a file that exists"),
    out
  },
  check: ({ id, passphraseFile, toAge, versions }) => {
    if ((passphraseFile === undefined) === (toAge.length === 0)) {
      return "say who can read the archive: --to-age with public keys, or --passphrase-file"
    }
    return id !== undefined && versions ? "--versions belongs to the export that --id names: leave it out" : undefined
  },
  run: ({ call, json, options, path }) =>
    Effect.gen(function* () {
      if (json && options.out === "-") {
        return yield* new WrongUsage({
          message: "--json and the archive would both be on standard output: name a file"
        })
      }
      const { exportOrganization } = yield* Effect.promise(() => import("../../archive/ExportOrganization.js"))
      return yield* exportOrganization(call, path.org_name, options)
    })
})

const columns = {
  id: ({ id }: OrganizationExport) => id,
  state: ({ state }: OrganizationExport) => state,
  "asked by": ({ created_by }: OrganizationExport) => created_by,
  "approved by": ({ approved_by }: OrganizationExport) => approved_by,
  versions: ({ versions }: OrganizationExport) => (versions ? "all" : "current"),
  until: ({ expires_at }: OrganizationExport) => momentCell(expires_at)
}

const list = atOrg("export list", {
  description: "List the exports that wait for another owner, or can be read",
  examples: ["coffer org export list"],
  options: { wide },
  run: ({ call, path }) =>
    Effect.map(
      call("exports", (api) => api.list({ path })),
      (exports) => listView(exports, columns, "there are no exports", ["id", "state", "asked by"])
    )
})

const id = completedBy("export", argument("ID", idOf(ExportId), "The export's id, as coffer org export list shows it"))

const approve = atOrg("export approve", {
  description: "Let another owner take the whole organization out, with all its secrets",
  examples: ["coffer org export approve 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df1"],
  options: { id, yes: flag("yes", "Do not ask") },
  run: ({ call, options: { id, yes }, path }) => approveExport(call, path, id, yes)
})

const end = atOrg("export end", {
  description: "End an export: it cannot be approved or read any more",
  examples: ["coffer org export end 0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df1"],
  options: { id },
  run: ({ call, options, path }) => endExport(call, path, options.id)
})

/** `coffer request` shows, approves and ends exports: these are the commands of earlier releases. */
export const exportCommands = [exportCommand, oldCommand(list), oldCommand(approve), oldCommand(end)] as const
