/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "bbe2017642ed1c99f6b3626440fbf40ff29d1b2d165bfb1f3f420a9b2bb804d5"
