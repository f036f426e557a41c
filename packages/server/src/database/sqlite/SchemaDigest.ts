/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "fa6f8635775ca5e92cfe76972ae99445b42c154b36222adf34df407156488f5d"
