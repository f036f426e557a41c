import * as Data from "effect/Data"

/** A file is no archive of an organization, is damaged, or cannot be decrypted. The message says which, and what to do. */
export class BadArchive extends Data.TaggedError("BadArchive")<{ readonly message: string }> {}
