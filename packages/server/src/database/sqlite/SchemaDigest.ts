/** Written by scripts/migrations.mjs. The digest of the schema that all migrations make, in hex. */
export const schemaDigest = "f6fd05ede7421c41a33ccdb5d310912ed00e38e1c0adce7866a97142a138528e"
