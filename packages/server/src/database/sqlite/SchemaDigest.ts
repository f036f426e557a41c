/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "97f8c5066e1d4a1926274566bdda05088f3df54237911b48b4f382d526d6ab10"
