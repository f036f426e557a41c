/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "5a17838d0d8cc352aef3aff62d44c6367bf398ab38f3b92c75ba7a9488fafe93"
