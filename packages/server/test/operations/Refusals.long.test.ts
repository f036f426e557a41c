import { spawn } from "node:child_process"
import {
  chmodSync,
  chownSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  renameSync
} from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { cleanUp, freshFolder } from "../support/Program.js"
import { freshPath, invariants, masterKey, organization, rawAt, servicesAt, setSecret } from "../support/Services.js"

const fileOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const server = fileOf("../../bin/coffer-server.js")
const client = fileOf("../../../cli/bin/coffer.js")

afterAll(() => {
  cleanUp()
})

/** The offline forms of the programs that open the database; the server itself is in api/LifeCycle. */
const forms = {
  "coffer-server session": [server, "session", "ada@example.com"],
  "coffer-server restore --apply": [server, "restore", "--apply", "restored.db"],
  "coffer master-key rotate": [client, "master-key", "rotate", "--db", "service.db", "--generate"]
} as const

type Form = keyof typeof forms

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const run = (form: Form, folder: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, forms[form], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        SERVICE_MASTER_KEY: masterKey,
        ...env
      }
    })
    const said = { out: "", err: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text))
    child.once("close", (code) => {
      resolve({ code, ...said })
    })
  })

/** A folder with a closed database that has a secret, and a restored copy of it. */
const template = Effect.gen(function* () {
  const path = yield* freshPath
  const fill = Effect.flatMap(organization(), (ada) => setSecret(ada, "A", "kept"))
  yield* Effect.scoped(Effect.provide(fill, servicesAt(path)))
  return path
})

const folderFrom = (path: string) => {
  const folder = freshFolder()
  for (const name of ["service.db", "restored.db"]) {
    copyFileSync(path, join(folder, name))
    chmodSync(join(folder, name), 0o600)
  }
  return folder
}

/** The content and mode of every file, but for what an opening leaves: the lock, and an empty log. */
const contents = (folder: string) =>
  readdirSync(folder)
    .filter(
      (name) => !/(\.lock|-shm)$/.test(name) && !(name.endsWith("-wal") && statSync(join(folder, name)).size === 0)
    )
    .map((name) => {
      const path = join(folder, name)
      return [name, statSync(path).mode & 0o777, readFileSync(path).toString("base64")] as const
    })

const sql = (file: string, statement: string) => {
  new Sqlite(file).exec(statement).close()
}

interface Refusal {
  readonly what: string
  readonly env?: NodeJS.ProcessEnv
  /** False if it takes root, and the tests are not. */
  readonly isPossible?: boolean
  /** Brings it about in a folder. */
  readonly damage?: (folder: string) => void
  /** The message of each form. A form that is not here has its message in its own tests, or accepts the condition. */
  readonly says: Partial<Record<Form, RegExp>>
}

const wrongKey = /SERVICE_MASTER_KEY does not open this database: it was written with another key. Nothing was changed/
const newer = /the database has schema 9999, which is newer than this program's \d+: run the newer coffer-server/

const later = "INSERT INTO effect_sql_migrations (migration_id, name) VALUES (9999, 'later')"

const refusals: ReadonlyArray<Refusal> = [
  {
    what: "under another master key",
    env: { SERVICE_MASTER_KEY: "ab".repeat(32) },
    says: {
      "coffer-server session": wrongKey,
      "coffer-server restore --apply": wrongKey
    }
  },
  {
    what: "of somebody else, that others can read",
    isPossible: process.getuid?.() === 0,
    damage: (folder) => {
      chmodSync(join(folder, "service.db"), 0o640)
      chownSync(join(folder, "service.db"), 54_321, 54_321)
    },
    says: {
      "coffer-server session":
        /service\.db can be read or written by others \(mode 640\), and belongs to user 54321: .* run chmod 600 \S*service\.db/
    }
  },
  {
    what: "that is a link",
    damage: (folder) => {
      renameSync(join(folder, "service.db"), join(folder, "elsewhere.db"))
      symlinkSync("elsewhere.db", join(folder, "service.db"))
    },
    says: {
      "coffer master-key rotate": /service\.db is not a regular file \(a link is refused too\)/,
      "coffer-server restore --apply": /service\.db is not a regular file; nothing was changed/
    }
  },
  {
    what: "of a newer program",
    damage: (folder) => {
      for (const name of ["service.db", "restored.db"]) sql(join(folder, name), later)
    },
    says: {
      "coffer-server session": newer,
      "coffer-server restore --apply": newer,
      "coffer master-key rotate": newer
    }
  }
]

/** One sentence, of the program itself, with exit code 1; nothing on standard output, no key, nothing of the inside. */
const assertSentence = (form: Form, { code, err, out }: Ended, says: RegExp) => {
  assert.strictEqual(code, 1, `${form}: ${err}`)
  assert.match(err, says)
  assert.match(err, new RegExp(`^${form.split(" ", 1)[0]}: [^\\n]*\\n$`))
  assert.strictEqual(out, "")
  assert.notMatch(err, /[0-9a-f]{64}|node_modules|Error:/)
}

describe("a database", () => {
  for (const { damage, env, isPossible = true, says, what } of refusals) {
    it.scopedLive.runIf(isPossible)(
      `${what} is refused by whatever would open it, in a sentence, and nothing is changed`,
      () =>
        Effect.gen(function* () {
          const path = yield* template
          yield* Effect.forEach(
            Object.keys(says) as ReadonlyArray<Form>,
            (form) =>
              Effect.promise(async () => {
                const sentence = says[form]
                if (sentence === undefined) return
                const folder = folderFrom(path)
                damage?.(folder)
                const before = contents(folder)
                assertSentence(form, await run(form, folder, env), sentence)
                assert.deepStrictEqual(contents(folder), before, form)
              }),
            { concurrency: 2 }
          )
        })
    )
  }

  it.scopedLive("that a server owns is refused, and the server goes on", () =>
    Effect.gen(function* () {
      const path = yield* template
      const folder = folderFrom(path)
      const dbPath = join(folder, "service.db")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const before = contents(folder)
          const form = "coffer-server session"
          const ended = yield* Effect.promise(() => run(form, folder))
          assertSentence(form, ended, /service\.db is in use by another coffer-server or an offline command: stop that/)
          assert.deepStrictEqual(contents(folder), before)
          yield* organization("other")
        }).pipe(Effect.provide(servicesAt(dbPath)))
      )
      yield* invariants(dbPath)
    })
  )

  it.scopedLive(
    "that others can read is replaced by a restored one that they cannot, nor can they read what is kept of it",
    () =>
      Effect.gen(function* () {
        const folder = folderFrom(yield* template)
        chmodSync(join(folder, "service.db"), 0o644)
        const { code, err } = yield* Effect.promise(() => run("coffer-server restore --apply", folder))
        assert.strictEqual(code, 0, err)
        for (const name of readdirSync(folder)) {
          assert.strictEqual(statSync(join(folder, name)).mode & 0o077, 0, name)
        }
      })
  )

  it.scopedLive(
    "gets one session from coffer-server session, whose token is printed alone, and which is on record",
    () =>
      Effect.gen(function* () {
        const folder = folderFrom(yield* template)
        const { code, err, out } = yield* Effect.promise(() => run("coffer-server session", folder))
        assert.strictEqual(code, 0, err)
        assert.match(out, /^svc_st_[0-9A-Za-z]{49}\n$/)
        const db = yield* rawAt(join(folder, "service.db"), { readonly: true })
        assert.deepStrictEqual(
          db.prepare("SELECT action, actor_type, actor_name FROM audit_entries WHERE log = 'system'").all(),
          [{ action: "auth.verify", actor_type: "system", actor_name: "coffer-server session" }]
        )
        assert.strictEqual(db.prepare("SELECT count(*) FROM sessions").pluck().get(), 1)
        yield* invariants(join(folder, "service.db"))
      })
  )
})
