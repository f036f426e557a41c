import { ArchivedDeclarations, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { ArchivedVersions } from "@coffer/domain/archive/ArchivedSecret"
import { type ExportedStructure, exportCursorOf, type OrganizationExport } from "@coffer/domain/archive/Export"
import type { ArchiveCounts } from "@coffer/domain/archive/Manifest"
import { defined } from "@coffer/domain/base/Defined"
import type { NotFound } from "@coffer/domain/errors/Errors"
import type { ExportId } from "@coffer/domain/base/Ids"
import type { OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { CannotDo, type Failure } from "../base/Failures.js"
import type { Call } from "../grammar/Command.js"
import type { Progress } from "../terminal/Progress.js"
import {
  countsOf,
  differing,
  maxArchiveBytes,
  nameOf,
  organizationName,
  type Place,
  type Tally,
  tallyOf
} from "./Contents.js"
import type { TarFile } from "./Tar.js"

interface ExportPath {
  readonly org_name: OrgName
  readonly export_id: ExportId
}

/** An organization as it was at one moment. */
export interface ReadOrganization {
  readonly structure: ExportedStructure
  readonly counts: ArchiveCounts
  /** All files of its archive but the manifest. */
  readonly files: ReadonlyArray<TarFile>
}

interface ReadPart {
  readonly content: Buffer
  readonly tally: Tally
}

interface ReadEnvironment {
  readonly revision: number
  readonly parts: ReadonlyArray<ReadPart>
  /** The cursor behind its last version; undefined if it has none. */
  readonly end: string | undefined
}

interface ReadDeclarations {
  readonly project: ProjectName
  readonly declarations: ArchivedDeclarations
}

/** How often all environments are compared, and read again if they have changed. */
const mostRounds = 5

const jsonOf = <A, I>(schema: Schema.Schema<A, I>) => {
  const encode = Schema.encode(Schema.parseJson(schema))
  return (record: A): Effect.Effect<Buffer> =>
    Effect.orDie(Effect.map(encode(record), (text) => Buffer.from(`${text}\n`)))
}

const versionsJson = jsonOf(ArchivedVersions)
const organizationJson = jsonOf(ArchivedOrganization)
const declarationsJson = jsonOf(ArchivedDeclarations)

const placesOf = ({ organization }: ExportedStructure): ReadonlyArray<Place> =>
  organization.projects.flatMap(({ environments, name: project }) =>
    environments.map(({ name: env }) => ({ project, env }))
  )

const sizeOf = (parts: ReadonlyArray<ReadPart>): number => parts.reduce((sum, { content }) => sum + content.length, 0)

const tooLarge = new CannotDo({
  message: `the organization is larger than an archive can be, ${maxArchiveBytes / 1024 / 1024} MiB: leave out --versions, or move the whole server with coffer-server database copy`
})

const readPage = (call: Call, path: ExportPath, { env, project }: Place, after: string | undefined) =>
  call("exports", (api) => api.secrets({ path, urlParams: { project, env, ...defined({ after }) } }))

/** Reads the pages of an environment, each as a file of the archive. None if the environment changes meanwhile. */
const readEnvironment = Effect.fnUntraced(function* (call: Call, path: ExportPath, place: Place, room: number) {
  const parts: Array<ReadPart> = []
  const { revision, ...first } = yield* readPage(call, path, place, undefined)
  let { data, next_cursor } = first
  let end: string | undefined
  for (;;) {
    const last = data.at(-1)
    if (last !== undefined) {
      end = exportCursorOf(last)
      parts.push({ content: yield* versionsJson({ data }), tally: tallyOf({ data }) })
    }
    if (sizeOf(parts) > room) return yield* tooLarge
    if (next_cursor === null) break
    const page = yield* readPage(call, path, place, next_cursor)
    if (page.revision !== revision) return undefined
    ;({ data, next_cursor } = page)
  }
  const read: ReadEnvironment = { revision, parts, end }
  return read
})

/** Returns undefined for an item that was removed in the meantime. The next structure no longer contains it. */
const unlessRemoved = <A, E extends Failure, R>(read: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    read,
    (failure: E): failure is Extract<E, NotFound> => failure._tag === "NotFound",
    () => Effect.succeed(undefined)
  )

/** The environments that were read, by name. */
type ReadEnvironments = Map<string, ReadEnvironment>

/** Reads the environments that are not read yet. */
const readMissing = Effect.fnUntraced(function* (
  call: Call,
  path: ExportPath,
  places: ReadonlyArray<Place>,
  read: ReadEnvironments,
  progress: Progress
) {
  for (const [index, place] of places.entries()) {
    if (read.has(nameOf(place))) continue
    yield* progress.step(index / places.length, `reading ${nameOf(place)}`)
    const size = sizeOf([...read.values()].flatMap(({ parts }) => parts))
    const environment = yield* unlessRemoved(readEnvironment(call, path, place, maxArchiveBytes - size))
    if (environment !== undefined) read.set(nameOf(place), environment)
  }
})

/** Forgets the environments that have changed since they were read. */
const forgetChanged = Effect.fnUntraced(function* (
  call: Call,
  path: ExportPath,
  places: ReadonlyArray<Place>,
  read: ReadEnvironments,
  progress: Progress
) {
  for (const [index, place] of places.entries()) {
    const known = read.get(nameOf(place))
    if (known === undefined) continue
    yield* progress.step(index / places.length, `comparing ${nameOf(place)}`)
    const page = yield* unlessRemoved(readPage(call, path, place, known.end))
    if (page?.revision !== known.revision) read.delete(nameOf(place))
  }
})

const readDeclarations = (call: Call, path: ExportPath, { organization }: ExportedStructure) =>
  Effect.forEach(organization.projects, ({ name: project }) =>
    Effect.map(
      unlessRemoved(call("exports", (api) => api.declared({ path, urlParams: { project } }))),
      (declarations = { data: [] }): ReadDeclarations => ({ project, declarations })
    )
  )

const filesOf = Effect.fnUntraced(function* (
  structure: ExportedStructure,
  read: ReadEnvironments,
  declared: ReadonlyArray<ReadDeclarations>
) {
  const files: Array<TarFile> = [{ name: organizationName, content: yield* organizationJson(structure.organization) }]
  for (const { declarations, project } of declared) {
    if (declarations.data.length === 0) continue
    files.push({ name: `projects/${project}/declared.json`, content: yield* declarationsJson(declarations) })
  }
  for (const place of placesOf(structure)) {
    const parts = read.get(nameOf(place))?.parts ?? []
    files.push(...parts.map(({ content }, index) => ({ name: `projects/${nameOf(place)}/${index + 1}.json`, content })))
  }
  return files
})

/**
 * Reads an organization as it was at one moment: after everything is read, no environment may have changed. The moment is
 * between the last read and the first comparison, as that of the structure.
 */
export const readOrganization = Effect.fnUntraced(function* (
  call: Call,
  { id }: OrganizationExport,
  org_name: OrgName,
  progress: Progress
) {
  const path: ExportPath = { org_name, export_id: id }
  const readStructure = call("exports", (api) => api.structure({ path }))
  const read: ReadEnvironments = new Map()
  let structure = yield* readStructure
  for (let round = 0; round < mostRounds; round++) {
    yield* readMissing(call, path, placesOf(structure), read, progress)
    const declared = yield* readDeclarations(call, path, structure)
    structure = yield* readStructure
    const places = placesOf(structure)
    yield* forgetChanged(call, path, places, read, progress)
    const counts = countsOf(
      structure.organization,
      declared.map(({ declarations }) => declarations),
      places.flatMap((place) => (read.get(nameOf(place))?.parts ?? []).map(({ tally }) => tally))
    )
    const isWhole = places.every((place) => read.has(nameOf(place)))
    if (!isWhole || differing(counts, structure.counts).length > 0) continue
    const whole: ReadOrganization = { structure, counts, files: yield* filesOf(structure, read, declared) }
    return whole
  }
  return yield* new CannotDo({
    message: `${org_name} changes faster than it can be read: export again when fewer people and programs write`
  })
})
