/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "7815e616ac02552929ffb08b015578cff02a2e2ce2053214a006b9b8e0ff8915"
