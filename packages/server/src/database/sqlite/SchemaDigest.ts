/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "71b981b5e9f7e4efcadba8ba8b4f250dad6aeee14a9a38cdace9d8ef135dafea"
