import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { stringify } from "yaml"

const rules = fileURLToPath(new URL("../../../../deploy/alerts.yaml", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "coffer-alerts-"))

afterAll(() => {
  rmSync(folder, { recursive: true })
})

const has = spawnSync("promtool", ["--version"], { stdio: "ignore" }).status === 0

const route = (path: string) => `route="/api/orgs/:org_name${path}",instance="a",job="coffer"`
const reads = route("/projects/:project_name/envs/:env_name/secrets/:key")
const uses = route("/projects/:project_name/envs/:env_name/use")

const every15s = (rise: number): string => `0+${rise}x120`

/** The buckets of answers that all take longer than half a second, and none longer than ten. */
const slow = (labels: string) =>
  ["0.5", "1", "10", "+Inf"].map((le) => ({
    series: `coffer_http_request_duration_seconds_bucket{le="${le}",method="POST",${labels}}`,
    values: every15s(le === "0.5" ? 0 : 100)
  }))

const fast = (labels: string) =>
  ["0.001", "0.5", "+Inf"].map((le) => ({
    series: `coffer_http_request_duration_seconds_bucket{le="${le}",method="GET",${labels}}`,
    values: every15s(1_000)
  }))

const answers = (labels: string, status: number, rise: number) => ({
  series: `coffer_http_requests_total{method="POST",status="${status}",${labels}}`,
  values: every15s(rise)
})

/** Whether alerts fire after half an hour of some series, or another time. */
const firing = (
  input_series: ReadonlyArray<object>,
  expected: Readonly<Record<string, boolean>>,
  eval_time = "29m"
): void => {
  // No alert is expected, so that promtool names those that fire, and no other.
  const alert_rule_test = Object.keys(expected).map((alertname) => ({ eval_time, alertname, exp_alerts: [] }))
  const file = join(folder, "test.yaml")
  const tests = [{ interval: "15s", input_series, alert_rule_test }]
  writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: "15s", tests }))
  const { stderr, stdout } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" })
  const found = Object.keys(expected).filter((name) => new RegExp(`alertname: ${name},`).test(stdout + stderr))
  const wanted = Object.keys(expected).filter((name) => expected[name])
  assert.deepStrictEqual(found, wanted, stdout + stderr)
}

describe.skipIf(!has)("deploy/alerts.yaml (needs promtool, of Debian's prometheus)", () => {
  it("does not take the other sides of uses for the server's own errors and slowness", () => {
    const made = { series: 'coffer_uses_total{instance="a",job="coffer"}', values: every15s(100) }
    const failed = {
      series: 'coffer_use_upstream_failures_total{reason="timeout",instance="a",job="coffer"}',
      values: every15s(80)
    }
    const series = [...fast(reads), ...slow(uses), answers(reads, 200, 1_000), answers(uses, 502, 80), made, failed]
    firing(series, { CofferErrors: false, CofferSlow: false, CofferUsesFail: true })
  })

  it("sees errors of the server in uses too, and slow reads", () => {
    const series = [...slow(reads), answers(reads, 200, 1_000), answers(uses, 500, 80)]
    firing(series, { CofferErrors: true, CofferSlow: true, CofferUsesFail: false })
    firing([answers(reads, 200, 1_000), answers(reads, 503, 80)], { CofferErrors: true })
  })

  it("names overdue secrets once they are an hour late, and no secrets that are only near", () => {
    const due = (state: string) => ({
      series: `coffer_secrets_due{state="${state}",instance="a",job="coffer"}`,
      values: "3+0x600"
    })
    firing([due("overdue")], { CofferSecretsOverdue: true }, "90m")
    firing([due("due")], { CofferSecretsOverdue: false }, "90m")
  })

  it("tells refused uses from spent budgets", () => {
    const refused = (reason: string) => ({
      series: `coffer_use_refusals_total{reason="${reason}",instance="a",job="coffer"}`,
      values: every15s(1)
    })
    firing([refused("rule")], { CofferUsesRefused: true, CofferUseBudgets: false })
    firing([refused("budget")], { CofferUsesRefused: false, CofferUseBudgets: true })
    firing([refused("approval")], { CofferUsesRefused: false, CofferUseBudgets: false })
  })
})
