import { assert, describe, it } from "@effect/vitest"
import { ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { ArchivedVersions } from "@coffer/domain/archive/ArchivedSecret"
import type { ExportedStructure, OrganizationExport } from "@coffer/domain/archive/Export"
import { OrganizationExport as ExportSchema } from "@coffer/domain/archive/Export"
import { OrgName } from "@coffer/domain/base/Names"
import { Effect, Schema } from "effect"
import fc from "fast-check"
import { createHash } from "node:crypto"
import type { Json } from "../../../server/test/support/Program.js"
import { runs } from "../../../domain/test/support/Runs.js"
import { countsOf, tallyOf } from "../../src/archive/Contents.js"
import { pack } from "../../src/archive/Pack.js"
import { readTar, type TarFile, tarOf } from "../../src/archive/Tar.js"
import { unpack, versionsOf } from "../../src/archive/Unpack.js"

const time = "2026-01-31T12:00:00.000Z"

const organization = Schema.decodeUnknownSync(ArchivedOrganization)({
  passkey_recovery: "login",
  members: [{ email: "ada@example.com", role: "owner" }],
  groups: [],
  mappings: [],
  projects: [{ name: "webshop", strict: false, environments: [{ name: "dev" }, { name: "prod" }] }],
  accounts: [],
  rules: [],
  webhooks: []
})

const granted: OrganizationExport = Schema.decodeUnknownSync(ExportSchema)({
  id: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1df1",
  state: "ready",
  versions: true,
  created_by: "ada@example.com",
  created_at: time,
  expires_at: time
})

const json = (record: unknown) => Buffer.from(`${JSON.stringify(record)}\n`)
const version = (key: string, value: string, fields: object = { current: { use_rules: [] } }) => ({
  ...{ key, version: 1, value, created_at: time, created_by: "ada@example.com" },
  ...fields
})

/** The archive of an organization with these files of versions. */
const packed = (parts: Readonly<Record<string, ReadonlyArray<object>>>) =>
  Effect.gen(function* () {
    const files = Object.entries(parts).map(([name, data]) => ({ name, content: json({ data }) }))
    const tallies = files.map(({ content }) =>
      tallyOf(Schema.decodeUnknownSync(Schema.parseJson(ArchivedVersions))(content.toString()))
    )
    const counts = countsOf(organization, [], tallies)
    const structure: ExportedStructure = { name: OrgName.make("acme"), server: "0.3.0", counts, organization }
    const named = { name: "organization.json", content: json(Schema.encodeSync(ArchivedOrganization)(organization)) }
    return Buffer.concat(yield* pack(granted, { structure, counts, files: [named, ...files] }))
  })

const whole = packed({
  "projects/webshop/dev/1.json": [version("A", "dev-canary"), version("A", "old", { version: 1 })],
  "projects/webshop/prod/1.json": [version("B", "prod-canary")]
})

const filesIn = (tar: Buffer): ReadonlyArray<TarFile> => Effect.runSync(readTar(tar))
const again = (files: ReadonlyArray<TarFile>) => Buffer.concat(tarOf(files, 0))

/** The archive with another content of a file. Its manifest is corrected if the change is another manifest's. */
const changed = (name: string, change: (record: Json) => unknown, isTold = true) =>
  Effect.map(whole, (tar) => {
    const files = filesIn(tar).map((file) =>
      file.name === name ? { name, content: json(change(JSON.parse(file.content.toString()))) } : file
    )
    const digests = new Map(files.map((file) => [file.name, createHash("sha256").update(file.content).digest("hex")]))
    const told = (manifest: Json) => ({
      ...manifest,
      files: manifest.files.map(({ path }: Json) => ({ path, sha256: digests.get(path) }))
    })
    return again(
      files.map((file) =>
        file.name === "coffer.json" && isTold && name !== "coffer.json"
          ? { ...file, content: json(told(JSON.parse(file.content.toString()))) }
          : file
      )
    )
  })

const refusal = (tar: Buffer) =>
  unpack("acme.age", tar).pipe(
    Effect.flip,
    Effect.map(({ message }) => message)
  )

const value = fc.string({ unit: "binary", maxLength: 200 })

describe("an archive", () => {
  it.effect("is read as it was written, with its manifest last", () =>
    Effect.gen(function* () {
      const values = fc.sample(value, runs(200))
      const tar = yield* packed({
        "projects/webshop/dev/1.json": values.map((each, index) => version(`K${index}`, each))
      })
      const names = filesIn(tar).map(({ name }) => name)
      assert.deepStrictEqual(names, ["organization.json", "projects/webshop/dev/1.json", "coffer.json"])
      const archive = yield* unpack("acme.age", tar)
      assert.deepStrictEqual(archive.organization, organization)
      assert.strictEqual(archive.manifest.counts.secrets, values.length)
      const [part] = archive.parts
      const { data } = yield* versionsOf(part ?? assert.fail("it has no part"))
      const read = Schema.encodeSync(ArchivedVersions)({ data }).data.map((each) => each.value)
      assert.deepStrictEqual(read, values)
    })
  )

  it.effect("is refused with one sentence, without a value, for whatever is not as its manifest says", () =>
    Effect.gen(function* () {
      const tar = yield* whole
      const files = filesIn(tar)
      const dev = "projects/webshop/dev/1.json"
      const without = (name: string) => files.filter((file) => file.name !== name)
      const stray = (name: string) => [...files, { name, content: Buffer.from("{}") }]
      const refusals = [
        [again([]), "is no archive of an organization: it holds no coffer.json"],
        [again(without("coffer.json")), "is no archive of an organization: it holds no coffer.json"],
        [
          yield* changed("coffer.json", (all) => ({ ...all, format: 2 })),
          "is in format 2 of archives, which is newer than this client: update coffer"
        ],
        [
          yield* changed("coffer.json", (all) => ({ ...all, more: 1 })),
          "holds coffer.json, which is not as the format has it: see more"
        ],
        [
          yield* changed("coffer.json", (all) => ({
            ...all,
            files: [{ path: "projects/../prod/1.json", sha256: "" }]
          })),
          "holds coffer.json, which is not as the format has it: see files.0.path"
        ],
        [
          yield* changed("coffer.json", (all) => ({ ...all, files: [...all.files, all.files[0]] })),
          "names a file twice in coffer.json"
        ],
        [again(without(dev)), `lacks ${dev}, which coffer.json names`],
        [
          again(stray("projects/webshop/dev/2.json")),
          "holds projects/webshop/dev/2.json, which coffer.json does not name"
        ],
        [again(stray("../../etc/passwd")), "holds ../../etc/passwd, which coffer.json does not name"],
        [again([...files, ...files.slice(1, 2)]), `holds ${dev} twice`],
        [
          yield* changed(dev, ({ data }) => ({ data: data.slice(1) }), false),
          `holds another ${dev} than coffer.json says: its digest differs`
        ],
        [yield* changed(dev, ({ data }) => ({ data: data.slice(1) })), "holds 1 secrets, and coffer.json says 2"],
        [
          yield* changed("coffer.json", (all) => ({ ...all, counts: { ...all.counts, rules: 7 } })),
          "holds 0 rules, and coffer.json says 7"
        ],
        [
          yield* changed(dev, () => ({ data: [version("A", "x".repeat(70_000))] })),
          `holds ${dev}, which is not as the format has it: see data.0.value`
        ],
        [
          yield* changed(dev, () => ({ data: [{ ...version("A", "canary"), version: 0 }] })),
          `holds ${dev}, where version 0 of A is impossible`
        ],
        [
          yield* changed("organization.json", (all) => ({ ...all, projects: [] })),
          `holds ${dev}, and no project webshop`
        ],
        [
          yield* changed("organization.json", (all) => ({
            ...all,
            projects: [{ name: "webshop", strict: false, environments: [{ name: "prod" }] }]
          })),
          `holds ${dev}, and no environment webshop/dev`
        ]
      ] as const
      for (const [bytes, said] of refusals) assert.strictEqual(yield* refusal(bytes), `acme.age ${said}`)
    })
  )
})
