import type { Trusted } from "./Issuers.js"

interface Place {
  readonly server: string
  readonly audience: string
  /** `ORGANIZATION/ACCOUNT`. */
  readonly account: string
  readonly environment: string | undefined
}

/** JSON strings are YAML too. */
const quoted = (text: string) => JSON.stringify(text)

const github = ({ account, environment, server }: Place) => [
  "jobs:",
  "  deploy:",
  "    runs-on: ubuntu-latest",
  ...(environment === undefined ? [] : [`    environment: ${quoted(environment)}`]),
  "    permissions:",
  "      contents: read",
  "      id-token: write",
  "    env:",
  `      SERVICE_SERVER_URL: ${quoted(server)}`,
  `      SERVICE_ACCOUNT: ${quoted(account)}`,
  "    steps:",
  "      - uses: actions/checkout@v4",
  "      - run: coffer run ORG/PROJECT/ENV -- ./deploy.sh"
]

const gitlab = ({ account, audience, environment, server }: Place) => [
  "deploy:",
  ...(environment === undefined ? [] : [`  environment: ${quoted(environment)}`]),
  "  id_tokens:",
  "    SERVICE_ID_TOKEN:",
  `      aud: ${quoted(audience)}`,
  "  variables:",
  `    SERVICE_SERVER_URL: ${quoted(server)}`,
  `    SERVICE_ACCOUNT: ${quoted(account)}`,
  "  script:",
  "    - coffer run ORG/PROJECT/ENV -- ./deploy.sh"
]

const kubernetes = ({ account, audience, server }: Place, serviceAccount: string) => [
  "spec:",
  `  serviceAccountName: ${quoted(serviceAccount)}`,
  "  containers:",
  "    - name: app",
  "      env:",
  "        - name: SERVICE_SERVER_URL",
  `          value: ${quoted(server)}`,
  "        - name: SERVICE_ACCOUNT",
  `          value: ${quoted(account)}`,
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
  `              audience: ${quoted(audience)}`,
  "              expirationSeconds: 600"
]

const other = ({ account, audience, server }: Place) => [
  `# Put a token for the audience ${audience} into SERVICE_ID_TOKEN, or its path into SERVICE_ID_TOKEN_FILE.`,
  "env:",
  `  SERVICE_SERVER_URL: ${quoted(server)}`,
  `  SERVICE_ACCOUNT: ${quoted(account)}`
]

/** The configuration of a CI system or cluster that signs in, as YAML. */
export const ciSnippet = ({ conditions, system }: Trusted, place: Place): string => {
  const lines =
    system === "github"
      ? github(place)
      : system === "gitlab"
        ? gitlab(place)
        : system === "kubernetes"
          ? kubernetes(place, conditions["/kubernetes.io/serviceaccount/name"] ?? "")
          : other(place)
  return `${lines.join("\n")}\n`
}
