/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "0c59e368b419ad1ec3af069225ac0c38b3f79c83afd3b8f711d6d2af0fa43ea5"
