/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "fa3aaad16102fa666975c79290b10c1dc8aaf970e65ce406721d2bf2426ac874"
