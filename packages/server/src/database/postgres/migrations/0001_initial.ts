import { auditTables } from "./0001/AuditTables.js"
import { featureTables } from "./0001/FeatureTables.js"

/** The schema that SQLite's migrations 1 to 10 make. */
export const initial: ReadonlyArray<string> = [...featureTables, ...auditTables]
