/** Audit entries as comma-separated values (RFC 4180), for spreadsheets. */
import type { AuditEntry } from "./AuditEntry.js"
import { auditSentence } from "./AuditSentence.js"
import { escapeInvisible } from "../base/Invisible.js"

type Cell = string | number | null

/** Spreadsheets run a cell that begins like this as a formula. Some start a cell at a semicolon as well, even within quotes. */
const formula = /((?:^|;)\s*)(?=[=+\-@\uFF0B\uFF0D\uFF1D\uFF20])/gu

const field = (cell: Cell): string => {
  if (typeof cell !== "string") return String(cell ?? "")
  // An apostrophe makes it a text. Without control characters, an entry is one line.
  const text = escapeInvisible(cell).replaceAll(formula, "$1'")
  return /[",;']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const line = (cells: ReadonlyArray<Cell>): string => `${cells.map(field).join(",")}\r\n`

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
export const auditCsvHead = line(Object.keys(columns))

/** One line for each entry. */
export const auditCsv = (entries: ReadonlyArray<AuditEntry>): string =>
  entries.map((entry) => line(Object.values(columns).map((cell) => cell(entry)))).join("")
