import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

export const help = `coffer-server: Coffer's server, one process with an embedded database, or several with PostgreSQL

To try it: coffer-server dev. A server for others takes its settings from environment variables. These two are required:
  SERVICE_MASTER_KEY   64 hexadecimal digits; make one with: openssl rand -hex 32. SERVICE_MASTER_KEY_COMMAND can print it instead
  SMTP_HOST            the mail server for login codes, or "log" to print codes here

Others, with their defaults: SERVICE_DB_PATH (service.db) or SERVICE_DATABASE_URL, SERVICE_HOST (127.0.0.1), SERVICE_PORT (7100),
SERVICE_LOG_LEVEL (info), SUPERADMIN_EMAIL_0, ... All of them are described in the documentation.

  coffer-server                 serves
  coffer-server broker          only makes requests with secrets, beside servers on the same PostgreSQL database; it takes no
                                settings of mail and backups
  coffer-server check [--mail-to EMAIL] [--json]
                                prints every setting with its source, and checks the database, the key, the disk, mail (by
                                logging in, or by a test mail) and the backups' store; while a server runs, too
  coffer-server session EMAIL   prints a session token for EMAIL, with the server stopped: the way in when mail is down
  coffer-server migrate [--check]
                                migrates the schema of PostgreSQL; --check changes nothing, and exits with 3 when it is due
  coffer-server database copy --from FROM --to TO [--dry-run] [--json]
                                copies a database into an empty one and verifies the copy, with the servers of both stopped; each is
                                a file, postgres://..., or env:NAME for a variable that holds one of them
  coffer-server restore --apply FILE
                                swaps the database for a restored file, or fills an empty PostgreSQL database with it, with the
                                server stopped
  coffer-server dev [--data FOLDER]
                                tries Coffer on this machine alone: makes a database and a key in FOLDER (coffer-data), and prints
                                login codes; see coffer-server dev --help, also for servers of tests
  coffer-server master-key split K/N
                                prints N shares of the master key on standard input, of which any K give it back; each is a line to
                                be written down
  coffer-server master-key combine
                                prints the master key of the shares on standard input, one a line
  coffer-server drill [ID]      fetches a backup (the newest), opens it in a scratch file beside the database and checks every
                                value and audit log; while a server runs, too; the exit code is 1 when it is damaged
  coffer-server audit archive --before DATE [--dry-run]
                                moves audit entries from before a day to archives in the store of the backups, and verifies each
                                archive first; with SQLite, the server is stopped
  coffer-server audit verify [FILE...]
                                verifies every audit log and every archive in the store, or the archives in the files
  coffer-server --version       prints the version
  coffer-server --help          prints this
`

export const devHelp = `coffer-server dev: serves this machine alone, without a setting to make

  coffer-server dev [--data FOLDER]
      makes a database and a master key in FOLDER, which only you can read, and serves on http://127.0.0.1:7100. Login codes
      appear in the terminal. It ends with Ctrl-C; the next start continues with the same data. FOLDER is coffer-data unless
      named. Settings go into FOLDER/.env: see docs/configuration.md. SERVICE_PORT names another port.
      --any-settings takes the settings of the environment too, and serves others if SERVICE_HOST says so: npm start in the
      repository uses it

  coffer-server dev --seed FILE [--json] [--attached] [--folder FOLDER]
      for tests: serves a database of its own until it ends, and removes it. FILE is JSON such as {"dev": {"KEY": "value"}}.
      --json prints one line with the address and a key; --attached ends with standard input; --folder names the folder of the
      data. Each of these options alone starts a server for tests: see docs/testing.md
`

/** Refuses a command with the exit code 2. */
export const refused = (message: string) =>
  Effect.zipRight(
    Console.error(`coffer-server: ${message}`),
    Effect.sync(() => {
      process.exitCode = 2
    })
  )

export const wrongUsage = (message: string) => refused(`${message}: see coffer-server --help`)
