/** The lines of earlier releases beside those that mean the same now. Every option and command that help hides has a row. */
export interface Row {
  readonly old: string
  readonly now: string
  /** The person who types it; ada, an owner, when left out. */
  readonly who?: "grace" | "linus"
  /** The list whose first id stands for ID. */
  readonly id?: string
  /** A line that both need, typed by ada. */
  readonly before?: string
  /** Why more is read, or more is shown. The changes and the exit code are the same. */
  readonly wider?: string
}

const finds = "the new line finds out which kind of request the id is"
const lists = "the new list has all kinds of requests, in its own columns"

export const rows: ReadonlyArray<Row> = [
  // Rights
  {
    old: "acl grant --email grace@example.com --project-pattern webshop --env-pattern prod --permission read --expires 4h",
    now: "acl grant grace@example.com webshop/prod read --for 4h"
  },
  {
    old: "acl grant --service-account ci --project-pattern webshop --env-pattern prod --permission read --expires 2035-12-01",
    now: "acl grant account:ci acme/webshop/prod read --until 2035-12-01"
  },
  {
    old: "acl grant --group backend --project-pattern web-* --env-pattern {dev,staging} --permission write --json",
    now: "acl grant group:backend web-*/{dev,staging} write -j"
  },
  {
    old: "acl grant --email linus@example.com --project-pattern webshop --env-pattern dev --permission read",
    now: "acl grant linus@example.com dev read"
  },
  { old: "acl explain --email grace@example.com --env prod", now: "acl explain grace@example.com prod" },
  { old: "acl explain --service-account ci --env acme/webshop/prod", now: "acl explain account:ci webshop/prod" },
  { old: "acl table --email linus@example.com", now: "acl table linus@example.com" },
  { old: "acl table --service-account ci --json", now: "acl table account:ci -j" },
  {
    old: "acl revoke --email grace@example.com --project-pattern webshop --env-pattern prod --yes",
    now: "acl revoke grace@example.com webshop/prod -y"
  },
  { old: "acl revoke --service-account ci --yes", now: "acl revoke account:ci -y" },
  { old: "acl revoke --group backend --yes", now: "acl revoke group:backend -y" },
  // Access, and what waits for people
  {
    who: "linus",
    old: "access request --env staging --permission read --for 1h --reason INC-12",
    now: "access request staging read --for 1h --reason INC-12"
  },
  { old: "approval list", now: "request list", wider: lists },
  {
    before: "use request GET https://api.stripe.com/v1/refunds --secret STRIPE_KEY",
    old: "approval approve ID",
    now: "request approve ID --yes",
    id: "approval list",
    wider: finds
  },
  {
    before: "use request GET https://api.stripe.com/v1/charges --secret STRIPE_KEY",
    old: "approval refuse ID",
    now: "request refuse ID",
    id: "approval list",
    wider: finds
  },
  { old: "org export list", now: "request list --kind export", wider: lists },
  {
    who: "grace",
    old: "org export approve ID --yes",
    now: "request approve ID --yes",
    id: "org export list",
    wider: finds
  },
  { old: "org export end ID", now: "request withdraw ID", id: "org export list", wider: finds },
  // Accounts
  {
    old: "service-account create deploy --project webshop --expires-in-days 90",
    now: "service-account create deploy --at webshop/* --for 90d"
  },
  {
    old: "service-account create panel --for dokploy --project webshop --env prod --expires-in-days 14",
    now: "service-account create panel --program dokploy --at webshop/prod --for 2w"
  },
  {
    old: "service-account trust ci --github acme/webshop --repository-id 74 --owner-id 65 --ttl 600 --expires-at 2099-01-31T08:00:00Z",
    now: "service-account trust ci --github acme/webshop --repository-id 74 --owner-id 65 --session-for 10m --until 2099-01-31T08:00Z"
  },
  // Webhooks
  {
    old: "webhook create https://hooks.example.com/a --event secret.* --environment webshop/prod --environment web-*/dev",
    now: "webhook create https://hooks.example.com/a --event secret.* --at prod --at acme/web-*/dev"
  },
  {
    old: "webhook edit ID --environment prod",
    now: "webhook edit ID --at */prod",
    id: "webhook list"
  },
  // Projects
  { old: "project get webshop", now: "project get acme/webshop" },
  { old: "project history --project webshop", now: "project history webshop" },
  {
    old: "project allow-previews --from dev --pattern pr-* --longest 7d",
    now: "project allow-previews --from webshop/dev --pattern pr-* --for 7d"
  },
  { old: "project previews --project webshop", now: "project previews webshop" },
  { old: "declare list --project webshop", now: "declare list webshop" },
  // Environments
  { old: "env list --project acme/webshop", now: "env list acme/webshop" },
  { old: "env create pr-0 --from dev", now: "env create pr-0 --from acme/webshop/dev" },
  { old: "env create pr-1 --from dev --expires 7d", now: "env create webshop/pr-1 --from dev --for 7d" },
  { old: "env extend pr-1 --expires 2035-01-01", now: "env extend pr-1 --until 2035-01-01" },
  { old: "env delete pr-1 --project webshop --yes", now: "env delete webshop/pr-1 -y" },
  { old: "env protect staging --self --expires-after 48h", now: "env protect staging --self --requests-wait 48h" },
  { old: "env revisions --env dev", now: "env revisions dev" },
  { old: "env revert --env dev --to 1 --dry-run", now: "env revert webshop/dev --to 1 --dry-run" },
  { old: "check --env dev", now: "check webshop/dev" },
  // Secrets
  { old: "secret set LEVEL debug --env dev", now: "set LEVEL=debug -e dev" },
  { old: "secret get LEVEL --project webshop --env dev", now: "get LEVEL -p webshop -e dev" },
  { old: "secret list --env dev", now: "ls dev" },
  { old: "secret export --env dev --format json", now: "secret export webshop/dev --format json" },
  { old: "secret due --within 90d", now: "secret due --for 90d" },
  {
    old: "secret edit API_KEY --expires 2035-01-31 --rotate-every 90d",
    now: "secret edit API_KEY --until 2035-01-31 --rotate-every 90d"
  },
  { old: "edit API_KEY --expires none", now: "edit API_KEY --until none" },
  {
    old: "use allow API_KEY --host a.test --path / --account ci --as-query key --expires-at 2999-01-31T08:00:00Z",
    now: "use allow API_KEY --host a.test --path / --account ci --as-query key --until 2999-01-31T09:00+01:00"
  },
  {
    old: "use edit API_KEY ID --expires-at 2999-02-01T08:00:00Z",
    now: "use edit API_KEY ID --until 2999-02-01T08:00Z",
    id: "use list API_KEY"
  },
  {
    old: "helper aws --access-key-id API_KEY --secret-access-key LEVEL --expires-in 1h",
    now: "helper aws --access-key-id API_KEY --secret-access-key LEVEL --for 1h"
  },
  // The log
  {
    old: "audit list --project webshop --env dev --action secret.set",
    now: "audit list webshop/dev --action secret.set"
  },
  { old: "audit list --project webshop --action secret.set", now: "audit list webshop/* --action secret.set" },
  {
    old: "audit list --env dev --action secret.set --since 24h",
    now: "audit list */dev --action secret.set --since 24h"
  },
  // Delegations come last: the lines behind them would take them.
  {
    old: "delegate --for claude --place acme/webshop/dev --ttl 2h --only API_KEY",
    now: "delegate acme/webshop/dev --name claude --for 2h --only API_KEY"
  },
  { old: "delegate --for nightly", now: "delegate --name nightly" }
]
