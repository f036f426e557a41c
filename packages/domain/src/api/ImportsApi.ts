import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { ArchivedDeclaration, maxStructureBytes, StructureLines } from "../archive/ArchivedOrganization.js"
import { maxRecordsAtOnce } from "../archive/Calls.js"
import { ArchivedVersion, exampleVersion } from "../archive/ArchivedSecret.js"
import { ImportFinished, OrganizationImport } from "../archive/Import.js"
import { SentCounts } from "../archive/Manifest.js"
import { Conflict, DecryptionFailed, LimitExceeded, ReferenceRefused } from "../errors/Errors.js"
import { ImportId } from "../base/Ids.js"
import { EnvName, OrgName, ProjectName, SecretKey } from "../base/Names.js"
import { body, boundedArray, field, optional } from "../base/Schemas.js"
import { Admission, BodyLimit, RecentLogin, recentLogin, requires, ValueFlow } from "./Requirement.js"
import { response } from "./Response.js"

const imports = "/api/imports"
const oneImport = `${imports}/:import_id` as const
const ImportPath = Schema.Struct({ import_id: ImportId })

const project = field(ProjectName, "the project")

/** Some records of a file: as many as are decoded in one piece. */
const records = <A, I>(item: Schema.Schema<A, I>, name: string, what: string, example: A) =>
  field(
    boundedArray(item, {
      items: { $ref: `#/components/schemas/${name}` },
      max: maxRecordsAtOnce,
      text: `at most ${maxRecordsAtOnce} records at once`
    }),
    what,
    [example]
  )

export class ImportsApi extends HttpApiGroup.make("imports")
  .add(
    HttpApiEndpoint.post("create", imports)
      .setPayload(
        body({
          name: field(OrgName, "the name of the new organization"),
          organization: field(
            StructureLines,
            "its structure in lines of JSON, each an object with one record of a list of `organization.json` or with another field; a list without lines is empty"
          )
        })
      )
      .addSuccess(response(OrganizationImport, "The import"), { status: 201 })
      .pipe(requires("org.create"), recentLogin("always"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(BodyLimit, maxStructureBytes)
      .annotate(OpenApi.Summary, "Start to import an organization")
      .annotate(
        OpenApi.Description,
        "Makes the organization with its structure, invisible until `finish`. The caller becomes an owner. Nobody is mailed. Everything is checked first, and nothing is written if something does not fit. Service accounts get no keys; webhooks start disabled, with new signing keys. An import that is not finished within 24 hours is removed."
      )
  )
  .add(
    HttpApiEndpoint.put("declared", `${oneImport}/declared`)
      .setPath(ImportPath)
      .setPayload(
        body({
          project,
          data: records(ArchivedDeclaration, "ArchivedDeclaration", "some of its declared keys", {
            key: SecretKey.make("DATABASE_URL"),
            required_in: [EnvName.make("prod")]
          })
        })
      )
      .addSuccess(response(HttpApiSchema.NoContent, "The keys are declared"))
      .pipe(requires("org.create"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Import declared keys of a project")
      .annotate(OpenApi.Description, "Only for the importer. At most 200 at once. The same call again changes nothing.")
  )
  .add(
    HttpApiEndpoint.put("secrets", `${oneImport}/secrets`)
      .setPath(ImportPath)
      .setPayload(
        body({
          project,
          env: field(EnvName, "the environment"),
          data: records(
            ArchivedVersion,
            "ArchivedVersion",
            "versions of its secrets, each after the one before it",
            exampleVersion
          )
        })
      )
      .addSuccess(response(HttpApiSchema.NoContent, "The secrets are written"))
      .pipe(requires("org.create"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(ValueFlow, "given")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, 16 * 1024 * 1024)
      .annotate(OpenApi.Summary, "Import secrets of an environment")
      .annotate(
        OpenApi.Description,
        "Only for the importer. At most 200 versions at once, all or nothing. Their numbers, times and authors stay. The same call again changes nothing; CONFLICT if a version exists with other content, or if the one before it does not exist."
      )
  )
  .add(
    HttpApiEndpoint.post("finish", `${oneImport}/finish`)
      .setPath(ImportPath)
      .setPayload(
        body({
          counts: field(SentCounts, "how many records were sent"),
          name: optional(
            OrgName,
            "another name than the import was started with, if somebody else took that meanwhile",
            OrgName.make("acme-inc")
          )
        })
      )
      .addSuccess(response(ImportFinished, "The organization"))
      .pipe(requires("org.create"))
      .addError(Conflict)
      .addError(ReferenceRefused)
      .addError(LimitExceeded)
      .addError(DecryptionFailed)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Verify an imported organization, and make it visible")
      .annotate(
        OpenApi.Description,
        "Only for the importer. Decrypts every value, checks its digest, compares the counts, and checks the references as a write does: REFERENCE_REFUSED for a secret that refers to itself, while one that refers to a missing secret is noted in `left_out`. Writes the rest in steps, and makes it visible at the end; after a call that was cut off, the next one goes on where it was. CONFLICT if something is missing, or if the name was taken meanwhile: nothing is visible then, and the import can go on, under another `name` too."
      )
  )
  .add(
    HttpApiEndpoint.del("abandon", oneImport)
      .setPath(ImportPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The import is given up"))
      .pipe(requires("org.create"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Give up an import")
      .annotate(OpenApi.Description, "Only for the importer. The server removes what was sent.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Imports")
  .annotate(OpenApi.Description, "Bringing an organization from an archive, as docs/move-organizations.md describes") {}
