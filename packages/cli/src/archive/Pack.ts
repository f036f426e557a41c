import type { OrganizationExport } from "@coffer/domain/archive/Export"
import { archiveFormat, ArchiveManifest } from "@coffer/domain/archive/Manifest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { manifestName } from "./Contents.js"
import type { ReadOrganization } from "./ReadOrganization.js"
import { tarOf } from "./Tar.js"

const encodeManifest = Schema.encode(Schema.parseJson(ArchiveManifest))

/** The parts of the archive of an organization, its manifest last: it has the digests of all other files. */
export const pack = Effect.fnUntraced(function* (
  { created_by, versions }: OrganizationExport,
  { counts, files, structure }: ReadOrganization
) {
  const now = yield* Clock.currentTimeMillis
  const digests = files.map(({ content, name }) => ({
    path: name,
    sha256: createHash("sha256").update(content).digest("hex")
  }))
  const manifest: ArchiveManifest = {
    format: archiveFormat,
    server: structure.server,
    organization: structure.name,
    created_at: new Date(now).toISOString(),
    created_by,
    versions,
    counts,
    files: digests
  }
  const content = Buffer.from(`${yield* Effect.orDie(encodeManifest(manifest))}\n`)
  return tarOf([...files, { name: manifestName, content }], Math.floor(now / 1000))
})
