import { assert, describe, it } from "vitest"
import { tree } from "../../src/Commands.js"
import { locate } from "../../src/grammar/Tree.js"
import { countProblem, readWords } from "../../src/grammar/Words.js"

/** The lines of a job. Names of places, people and keys are the same for all tools. */
interface Job {
  readonly job: string
  /** Those of 0.3.0. */
  readonly before: ReadonlyArray<string>
  readonly now: ReadonlyArray<string>
  /** The shortest that another tool documents for the same. */
  readonly peer: readonly [tool: string, ...lines: ReadonlyArray<string>]
}

const jobs: ReadonlyArray<Job> = [
  {
    job: "install",
    before: ["git clone https://example.com/coffer", "cd coffer", "npm ci", "npm start"],
    now: ["npm i -g coffer"],
    peer: ["op", "brew install 1password-cli"]
  },
  {
    job: "log in",
    before: ["coffer login"],
    now: ["coffer in"],
    peer: ["op", "op signin"]
  },
  { job: "tie a folder", before: ["coffer init"], now: ["coffer init"], peer: ["doppler", "doppler setup"] },
  {
    job: "three secrets",
    before: ["coffer secret set A 1", "coffer secret set B 2", "coffer secret set C 3"],
    now: ["coffer set A=1 B=2 C=3"],
    peer: ["doppler", "doppler secrets set A=1 B=2 C=3"]
  },
  {
    job: "run",
    before: ["coffer run -- npm start"],
    now: ["coffer run npm start"],
    peer: ["op", "op run --env-file .env -- npm start"]
  },
  {
    job: "run in prod",
    before: ["coffer run --env prod -- npm start"],
    now: ["coffer run -e prod npm start"],
    peer: ["doppler", "doppler run -c prod -- npm start"]
  },
  {
    job: "move a .env in",
    before: ["coffer secret import .env"],
    now: ["coffer import .env"],
    peer: ["gh", "gh secret set -f .env"]
  },
  {
    job: "a colleague for 4 hours",
    before: [
      "coffer acl grant --email grace@example.com --project-pattern webshop --env-pattern prod --permission read --expires 4h"
    ],
    now: ["coffer acl grant grace@example.com prod read --for 4h"],
    peer: ["op", "op vault user grant --vault prod --user grace@example.com --permissions allow_viewing"]
  },
  {
    job: "CI without a key",
    before: [
      "coffer service-account create ci --project webshop --no-key",
      "coffer acl grant --service-account ci --project-pattern webshop --env-pattern prod --permission read",
      "coffer service-account trust ci --github acme/webshop --ref refs/heads/main"
    ],
    now: [
      "coffer service-account create ci --no-key",
      "coffer acl grant account:ci prod read",
      "coffer service-account trust ci --github acme/webshop --ref refs/heads/main"
    ],
    peer: [
      "vault",
      "vault auth enable jwt",
      "vault write auth/jwt/config oidc_discovery_url=https://token.actions.githubusercontent.com bound_issuer=https://token.actions.githubusercontent.com",
      "vault policy write prod prod.hcl",
      "vault write auth/jwt/role/ci role_type=jwt user_claim=actor bound_claims=@claims.json policies=prod"
    ]
  },
  {
    job: "who changed it, and undo",
    before: ["coffer env revisions --env prod", "coffer env revert --env prod --to 12"],
    now: ["coffer env revisions prod", "coffer env revert prod --to 12"],
    peer: ["doppler", "doppler configs logs -c prod", "doppler configs logs rollback 5f1a2b3c -c prod"]
  }
]

/** Every key but Enter. */
const keystrokes = (lines: ReadonlyArray<string>): number => lines.reduce((sum, { length }) => sum + length, 0)

describe.each(jobs)("to $job", ({ before, job, now, peer }) => {
  it("takes lines that the client knows", () => {
    for (const line of now.filter((each) => each.startsWith("coffer ") && !each.startsWith("coffer run "))) {
      const found = locate(tree, line.split(" ").slice(1))
      if (found.type !== "command") assert.fail(line)
      const reading = readWords(found.leaf, found.words)
      if (reading.type !== "words") assert.fail(line)
      assert.isUndefined(countProblem(found.leaf, reading, line))
    }
  })

  it("takes no more keystrokes than before, or than another tool needs", () => {
    const [tool, ...lines] = peer
    assert.isAtMost(keystrokes(now), keystrokes(before), job)
    assert.isAtMost(keystrokes(now), keystrokes(lines), `${job} beside ${tool}`)
  })
})
