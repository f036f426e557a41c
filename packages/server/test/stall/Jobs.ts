import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import Sqlite from "better-sqlite3"
import type { Program, Variables } from "../support/Program.js"
import type { Limits } from "./Limits.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

/** Work that a server does by itself. It is measured from when the server listens, or from `begin` on, until `end`. */
export interface Job {
  readonly variables?: Variables
  /** Run on the database before the server starts. */
  readonly sql?: string
  readonly begin?: (program: Program) => Promise<void>
  readonly end: (program: Program, limits: Limits) => Promise<void>
}

/** Waits until something holds. */
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  while (!(await holds())) await sleep(100)
}

/** The round empties the write-ahead log last. */
const isOver = (program: Program) => () => Promise.resolve(statSync(program.file("-wal")).size === 0)

/** How many refused reads each of ten callers sends. */
const refusedReads = isSoak ? 300 : 60

export const jobs = {
  "the hour's round": {
    begin: async (program) => {
      await until(isOver(program))
      const database = new Sqlite(program.file())
      // A write-ahead log of 64 MiB, as after some minutes in which somebody read.
      database.pragma("wal_autocheckpoint = 0")
      database.exec(`INSERT INTO login_failures (id, email, created_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
        SELECT 'large ' || i, printf('%d%.*c', i, 3000, 'x'), strftime('%Y-%m-%dT%H:%M:%fZ') FROM n`)
      database.exec(`INSERT INTO login_failures (id, email, created_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        SELECT 'failure ' || i, 'ada@example.com', '2026-01-01T00:00:00.000Z' FROM n`)
      database.close()
    },
    end: (program) =>
      until(() => {
        // The one before may not have come to its sleep yet.
        program.signal("SIGHUP")
        return isOver(program)()
      })
  },
  "the audit stream": {
    variables: { SERVICE_AUDIT_STREAM: "stream.jsonl" },
    end: async (program) => {
      const size = () => readFileSync(join(program.folder, "stream.jsonl")).length
      for (let before = -1; before !== size(); await sleep(1_000)) before = size()
    }
  },
  "the search index of the audit logs": {
    sql: "UPDATE audit_indexed SET seq = 0",
    end: async (program) => {
      const behind = () => {
        const database = new Sqlite(program.file(), { readonly: true })
        const [count] = database
          .prepare<[], number>(
            "SELECT count(*) FROM audit_heads h JOIN audit_indexed i ON i.log = h.log AND i.seq < h.seq"
          )
          .pluck()
          .all()
        database.close()
        return count
      }
      await until(() => Promise.resolve(behind() === 0))
    }
  },
  "a scheduled backup": {
    variables: { BACKUP_SCHEDULE_HOURS: "1" },
    end: (program, { credentials }) =>
      until(async () => {
        const { body } = await program.call("GET", "/api/backups", { token: credentials.root })
        return body.data.length > 0
      })
  },
  "the entries of many refused reads": {
    end: async (program, { credentials: { powerless: token }, org }) => {
      const refusals = async () => {
        for (let reads = 0; reads < refusedReads; reads++) {
          const { status } = await program.call("GET", `/api/orgs/${org}/projects/web/envs/full/bundle`, { token })
          if (status !== 403) throw new Error(`a read was not refused: ${status}`)
        }
      }
      await Promise.all(Array.from({ length: 10 }, refusals))
      await sleep(200)
    }
  },
  "the entries about 2,000 due secrets": {
    sql: "UPDATE secret_dues SET event_at = due_at WHERE env_id = (SELECT env_id FROM secret_dues LIMIT 1)",
    end: (program) =>
      until(() => {
        const database = new Sqlite(program.file(), { readonly: true })
        const left = database.prepare("SELECT count(*) FROM secret_dues WHERE event_at IS NOT NULL").pluck().get()
        database.close()
        return Promise.resolve(left === 0)
      })
  },
  "the unused access of an organization": {
    sql: `UPDATE organizations SET unused_access_mail = 'monthly';
      UPDATE members SET accepted_at = created_at;
      UPDATE acl_rules SET updated_at = '2026-01-01T00:00:00.000Z'`,
    end: (program) =>
      until(() => {
        const database = new Sqlite(program.file(), { readonly: true })
        const left = database
          .prepare(
            `SELECT count(*) FROM organizations o WHERE unused_access_month = '' AND EXISTS (
              SELECT 1 FROM members m WHERE m.org_id = o.id AND m.role = 'owner' AND m.removed_at IS NULL)`
          )
          .pluck()
          .get()
        database.close()
        return Promise.resolve(left === 0)
      })
  },
  "the erasure of a removed environment": {
    sql: `INSERT INTO trash (place_id, kind, org_id, project_id, name, removed_by, removed_at, restorable_until)
        SELECT e.id, 'env', p.org_id, p.id, e.name, 'root@example.com', 0, 1
        FROM environments e JOIN projects p ON p.id = e.project_id WHERE p.name = 'web' AND e.name = 'other';
      UPDATE environments SET removed_at = '2026-01-01T00:00:00.000Z' WHERE id IN (SELECT place_id FROM trash)`,
    end: (program) =>
      until(() => {
        const database = new Sqlite(program.file(), { readonly: true })
        const left = database.prepare("SELECT count(*) FROM trash").pluck().get()
        database.close()
        return Promise.resolve(left === 0)
      })
  },
  "an erasure that was cut short": {
    sql: "PRAGMA user_version = 1",
    end: async (program) => {
      await program.said(/an interrupted erasure of secrets is now complete/)
    }
  }
} satisfies Readonly<Record<string, Job>>

/**
 * Jobs that begin with the server and need nothing of their own. In CI, one server runs all of them, and the longest turn of
 * all counts.
 */
const atStart = [
  "the audit stream",
  "the search index of the audit logs",
  "the entries of many refused reads",
  "the entries about 2,000 due secrets"
] as const

const together = (some: ReadonlyArray<Job>): Job => ({
  variables: Object.fromEntries(some.flatMap(({ variables = {} }) => Object.entries(variables))),
  sql: some.flatMap(({ sql }) => sql ?? []).join(";"),
  end: async (program, limits) => {
    await Promise.all(some.map(({ end }) => end(program, limits)))
  }
})

/** The jobs as they are measured: each by a server of its own in a soak, which tells what a long turn was of. */
export const measuredJobs = (): Readonly<Record<string, Job>> => {
  if (isSoak) return jobs
  const alone = Object.entries(jobs).filter(([name]) => !atStart.some((one) => one === name))
  return { ...Object.fromEntries(alone), [atStart.join(", ")]: together(atStart.map((name) => jobs[name])) }
}

/**
 * Each file of the source that starts work which no request waits for, and where it is measured: by a job, by calls, or nowhere,
 * with the reason. The rotation of the master key has no entry: it is a program of its own, which serves nobody.
 */
export const sources: Readonly<
  Record<string, { readonly job: keyof typeof jobs } | { readonly by: string } | { readonly unmeasured: string }>
> = {
  "audit/AuditLog.ts": { job: "the entries of many refused reads" },
  "audit/AuditStream.ts": { job: "the audit stream" },
  "audit/UncleanEnds.ts": { unmeasured: "one entry for each server that was killed" },
  "audit/IndexJob.ts": { job: "the search index of the audit logs" },
  "access/gate/ApprovalMails.ts": {
    unmeasured: "200 members at a time, in slices, for requests that wait for a person: the table has none"
  },
  "access/caller/LastUses.ts": { by: "the first call of each credential" },
  "directory/login/UnknownLoginAudit.ts": { unmeasured: "sixty entries an hour" },
  "operations/audit-archives/ArchiveJob.ts": {
    unmeasured: "steps of 200 rows, and files of 5,000 entries, of entries that are a day old: the table has none"
  },
  "operations/backups/Backups.ts": { by: "the calls of backups" },
  "operations/backups/S3Store.ts": { by: "the calls of backups" },
  "operations/backups/Schedule.ts": { job: "a scheduled backup" },
  "database/sqlite/Checkpoints.ts": { by: "PATCH of a bundle" },
  "database/sqlite/Erasure.ts": { job: "an erasure that was cut short" },
  "database/sqlite/FileThread.ts": { job: "the hour's round" },
  "database/sqlite/GroupCommit.ts": { by: "every call that changes something" },
  "base/files/Thread.ts": { by: "the calls of backups" },
  "secrets/dues/DueJob.ts": { job: "the entries about 2,000 due secrets" },
  "directory/unused-access/UnusedAccessJob.ts": { job: "the unused access of an organization" },
  "secrets/leases/LeasesJob.ts": {
    unmeasured: "small reads of 50 leases, and removals that wait for another database"
  },
  "secrets/rotations/RotationsJob.ts": {
    unmeasured: "one small read a second, and turns that wait for another database"
  },
  "secrets/delivery/PushJob.ts": {
    unmeasured: "two small reads a second, and pushes as a call makes them, which wait for a platform"
  },
  "secrets/trash/Http.ts": { job: "the erasure of a removed environment" },
  "directory/federations/IssuerKeys.ts": { unmeasured: "two requests a minute, to an issuer that the table has not" },
  "directory/identities/ProviderClient.ts": { unmeasured: "one request at the start, to the provider" },
  "edges/webhooks/Job.ts": { unmeasured: "a few rows at a time, for webhooks that the table has not" },
  "database/jobs/ClockCheck.ts": { unmeasured: "one row every minute, with PostgreSQL" },
  "database/jobs/Succession.ts": { unmeasured: "two small reads a second, and the end of the process" },
  "directory/users/UserDirectory.ts": {
    unmeasured: "a look at the protections of a person's organizations, after a disabling"
  },
  "database/jobs/DueWork.ts": { unmeasured: "the work of the jobs that call it, which have rows of their own" },
  "database/jobs/Heartbeat.ts": { unmeasured: "one row every ten seconds, with PostgreSQL" },
  "database/jobs/OnOneServer.ts": { unmeasured: "two reads every two seconds, with PostgreSQL" },
  "http/Renewal.ts": { unmeasured: "two small files every 30 seconds, with TLS alone" },
  "http/ParseJson.ts": { by: "every call that takes a body" },
  "base/mail/SmtpSender.ts": { unmeasured: "one mail at a time, to a mail server that the table has not" },
  "operations/workers/WorkerProgram.ts": { unmeasured: "the worker itself, which serves as a server does" },
  "operations/workers/Workers.ts": { unmeasured: "the ends of workers, in a process that serves nobody" },
  "keys/WrapBudget.ts": { unmeasured: "one row every minute, in the workers of a server with PostgreSQL" },
  "operations/maintenance/Maintenance.ts": { job: "the hour's round" }
}

const root = fileURLToPath(new URL("../../src", import.meta.url))

const starts = /\bfork(?:Scoped|Daemon|In)\b|\bFiber(?:Set|Map)\.|\bnew Worker\(|\bsetInterval\(|\bworkWhenDue\(/

/** The files of the source that start such work. */
export const filesWithJobs = (): ReadonlyArray<string> =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && starts.test(readFileSync(join(root, file), "utf8")))
    .sort()
