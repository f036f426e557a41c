/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "58ff97b1384c98c4876455e691da1c368d9463dced440aa89b6a0ee0c3e1ed74"
