/**
 * Writes docs/cli.md: every command of the client with its output, recorded against a new server. Values that differ
 * between runs (ids, times, keys) are replaced. With `--print`, it prints the page, for a test to compare.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { startBuiltServer } from "../packages/client/dist/testing/BuiltServer.js"

const path = (relative) => fileURLToPath(new URL(`../${relative}`, import.meta.url))

const recipient = "age10asf4ncyemjamajjpx6gk8ump6sy7aejekn2fl00lzvn09rrlg7qessdk7"
const identity = "AGE-SECRET-KEY-1FHV9DQVT5R799G8SZQRUS28MAP03E77DLZALAU4CNKGMS0YC65WQXH8QCT"

/** The recorded session: `#` starts a chapter, `$` is a command, other lines are prose. */
const session = `
# Getting started
The server's address comes from \`--server-url\`, from \`SERVICE_SERVER_URL\` or from \`service.yml\`.
$ coffer version
$ coffer health
\`coffer login\` opens your browser, if the server has an address for browsers (\`SERVICE_PUBLIC_URL\`), and else asks for a code by e-mail. [Signing in with coffer login](sessions.md#signing-in-with-coffer-login) describes both, and \`--device\` for machines without a browser. \`coffer in\` and \`coffer out\` are short for \`coffer login\` and \`coffer logout\`.
$ coffer login --email ada@example.com
$ coffer login --email ada@example.com --code {code}
$ coffer whoami
$ coffer org create acme
$ coffer project create webshop --org acme
$ coffer init acme/webshop/dev
$ cat service.yml
At a terminal, \`coffer init\` logs in if there is no session, lists what there is to choose from, and offers to create what is missing. The commands below take organization, project and environment from \`service.yml\`.
\`coffer doctor\` checks all that the client needs, and names the next step where something is wrong. It shows where each setting comes from, and no secret. With a problem, it ends with exit code 1.
$ coffer doctor
The client of a release holds the SHA-256 of each file of its release's web console, and \`coffer doctor\` compares what the server serves with them. It then says \`the same as the release 0.3.0: 130 files\`, that the console is of another version, for which it has no list, or names the file that differs. The server lists its own files at \`/console.json\`. This finds files that somebody changed on the server or on the way to you. It does not find a server that gives browsers other files than \`coffer doctor\`.

# Secrets
$ coffer secret set API_KEY first
$ printf 'postgres://app@db/shop' | coffer secret set DATABASE_URL -
$ coffer secret set API_KEY second --if-version 1
$ coffer secret set API_KEY third --if-version 1
$ coffer secret list
$ coffer secret list --json
$ coffer secret find url
$ coffer secret get DATABASE_URL
$ coffer secret get API_KEY DATABASE_URL
$ coffer secret get NOT_THERE
$ coffer secret set SESSION_SECRET --generate
$ coffer secret set SESSION_SECRET --generate=64,hex
$ coffer secret rename SESSION_SECRET COOKIE_SECRET
$ coffer secret copy API_KEY COOKIE_SECRET --to staging
$ coffer secret set API_KEY other --env staging
$ coffer secret list --all-envs
$ coffer secret delete API_KEY COOKIE_SECRET --env staging --yes
$ coffer secret delete COOKIE_SECRET --yes
$ coffer secret list --removed

# Every day
\`coffer set\`, \`get\`, \`ls\` and \`edit\` are short for the commands of \`secret\`. A place such as \`webshop/prod\` is one argument of commands that have no other, and \`-e webshop/prod\` for the others; what is left out comes from \`service.yml\`. \`coffer get KEY --clip\` puts the value into the clipboard instead, and clears it after 30 seconds if it is still there. \`coffer open\` opens the web console at this place, or prints the address where there is no display.
$ coffer set LOG_LEVEL=debug PORT=8080 -e staging
$ coffer get PORT -e staging
$ coffer ls staging
$ EDITOR="sed -i s/8080/9090/" coffer edit PORT -e staging -y
$ coffer secret delete LOG_LEVEL PORT -e staging -y
$ coffer open staging

# Places, people and times
A place is one argument: \`[ORG/]PROJECT/ENV\`, of which \`service.yml\` or \`-o\`, \`-p\` and \`-e\` give what is left out. Access rules, the audit log and \`--at\` take patterns, which are places with \`*\`, \`?\` or \`{a,b}\`: \`'webshop/*'\` is all of a project. WHO is an e-mail address, \`group:NAME\` or \`account:NAME\`.

\`--for\` takes how long something lasts: \`30s\`, \`15m\`, \`8h\`, \`30d\` or \`12w\`. \`--until\` takes when it ends: a date, which means its beginning in UTC, or a date and time with a zone, such as \`2027-01-31T08:00+01:00\`. \`--since\` and \`--until\` of \`coffer audit\` take both forms, \`yesterday\` and \`today\`. Other times have names of their own and take the same forms, such as \`--grace\` and \`--requests-wait\`.

Commands and options of earlier releases work as before, throughout 0.x, although the help no longer shows them: \`acl grant --email … --project-pattern …\`, \`--expires\`, \`--ttl\`, \`approval\` and others. Two lines had another \`--for\`: in \`coffer delegate\` it is the name where there is no \`--name\`. In \`coffer service-account create\` it is the program where its value names one.

# Values that refer to others
With \`--expand\`, \`\${KEY}\` in a value stands for another secret of the environment, and \`\${environment:KEY}\` for one of another environment: see [references](values.md#references).
$ coffer secret set CACHE_URL --expand 'redis://:\${API_KEY}@cache'
$ coffer secret get CACHE_URL
$ coffer secret get CACHE_URL --raw
$ coffer secret references API_KEY
$ coffer secret delete API_KEY --yes
$ coffer secret set CACHE_URL --expand 'redis://:\${API_KY}@cache'
$ coffer secret delete CACHE_URL --yes

# Due dates
A secret can expire, be due to be replaced at an age, and have an owner. [Concepts](values.md#due-dates) describes what follows from it. \`secret list\` shows the dates, if there are any.
$ coffer secret edit API_KEY --rotate-every 7d --owner ops@example.com
$ coffer secret due
$ coffer secret list
$ coffer secret edit API_KEY --rotate-every none --owner none
$ coffer secret due --for 90d

# Run a command with the secrets
Everything after \`run\` and its options is the command. It gets the secrets as environment variables.
$ coffer run sh -c 'echo "the key is $API_KEY"'
$ coffer run --only API_KEY -- printenv DATABASE_URL
$ coffer run acme/webshop/dev -- printenv API_KEY
$ coffer run --file API_KEY=api.key -- sh -c 'cat "$API_KEY"'

# Write files with secrets
[Files made of secrets](render.md) describes the templates.
$ printf 'key = {{API_KEY | json}}\\n' > app.conf.tpl
$ coffer render app.conf.tpl
$ coffer render app.conf.tpl --output app.conf
$ coffer render app.conf.tpl --output app.conf --check; echo "exit code $?"

# Move in from another tool
[Moving in](connect/import.md) describes the tools and their documents.
$ printf '{"API_KEY":"moved","PORT":8080,"a b":"x"}' > sops.json
$ coffer import sops sops.json --env staging; echo "exit code $?"
$ coffer import sops sops.json --env staging --map-key 'a b=A_B' --apply
$ coffer import sops sops.json --env staging --map-key 'a b=A_B' --apply
$ coffer import phase sops.yml --apply; echo "exit code $?"
$ coffer secret delete API_KEY PORT A_B --env staging --yes
$ rm sops.json

# Give other programs a credential
[Credential helpers](connect/helpers.md) describes the settings of git, Docker and the tools of AWS.
$ printf 'ghp_example' | coffer secret set GITHUB_TOKEN
$ cp service.yml kept.yml
$ printf 'helpers:\\n  git:\\n    github.com: { username: "x-access-token", key: "GITHUB_TOKEN" }\\n' >> service.yml
$ printf 'protocol=https\\nhost=github.com\\n\\n' | coffer helper git get
$ coffer trust
$ printf 'protocol=https\\nhost=github.com\\n\\n' | coffer helper git get
$ printf ghcr.io | coffer helper docker get; echo "exit code $?"
$ coffer helper aws --access-key-id API_KEY --secret-access-key GITHUB_TOKEN
$ coffer helper exec GITHUB_TOKEN
$ mv kept.yml service.yml
$ coffer secret delete GITHUB_TOKEN --yes

# Give Docker Compose the secrets
Compose starts \`coffer compose\` for a service with \`provider: { type: coffer }\`, and reads a message a line. [Docker and compose](connect/containers.md#docker-and-compose) has the file.
$ coffer compose --project-name=shop up --only=API_KEY secrets
$ coffer compose --project-name=shop down secrets

# Look for values where they should not be
Without names of files, \`coffer scan\` reads what git has staged. It shows no value, and ends with exit code 1 if it finds one.
$ echo 'url: postgres://app@db/shop' > notes.txt
$ coffer scan notes.txt
$ rm notes.txt

# Declared keys
What a project expects of its keys: [Declared keys](declared-keys.md).
$ printf '# Where the shop listens\\nPORT=8080\\n\\n# @optional\\nLOG_LEVEL=info\\n' > .env.example
$ coffer declare --from .env.example
$ coffer declare DATABASE_URL --required-in prod,staging --pattern 'postgres://.+'
$ coffer declare list
$ coffer check; echo "exit code $?"
$ printf many | coffer secret set DATABASE_URL --env staging
$ coffer check staging; echo "exit code $?"
$ coffer run --env staging --check -- true; echo "exit code $?"
$ coffer declare --write .env.example --yes
$ cat .env.example
$ coffer project update --strict
$ printf few | coffer secret set DATABASE_URL --env staging
$ coffer project update --not-strict
$ coffer secret delete DATABASE_URL --env staging --yes
$ coffer declare rm PORT --yes
$ for key in LOG_LEVEL DATABASE_URL; do coffer declare rm $key --yes; done

# History
$ coffer project history --limit 3
$ coffer secret versions API_KEY
$ coffer secret get API_KEY --at 1
$ coffer secret rollback API_KEY --to 1
$ coffer secret destroy API_KEY --versions 2
$ coffer secret destroy API_KEY --versions 2 --yes
$ coffer secret get API_KEY --at 2
$ coffer secret delete DATABASE_URL --yes
$ coffer secret undelete DATABASE_URL

# Files
\`import\`, and other readers of each format, read the exact bytes that \`export\` wrote. On a terminal, \`import\`, \`environment copy\` and \`environment revert\` show their changes and ask for confirmation. Otherwise they create secrets without asking, and need \`--yes\` to overwrite or delete any. The last line says how to revert the change.
Each format is for its own reader. \`env\`, the default, is for dotenv and its like, and \`docker\` for \`docker run --env-file\`. A shell must not source these two: it would run commands in values such as \`$(…)\`. \`shell\` is for bash, dash, zsh, busybox and fish, which all read the same bytes; \`--output\` with a name that ends in \`.sh\` selects it. \`eval "$(coffer secret export --format shell)"\` sets variables, and in fish \`coffer secret export --format shell | source\`. Some variables are refused by name, or left out with \`--skip-unsupported\`. They are those that one of these shells keeps for itself, such as \`path\` of zsh. They are also [what \`run\` leaves out](run.md#which-variables-the-program-sees), such as \`PROMPT_COMMAND\`, unless \`--allow-env\` names it.

An exported \`.env\` file is read to the same bytes by dotenv of npm, python-dotenv, godotenv, compose-go (Docker Compose) and \`node --env-file\`. A value that one of them would change, such as one with a carriage return or \`\${…}\`, is refused by its key. The message names formats that can hold it. An imported \`.env\` file is read as dotenv of npm reads it; standard error names the line of each value that other readers take differently, such as \`$NAME\`, which Coffer keeps as it is. With \`--expand\`, \`$NAME\` and \`\${NAME}\` outside single quotes become [references](values.md#references) where NAME is another key of the file.

An export with \`--output\` replaces an empty file and its own earlier export. Another file stays, unless \`--force\` is given or a person at the terminal agrees; so does a file in a git work tree that git does not ignore. An earlier export is recognized by its content: it has exactly the bytes that the format writes for its values, and its first comment or the permissions 0600.
$ coffer secret export --output dev.env
$ cat dev.env
$ printf 'API_KEY=fourth\\nMOTD="Hello\\nworld"\\n' > new.env
$ coffer import new.env --dry-run
$ coffer import new.env
$ coffer import new.env --yes
$ coffer secret export --format shell
$ coffer secret export --format docker
$ coffer secret export --format json
$ coffer secret export --format yaml --only MOTD
$ coffer secret export --format yaml --except MOTD
$ printf '{"A": "1", "B": 2}' > bad.json
$ coffer import bad.json

\`secret edit\` opens all secrets of the environment, or the named ones, in \`$VISUAL\`, \`$EDITOR\` or \`vi\`. It shows what would change, by key, and asks; if somebody else has changed the environment meanwhile, it writes nothing and continues from the newest state. The file has mode 0600 and is in memory (\`$XDG_RUNTIME_DIR\` or \`/dev/shm\`) where the system offers that; it is overwritten and removed when the editor ends. Turn off backups and undo files that your editor keeps elsewhere.
$ EDITOR="sed -i s/Hello/Goodbye/" coffer secret edit MOTD --yes

# Environments
\`env\` is short for \`environment\`.
$ coffer env list
$ coffer environment list --json
$ coffer environment create qa
$ coffer environment copy dev qa --only API_KEY --dry-run
$ coffer environment copy dev qa --only API_KEY
$ coffer environment copy dev qa
$ coffer environment revisions qa
$ coffer environment revert qa --to 1 --dry-run
$ coffer environment revert qa --to 1 -y
$ coffer environment diff dev qa
$ coffer environment diff dev qa --exit-code; echo "exit code $?"
$ coffer environment delete qa --yes
$ coffer environment list --removed
$ coffer environment restore qa
$ coffer environment delete qa --yes
$ coffer environment erase qa --yes
An environment can end, and a project can let those who write in it create such environments: see [Previews](previews.md).
$ coffer environment create pr-42 --from dev --only API_KEY --for 7d
$ coffer environment list
$ coffer environment extend pr-42 --for 14d
$ coffer environment extend pr-42 --never
$ coffer environment delete pr-42 --yes
$ coffer project allow-previews --from dev --pattern 'pr-*' --max 10
$ coffer project previews
$ coffer project forbid-previews --yes

# Members
$ coffer member invite grace@example.com --role developer
A CSV file invites many people: its columns are \`email\`, \`role\` and \`rules\`, each rule as \`PROJECT/ENVIRONMENT:PERMISSION\`. A file with mistakes changes nothing. Running the command again continues after a failure, and invites nobody twice.
$ printf 'email,role,rules\\ngrace@example.com,developer,\\nlinus@example.com,member,"webshop/{dev,staging}:read"\\n' > people.csv
$ coffer member invite --file people.csv --dry-run
$ coffer member invite --file people.csv
$ coffer member list
$ coffer member set-role grace@example.com member
$ coffer member set-role linus@example.com admin
$ coffer acl grant grace@example.com 'webshop/{dev,staging}' write
$ coffer acl list
$ coffer acl explain grace@example.com dev
$ coffer acl table grace@example.com
$ coffer acl who dev
$ coffer acl review dev --note 'quarterly review'
$ coffer acl grant grace@example.com prod read --until 2035-01-01
A rule can be for some keys, and one that denies wins over those that give. [Rules for some keys](concepts.md#rules-for-some-keys) has more.
$ coffer acl grant grace@example.com webshop/prod use --key 'API_*'
$ coffer acl deny grace@example.com prod read --key 'STRIPE_*'
$ coffer acl list
$ coffer acl explain grace@example.com prod --key STRIPE_KEY
$ coffer group create backend
$ coffer group add backend grace@example.com
$ coffer acl grant group:backend webshop/dev write
$ coffer group list
$ coffer group members backend
$ coffer group map platform-team backend
$ coffer group mappings
$ coffer group unmap platform-team backend
$ coffer group rename backend platform
$ coffer group remove platform grace@example.com
$ coffer group delete platform --yes
A directory such as Entra or Okta can manage people and groups. [SCIM](scim.md) has more.
$ coffer scim enable > token.txt
$ coffer scim rotate > token.txt
$ coffer scim show
$ coffer scim disable --yes
A delegation gives an agent or a script a part of your own rights, for commands without a terminal in its place. [A part of your own rights](mcp.md#a-part-of-your-own-rights) has more.
$ coffer delegate staging --name claude --for 2h --only API_KEY
$ coffer delegate list
$ printf svc_dt_mistyped > token.txt; coffer delegate store < token.txt; echo "exit code $?"
$ coffer delegate revoke claude
$ coffer delegate revoke claude
$ coffer acl revoke grace@example.com prod --yes
$ coffer acl revoke grace@example.com 'webshop/{dev,staging}' -y
$ coffer member remove grace@example.com --yes
When a person is removed or disabled, the service accounts that they created stay valid. The client lists them, because the person may know their keys.

# Changes that need votes, and access for a while
The changes of a protected environment wait until people have approved them: [Requests](requests.md) describes that. Here the requester's own vote counts, because this page has one person.
$ coffer environment protect prod --self --may-break-glass ada@example.com
$ coffer environment protection prod
$ coffer secret set API_KEY fifth --env prod --reason INC-12; echo "exit code $?"
$ coffer request list
$ coffer request show $(coffer request list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}')
$ coffer request approve $(coffer request list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}') --yes
$ coffer secret set API_KEY sixth --env prod --break-glass 'INC-13: the shop is down'
$ coffer secret delete API_KEY --env prod --yes --json
$ coffer request refuse $(coffer request list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}')
$ coffer environment unprotect prod --yes
$ coffer request withdraw $(coffer request list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}')
$ coffer access request prod read --for 1h --reason INC-12
$ coffer environment unprotect prod --yes --break-glass 'the end of this chapter'

# Service accounts
$ coffer service-account create ci --at webshop/dev --for 90d
$ coffer service-account list
$ coffer acl grant account:ci webshop/dev read --json
$ coffer service-account edit ci --network 10.20.0.0/16 --network 127.0.0.0/8
$ coffer service-account edit ci --any-network
$ coffer service-account rotate ci --grace 1h
$ coffer service-account trust ci --github acme/webshop --repository-id 74 --owner-id 65 --environment production
$ coffer service-account trust list ci
$ echo not-a-token | coffer service-account trust try ci --token -
$ coffer service-account trust revoke ci github --yes
$ coffer acl revoke account:ci --yes
$ coffer service-account revoke ci --yes

# Webhooks
The organization's admins have events sent to an address, by signed requests: [Webhooks](webhooks.md) describes them.
$ coffer webhook create https://hooks.invalid/coffer --event 'acl.*' --event service_account.expiring --at '*/prod' --format slack
$ coffer webhook list
$ coffer webhook edit $(coffer webhook list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}') --event 'member.*'
$ coffer webhook rotate $(coffer webhook list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}') --grace 0
$ coffer webhook test $(coffer webhook list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}')
$ coffer webhook deliveries $(coffer webhook list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}')
$ coffer webhook resend $(coffer webhook list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}') $(coffer webhook deliveries $(coffer webhook list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}') --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}')
$ coffer webhook delete $(coffer webhook list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}') --yes

# Secrets that are used without being seen
With \`SERVICE_BROKER=1\`, the server makes requests with secrets for accounts that never get the values: [Agents](agents.md) describes it. A use rule says where a value may go.
$ coffer secret set STRIPE_KEY not-a-real-key-of-stripe
$ coffer use allow STRIPE_KEY --host api.stripe.com --path '/v1/refunds/*' --account ada@example.com --as-header 'authorization: Bearer {}' --approval each
$ coffer use list STRIPE_KEY
$ coffer use edit STRIPE_KEY $(coffer use list STRIPE_KEY --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}') --per-day 100
$ coffer use list
$ coffer use proxy -- sh -c 'echo "$STRIPE_KEY" | cut -c 1-16'
$ coffer use request GET https://api.stripe.com/v1/payouts --secret STRIPE_KEY
$ coffer use request GET https://api.stripe.com/v1/refunds/re_1 --secret STRIPE_KEY
$ coffer request list
$ coffer request refuse $(coffer request list --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}')
$ coffer request approve 00000000-0000-7000-8000-000000000000
$ coffer use revoke STRIPE_KEY $(coffer use list STRIPE_KEY --json | grep -om1 '[0-9a-f]\\{8\\}-[0-9a-f-]\\{27\\}') --yes

# Credentials that renew themselves

The server logs in to a database by a connection. Its password is a secret of the environment, and no host of this page exists.

$ coffer connection create shop-db --host db.invalid --database shop --user renewer --password-key RENEWER_PASSWORD
$ coffer connection list
$ coffer connection test shop-db
$ coffer rotation create shop-app --connection shop-db --user app_a --user app_b --write 'DATABASE_URL=postgres://{user}:{password}@db.invalid/shop' --every 30d
$ coffer rotation pause shop-app
$ coffer rotation list
$ coffer rotation show shop-app
$ coffer rotation run shop-app
$ coffer rotation delete shop-app --yes
$ coffer role create app-role --connection shop-db --default-ttl 1h --max-ttl 24h
$ coffer role list
$ coffer role show app-role
$ coffer lease create app-role
$ coffer lease list
$ coffer role delete app-role --yes
$ coffer connection delete shop-db --yes

# The audit log
\`coffer audit list --archive FILE\` searches an [archive](operations/audit-archives.md), without a server.
$ coffer audit list --action secret.set --limit 2
$ coffer audit list --action org.member_invite --all --json
$ coffer audit activity
$ coffer audit verify

# Taking an organization out, and bringing it in
\`age-keygen -o key.txt\` makes a private key and prints the public one. [Move an organization](move-organizations.md) says what an archive holds.
$ coffer org export --to-age ${recipient} acme.age
$ coffer org export --to-age ${recipient} acme.age
$ coffer org import acme.age --identity key.txt --as acme-copy --plan
$ coffer org import acme.age --identity key.txt --as acme-copy
$ coffer org delete --org acme-copy --yes

# Organizations, projects and sessions
$ coffer org list
$ coffer org get
$ coffer org overview
$ coffer org edit --unused-mail monthly
$ coffer org rename acme-inc
$ coffer project list --org acme-inc
$ coffer project get --org acme-inc
$ coffer project rename shop --org acme-inc
$ coffer project delete shop --org acme-inc --yes
$ coffer project restore acme-inc/shop
$ coffer project delete shop --org acme-inc --yes
$ coffer project erase shop --org acme-inc --yes
$ coffer org leave --org acme-inc --yes
$ coffer org delete acme-inc --yes
$ coffer org list --removed
$ coffer org restore acme-inc
$ coffer org delete acme-inc --yes
$ coffer org erase acme-inc --yes
People who have registered a passkey in the console prove a terminal by it, for everything that needs a recent login. [Passkeys](sessions.md#passkeys) has more.

$ coffer passkey list
$ coffer passkey remove adas-laptop
$ coffer reauthenticate
$ coffer session list
$ coffer session end 00000000-0000-7000-8000-000000000000
$ coffer trust https://coffer.example.com

# Releases
[Installation](install.md#verify-what-you-downloaded) describes what is checked. In a folder without a release:
$ coffer verify-release .; echo "exit code $?"

# Server administration
$ coffer features
Every setting of the server, with where it comes from; of a secret only whether it is set.
$ coffer settings | grep -E 'SUPERADMIN|SERVICE_BROKER|SMTP_HOST'
$ coffer user list
$ coffer user list --disabled
$ coffer user show grace@example.com
$ coffer user disable grace@example.com
$ coffer user disable grace@example.com --yes
$ coffer user enable grace@example.com
$ coffer user end-sessions grace@example.com --yes
$ coffer backup create
$ coffer backup list
$ coffer backup drill
$ coffer backup restore --latest --yes
$ coffer master-key rotate --db service.db --generate

# Help
\`coffer --help\` gives an overview of the commands on one screen, and \`coffer NOUN --help\` lists those of a noun. \`--help\` anywhere before \`--\`, or \`coffer help COMMAND\`, describes one command. \`coffer completions SHELL\` prints a completion script for bash, zsh or fish:
$ coffer completions bash | tail -n 1
$ coffer help acl grant
$ coffer --help
$ coffer logout
`

const base = mkdtempSync(join(realpathSync(tmpdir()), "coffer-record-"))
const home = join(base, "ada")
const bin = join(base, "bin")
for (const folder of [home, bin]) mkdirSync(folder)
writeFileSync(
  join(bin, "coffer"),
  `#!/bin/sh\nexec "${process.execPath}" "${path("packages/cli/bin/coffer.js")}" "$@"\n`
)
chmodSync(join(bin, "coffer"), 0o755)

writeFileSync(join(home, "key.txt"), `${identity}\n`, { mode: 0o600 })

const { server, url } = await startBuiltServer(base, {
  SERVICE_PUBLIC_URL: "https://coffer.example.com",
  SERVICE_BROKER: "1",
  SERVICE_RENEWAL_NETWORKS: "10.0.0.0/8",
  SERVICE_SCIM_DOMAINS: "example.com",
  SERVICE_TRUSTED_PROXIES: "127.0.0.0/8",
  SUPERADMIN_EMAIL_0: "ada@example.com"
})

/** Returns the output of a command on both streams, in order. */
const run = async (command) => {
  const child = spawn("/bin/sh", ["-c", `{ ${command}\n} 2>&1`], {
    cwd: home,
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: home, SERVICE_SERVER_URL: url },
    stdio: ["ignore", "pipe", "inherit"]
  })
  let said = ""
  child.stdout.on("data", (chunk) => (said += chunk))
  await once(child, "close")
  return said
}

const ids = new Map()
const idOf = (id) => {
  if (/^0{8}-/.test(id)) return id
  if (!ids.has(id)) ids.set(id, `0192f0c1-5b7e-7c3a-9d2e-${String(ids.size + 1).padStart(12, "0")}`)
  return ids.get(id)
}

const normalise = (text) =>
  text
    .replaceAll(url, "http://localhost:7100")
    .replaceAll(home, "/home/ada")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, idOf)
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-31T12:00:00.000Z")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "2026-01-31 12:00 UTC")
    .replace(/svc_(sa|wh)_[A-Za-z0-9]+/g, "svc_$1_EXAMPLE")
    .replace(/\d{4}-\d\d-\d\d(?= soon)/g, "2026-02-07")
    .replace(/…[A-Za-z0-9]{4}\b/g, "…XMPL")
    .replace(/\b[0-9a-f]{64}\b/g, "0123456789abcdef".repeat(4))
    .replace(/Node v[\d.]+/g, "Node v24.0.0")
    .replace(/answers in \d+ ms/g, "answers in 5 ms")
    .replace(/\tcoffer(?: on [^\t\n]+)?\t/g, "\tcoffer on adas-laptop\t")
    .replace(/^(\S+\t\d+\t)[ \u2581-\u2588]+$/gm, "$1\u2582 \u2585\u2588")
    .replace(/each bar is [\w ]+,/g, "each bar is one hour,")
    // Reads are recorded a moment later, before or after the next change.
    .replace(/--after s\d+/g, "--after s35")
    .replace(/"seq":\d+/g, '"seq":45')
    .replace(/[ \t]+$/gm, "")

const record = async () => {
  let page = `# \`coffer\`, command by command

For people at a terminal: every command of the client, with its output. \`scripts/record-cli.mjs\` records this page by running the commands; ids, times and keys are replaced. Standard output is not a terminal here. On a terminal, lists are aligned and have titles, and fit its width: long texts are cut and columns left out, unless there is \`--wide\`. A list that is longer than the terminal goes through \`$PAGER\` (\`less\` without it; an empty one turns that off). Destructive commands ask there instead of requiring \`--yes\`. Errors, warnings and totals go to standard error.

Exit codes: 0 success, 1 refused or failed, 2 wrong usage, 3 not authenticated, 4 not found, 5 a change or export that waits for people.
`
  let block = ""
  const close = () => {
    if (block !== "") page += `\n\`\`\`console\n${block}\`\`\`\n`
    block = ""
  }
  for (const line of session.split("\n")) {
    if (!line.startsWith("$ ")) {
      close()
      if (line.startsWith("# ")) page += `\n#${line}\n`
      else if (line !== "") page += `\n${line}\n`
      continue
    }
    const shown = line.slice(2)
    const code = server.err.text.match(/login code for \S+: (\d{6})/)?.[1] ?? "none"
    const said = normalise(await run(shown.replace("{code}", code)))
    block += `$ ${shown.replace("{code}", "123456")}\n${said === "" || said.endsWith("\n") ? said : `${said}\n`}`
  }
  close()
  return page
}

try {
  const page = await record()
  if (process.argv.includes("--print")) process.stdout.write(page)
  else writeFileSync(path("docs/cli.md"), page)
} finally {
  await server.stop()
  rmSync(base, { recursive: true, force: true })
}
