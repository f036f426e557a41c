/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "9df6f3c893064363d76b219586324950ac5d84f39587a8ab848586074fc09317"
