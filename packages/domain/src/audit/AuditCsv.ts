/** Audit entries as comma-separated values (RFC 4180), for spreadsheets. */
import type { AuditEntry } from "./AuditEntry.js"
import { auditSentence } from "./AuditSentence.js"
import { csvLine } from "../base/CsvLine.js"

const text = (value: unknown): string | null => (typeof value === "string" ? value : null)

const columns = {
  number: ({ seq }: AuditEntry) => seq,
  time: ({ created_at }: AuditEntry) => created_at,
  actor: ({ actor_name }: AuditEntry) => actor_name,
  actor_type: ({ actor_type }: AuditEntry) => actor_type,
  action: ({ action }: AuditEntry) => action,
  sentence: auditSentence,
  project: ({ metadata }: AuditEntry) => text(metadata["project"]),
  environment: ({ metadata }: AuditEntry) => text(metadata["env"]),
  key: ({ metadata }: AuditEntry) => text(metadata["key"]),
  address: ({ ip_address }: AuditEntry) => ip_address,
  resource_type: ({ resource_type }: AuditEntry) => resource_type,
  resource_id: ({ resource_id }: AuditEntry) => resource_id,
  details: ({ metadata }: AuditEntry) => JSON.stringify(metadata)
} as const

/** The names of the columns. */
export const auditCsvHead = csvLine(Object.keys(columns))

/** One line for each entry. */
export const auditCsv = (entries: ReadonlyArray<AuditEntry>): string =>
  entries.map((entry) => csvLine(Object.values(columns).map((cell) => cell(entry)))).join("")
