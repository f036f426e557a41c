import {
  type ArchivedEntry,
  archiveFormat,
  type ArchiveHeader,
  ArchiveHeader as Header,
  EntryLine,
  HeaderLine,
  type ArchiveTrailer,
  TrailerLine
} from "@coffer/domain/audit/AuditArchive"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash, createHmac, type KeyObject } from "node:crypto"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import { link, sameLink } from "../../audit/Chain.js"
import { pacing } from "../../base/EventLoop.js"

/** An archive that is not what the server wrote. `message` completes "the archive …". */
export class ArchiveDamaged extends Data.TaggedError("ArchiveDamaged")<{ readonly message: string }> {}

/** More than an archive holds: a small file can decompress to any size. */
const maxBytes = 64 * 1024 * 1024

const compress = promisify(gzip)
const decompress = promisify(gunzip)

const damaged = (message: string) => new ArchiveDamaged({ message })

export const sha256Of = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** Authenticates an archive by its first line, all lines before the last, and what the last says of them. */
const macOf = (key: KeyObject, text: string, { chain, entries }: Omit<ArchiveTrailer, "mac">): string =>
  createHmac("sha256", key)
    .update(JSON.stringify([archiveFormat, entries, chain, createHash("sha256").update(text).digest("hex")]))
    .digest("hex")

const encodeHeader = Schema.encodeSync(Schema.parseJson(Header))

/** The content of an archive: the entries of a closed range, in order. */
export interface Archive {
  readonly header: ArchiveHeader
  readonly entries: ReadonlyArray<ArchivedEntry>
}

/** Returns the bytes of an archive, compressed and signed. */
export const sealArchive = (key: KeyObject, { entries, header }: Archive) =>
  Effect.gen(function* () {
    const pace = pacing()
    const lines = [encodeHeader(header)]
    for (const entry of entries) {
      lines.push(JSON.stringify(entry))
      yield* pace
    }
    const text = lines.join("\n") + "\n"
    const end = { entries: entries.length, chain: entries.at(-1)?.chain ?? header.previous }
    const trailer = JSON.stringify({ ...end, mac: macOf(key, text, end) } satisfies ArchiveTrailer)
    return yield* Effect.promise(() => compress(`${text}${trailer}\n`))
  })

const decodeHeader = Schema.decodeUnknown(HeaderLine)
const decodeEntry = Schema.decodeUnknown(EntryLine)
const decodeTrailer = Schema.decodeUnknown(TrailerLine)

/** Opens an archive and verifies its signature and the link of every entry. */
export const openArchive = (key: KeyObject, content: Uint8Array): Effect.Effect<Archive, ArchiveDamaged> =>
  Effect.gen(function* () {
    const text = yield* Effect.tryPromise({
      try: async () => (await decompress(content, { maxOutputLength: maxBytes })).toString("utf8"),
      catch: () => damaged("cannot be decompressed")
    })
    const malformed = Effect.mapError(() => damaged("is not an archive of an audit log"))
    const end = text.lastIndexOf("\n", text.length - 2) + 1
    const trailer = yield* malformed(decodeTrailer(text.slice(end)))
    const signed = text.slice(0, end)
    if (!sameLink(trailer.mac, macOf(key, signed, trailer))) {
      return yield* damaged("has no valid signature: it was changed, or is of another server")
    }
    const [first = "", ...lines] = signed.slice(0, -1).split("\n")
    const header = yield* malformed(decodeHeader(first))
    const pace = pacing()
    const entries: Array<ArchivedEntry> = []
    let chain = header.previous
    for (const line of lines) {
      const entry = yield* malformed(decodeEntry(line))
      const { chain: found, seq, created_at, ...draft } = entry
      const expected = link(key, chain, { ...draft, log: header.log }, { seq, created_at })
      if (seq !== header.first_seq + entries.length || !sameLink(found, expected)) {
        return yield* damaged(`does not verify from entry ${header.first_seq + entries.length} on`)
      }
      chain = expected
      entries.push(entry)
      yield* pace
    }
    if (entries.length !== trailer.entries || header.last_seq !== header.first_seq + entries.length - 1) {
      return yield* damaged("lacks entries")
    }
    return { header, entries }
  })
