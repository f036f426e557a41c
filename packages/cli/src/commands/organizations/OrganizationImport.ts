import { OrgName } from "@coffer/domain/base/Names"
import { withMessage } from "@coffer/domain/base/Message"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { command, json, nonInteractive, serverUrl } from "../../grammar/Command.js"
import { argument, option } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"

/** With `--plan`, it needs no server. */
export const importCommand = command("import", {
  description: "Make an organization from the file of coffer org export; you become an owner of it",
  examples: [
    "coffer org import acme.age --identity key.txt --plan",
    "coffer org import acme.age --identity key.txt --as acme-copy"
  ],
  options: {
    serverUrl,
    nonInteractive,
    json,
    file: argument(
      "FILE",
      Schema.NonEmptyString.annotations(withMessage("FILE is empty: name a file, or - for standard input")),
      "The archive to read; - is standard input"
    ),
    identity: option(
      "identity",
      Schema.NonEmptyString,
      "Decrypt with the private keys in this file, as age-keygen writes it"
    ),
    passphraseFile: option("passphrase-file", Schema.NonEmptyString, "Decrypt with the passphrase in this file"),
    as: option("as", OrgName, "The name of the new organization; the archive's own when left out"),
    plan: flag("plan", "Check the file and show what would be made, and send nothing")
  },
  check: ({ identity, passphraseFile }) =>
    (identity === undefined) === (passphraseFile === undefined)
      ? "say how to decrypt the archive: --identity or --passphrase-file"
      : undefined,
  run: (options) =>
    Effect.flatMap(
      Effect.promise(() => import("../../archive/ImportOrganization.js")),
      ({ importOrganization }) => importOrganization(options)
    )
})
