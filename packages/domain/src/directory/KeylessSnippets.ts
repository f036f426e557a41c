/** The lines for CI systems and clusters whose jobs sign in without a stored key, and those that install the client. */

export const keylessSystems = ["github", "gitlab", "kubernetes", "buildkite", "circleci", "other"] as const
export type KeylessSystem = (typeof keylessSystems)[number]

export interface KeylessUse {
  readonly server: string
  readonly audience: string
  /** `ORGANIZATION/ACCOUNT`. */
  readonly account: string
  /** The environment whose secrets the job gets: `ORG/PROJECT/ENV`, as one writes it. */
  readonly place: string
  /** The deployment environment of the CI system. */
  readonly environment?: string | undefined
  /** The service account of the cluster. */
  readonly serviceAccount?: string | undefined
  /** The version of the client. */
  readonly version: string
}

/** JSON strings are YAML too. */
const quoted = (text: string) => JSON.stringify(text)

/** Where the release was put, for runners to download it, and the sum of the package. */
const release = (version: string): ReadonlyArray<readonly [name: string, value: string]> => [
  ["COFFER_RELEASE", `https://downloads.example.com/coffer-${version}`],
  ["COFFER_SHA256", "the_sum_of_the_package_from_SHA256SUMS"]
]

const install = (version: string): ReadonlyArray<string> => [
  `curl --fail --silent --show-error --location --remote-name "$COFFER_RELEASE/coffer-${version}.tgz"`,
  `echo "$COFFER_SHA256  coffer-${version}.tgz" | sha256sum --check`,
  `npm install --global ./coffer-${version}.tgz`
]

const yaml = (indent: string, settings: ReadonlyArray<readonly [name: string, value: string]>) =>
  settings.map(([name, value]) => `${indent}${name}: ${quoted(value)}`)

const settings = ({ account, server }: KeylessUse): ReadonlyArray<readonly [string, string]> => [
  ["SERVICE_SERVER_URL", server],
  ["SERVICE_ACCOUNT", account]
]

/** The steps of a GitHub workflow that install the client. */
export const githubInstall = (version: string): ReadonlyArray<string> => [
  "      - name: Install coffer",
  "        env:",
  ...yaml("          ", release(version)),
  "        run: |",
  '          cd "$RUNNER_TEMP"',
  ...install(version).map((line) => `          ${line}`)
]

/** The variables and the commands of a GitLab job that install the client. */
export const gitlabInstall = (version: string) => ({
  variables: yaml("    ", release(version)),
  script: install(version).map((line) => `    - ${line}`)
})

/** The lines of a Dockerfile that install the client. */
export const imageInstall = (version: string): ReadonlyArray<string> => [
  "# The image has Node.js 20.19 or later, and the package of the release beside this file.",
  `COPY coffer-${version}.tgz /tmp/`,
  `RUN npm install --global /tmp/coffer-${version}.tgz`
]

const github = (use: KeylessUse) => [
  "jobs:",
  "  deploy:",
  "    runs-on: ubuntu-latest",
  ...(use.environment === undefined ? [] : [`    environment: ${quoted(use.environment)}`]),
  "    permissions:",
  "      contents: read",
  "      id-token: write",
  "    env:",
  ...yaml("      ", settings(use)),
  "    steps:",
  "      - uses: actions/checkout@v4",
  ...githubInstall(use.version),
  `      - run: coffer run ${use.place} -- ./deploy.sh`
]

const gitlab = (use: KeylessUse) => [
  "deploy:",
  '  image: "node:24"',
  ...(use.environment === undefined ? [] : [`  environment: ${quoted(use.environment)}`]),
  "  id_tokens:",
  "    SERVICE_ID_TOKEN:",
  `      aud: ${quoted(use.audience)}`,
  "  variables:",
  ...yaml("    ", settings(use)),
  ...gitlabInstall(use.version).variables,
  "  script:",
  ...gitlabInstall(use.version).script,
  `    - coffer run ${use.place} -- ./deploy.sh`
]

const kubernetes = (use: KeylessUse) => [
  "# In the Dockerfile of the image:",
  ...imageInstall(use.version).map((line) => (line.startsWith("#") ? line : `#   ${line}`)),
  "spec:",
  `  serviceAccountName: ${quoted(use.serviceAccount ?? "")}`,
  "  containers:",
  "    - name: app",
  `      command: ["coffer", "run", ${quoted(use.place)}, "--", "./app"]`,
  "      env:",
  ...settings(use).flatMap(([name, value]) => [`        - name: ${name}`, `          value: ${quoted(value)}`]),
  "      volumeMounts:",
  "        - name: coffer",
  "          mountPath: /var/run/secrets/coffer",
  "          readOnly: true",
  "  volumes:",
  "    - name: coffer",
  "      projected:",
  "        sources:",
  "          - serviceAccountToken:",
  "              path: token",
  `              audience: ${quoted(use.audience)}`,
  "              expirationSeconds: 600"
]

/** Buildkite replaces variables before it runs the commands, unless their dollar is doubled. */
const buildkite = (use: KeylessUse) => [
  "steps:",
  "  - label: deploy",
  "    env:",
  ...yaml("      ", [...settings(use), ...release(use.version)]),
  "    commands:",
  ...[
    ...install(use.version),
    `export SERVICE_ID_TOKEN="$(buildkite-agent oidc request-token --audience '${use.audience}' --claim pipeline_id)"`,
    `coffer run ${use.place} -- ./deploy.sh`
  ].map((line) => `      - ${line.replaceAll("$", "$$$$")}`)
]

const circleci = (use: KeylessUse) => [
  "jobs:",
  "  deploy:",
  "    docker:",
  '      - image: "cimg/node:lts"',
  "    environment:",
  ...yaml("      ", [...settings(use), ...release(use.version)]),
  "    steps:",
  "      - checkout",
  "      - run: |",
  ...[
    ...install(use.version),
    `export SERVICE_ID_TOKEN="$(circleci run oidc get --claims '${JSON.stringify({ aud: use.audience })}')"`,
    `coffer run ${use.place} -- ./deploy.sh`
  ].map((line) => `          ${line}`)
]

const other = (use: KeylessUse) => [
  "# Install coffer:",
  ...[...release(use.version).map(([name, value]) => `export ${name}=${value}`), ...install(use.version)].map(
    (line) => `#   ${line}`
  ),
  `# Put a token for the audience ${use.audience} into SERVICE_ID_TOKEN, or its path into SERVICE_ID_TOKEN_FILE.`,
  "env:",
  ...yaml("  ", settings(use))
]

const lines = { github, gitlab, kubernetes, buildkite, circleci, other } as const

/** The configuration of a CI system or cluster that signs in, as YAML. */
export const keylessSnippet = (system: KeylessSystem, use: KeylessUse): string => `${lines[system](use).join("\n")}\n`
