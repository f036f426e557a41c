/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "55a60f682b2993e11888151738db159fbc8dc279e0c6131e229f77f43ade79aa"
