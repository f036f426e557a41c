import { ArchivedDeclarations, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { archiveFormat, ArchiveManifest } from "@coffer/domain/archive/Manifest"
import { ArchivedVersions, versionProblem } from "@coffer/domain/archive/ArchivedSecret"
import { brokenRules } from "@coffer/domain/errors/BrokenRules"
import type { ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { BadArchive } from "../base/BadArchive.js"
import { countsOf, differing, manifestName, organizationName, type Place, type Tally, tallyOf } from "./Contents.js"
import { readTar } from "./Tar.js"

/** A file with versions of secrets. It is decoded when it is sent, so that an archive takes little more memory than its bytes. */
export interface Part extends Place {
  readonly name: string
  readonly content: Buffer
  readonly tally: Tally
}

/** An archive that is what its manifest says. */
export interface Archive {
  readonly manifest: ArchiveManifest
  readonly organization: ArchivedOrganization
  readonly declared: ReadonlyArray<{ readonly project: ProjectName; readonly declarations: ArchivedDeclarations }>
  readonly parts: ReadonlyArray<Part>
}

/** Decodes a file of an archive. The sentence names the place of what is wrong, and never the value. */
const decoder = <A, I>(schema: Schema.Schema<A, I>) => {
  const decode = Schema.decodeUnknownEither(Schema.parseJson(schema))
  return (name: string, content: Buffer): Either.Either<A, string> =>
    Either.mapLeft(decode(content.toString()), (error) => {
      const path = brokenRules(error)[0]?.path.map(String).join(".") ?? ""
      return `holds ${name}, which is not as the format has it${path === "" ? "" : `: see ${path}`}`
    })
}

const decodeManifest = decoder(ArchiveManifest)
const decodeOrganization = decoder(ArchivedOrganization)
const decodeDeclarations = decoder(ArchivedDeclarations)
const decodeVersions = decoder(ArchivedVersions)
const decodeFormat = decoder(Schema.Struct({ format: Schema.Number }))

/** Decodes a part, with the rules that its schema cannot express. */
const readPart = (name: string, content: Buffer): Either.Either<ArchivedVersions, string> =>
  Either.flatMap(decodeVersions(name, content), (versions) => {
    const wrong = versions.data.find((version) => versionProblem(version) !== null)
    return wrong === undefined
      ? Either.right(versions)
      : Either.left(`holds ${name}, where version ${wrong.version} of ${wrong.key} is impossible`)
  })

/** Returns the versions of a part. They were checked before. */
export const versionsOf = ({ content, name }: Part): Effect.Effect<ArchivedVersions> =>
  Effect.orDie(readPart(name, content))

const readManifest = (content: Buffer | undefined): Either.Either<ArchiveManifest, string> => {
  if (content === undefined) return Either.left("is no archive of an organization: it holds no coffer.json")
  return Either.flatMap(decodeFormat(manifestName, content), ({ format }) =>
    format > archiveFormat
      ? Either.left(`is in format ${format} of archives, which is newer than this client: update coffer`)
      : decodeManifest(manifestName, content)
  )
}

/** The files that the manifest names, each with its digest, and no others. */
const checkFiles = ({ files }: ArchiveManifest, contents: ReadonlyMap<string, Buffer>): Either.Either<void, string> => {
  const named = new Set(files.map(({ path }) => path))
  const unknown = [...contents.keys()].find((name) => name !== manifestName && !named.has(name))
  if (unknown !== undefined) return Either.left(`holds ${unknown}, which coffer.json does not name`)
  if (named.size < files.length) return Either.left("names a file twice in coffer.json")
  const lacked = files.find(({ path }) => !contents.has(path))
  if (lacked !== undefined) return Either.left(`lacks ${lacked.path}, which coffer.json names`)
  const changed = files.find(
    ({ path, sha256 }) =>
      createHash("sha256")
        .update(contents.get(path) ?? "")
        .digest("hex") !== sha256
  )
  return changed === undefined
    ? Either.void
    : Either.left(`holds another ${changed.path} than coffer.json says: its digest differs`)
}

const read = Effect.fnUntraced(function* (tar: Buffer) {
  const contents = new Map((yield* readTar(tar)).map(({ content, name }) => [name, content]))
  const manifest = yield* readManifest(contents.get(manifestName))
  yield* checkFiles(manifest, contents)
  const organization = yield* decodeOrganization(organizationName, contents.get(organizationName) ?? Buffer.of())
  const declared: Array<Archive["declared"][number]> = []
  const parts: Array<Part> = []
  for (const { path: name } of manifest.files) {
    const [, projectName, place] = name.split("/")
    if (projectName === undefined) continue
    // Files are large: let a signal interrupt between them.
    yield* Effect.yieldNow()
    const content = contents.get(name) ?? Buffer.of()
    const project = organization.projects.find((each) => each.name === projectName)
    if (project === undefined) return yield* Either.left(`holds ${name}, and no project ${projectName}`)
    if (place === "declared.json") {
      declared.push({ project: project.name, declarations: yield* decodeDeclarations(name, content) })
      continue
    }
    const env = project.environments.find((each) => each.name === place)
    if (env === undefined) return yield* Either.left(`holds ${name}, and no environment ${projectName}/${place}`)
    const tally = tallyOf(yield* readPart(name, content))
    parts.push({ project: project.name, env: env.name, name, content, tally })
  }
  const archive: Archive = { manifest, organization, declared, parts }
  const counts = countsOf(
    organization,
    declared.map(({ declarations }) => declarations),
    parts.map(({ tally }) => tally)
  )
  const [wrong] = differing(counts, manifest.counts)
  return wrong === undefined
    ? archive
    : yield* Either.left(`holds ${wrong.numbers[0]} ${wrong.name}, and coffer.json says ${wrong.numbers[1]}`)
})

/**
 * Reads an archive, and checks everything that can be checked without the server.
 *
 * @param name the file's name, for messages.
 */
export const unpack = (name: string, tar: Buffer): Effect.Effect<Archive, BadArchive> =>
  Effect.mapError(read(tar), (problem) => new BadArchive({ message: `${name} ${problem}` }))
