/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "ec63e03504c694e24613c10ebf8f0e3192a5b2d5c4ccaa2f0e8e3999896ff5ba"
