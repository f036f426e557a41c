import { version } from "../../../package.json"
import { githubInstall, gitlabInstall, imageInstall } from "@coffer/domain/directory/KeylessSnippets"
import type { Piece } from "./Pieces.js"

/** Where a service account runs. */
export const targets = ["GitHub", "GitLab", "Kubernetes", "Docker", "systemd", "agent"] as const
export type Target = (typeof targets)[number]

export interface Use {
  readonly server: string
  readonly org: string
  readonly project: string
  readonly env: string
}

/** JSON strings are YAML too. */
const quoted = (text: string) => JSON.stringify(text)

const settings = ({ env, org, project, server }: Use): ReadonlyArray<readonly [string, string]> => [
  ["SERVICE_SERVER_URL", server],
  ["SERVICE_ORG", org],
  ["SERVICE_PROJECT", project],
  ["SERVICE_ENV", env]
]

const yaml = (use: Use, indent: string) => settings(use).map(([name, value]) => `${indent}${name}: ${quoted(value)}`)

const text = (...lines: ReadonlyArray<string>) => `${lines.join("\n")}\n`

const image: Piece = { what: "In the Dockerfile of the image:", lines: text(...imageInstall(version)) }

/** The exact lines for a target. None contains the key: it goes where secrets of the target go. */
export const piecesFor = (target: Target, use: Use): ReadonlyArray<Piece> => {
  switch (target) {
    case "GitHub":
      return [
        { what: "Store the key as a secret of the repository:", lines: text("gh secret set COFFER_API_KEY") },
        {
          what: "In the job of the workflow:",
          lines: text(
            "    env:",
            ...yaml(use, "      "),
            "      SERVICE_API_KEY: ${{ secrets.COFFER_API_KEY }}",
            "    steps:",
            "      - uses: actions/checkout@v4",
            ...githubInstall(version),
            "      - run: coffer run -- ./deploy.sh"
          )
        }
      ]
    case "GitLab":
      return [
        {
          what: "Store the key as a masked and protected variable of the project, named SERVICE_API_KEY. In .gitlab-ci.yml:",
          lines: text(
            "deploy:",
            '  image: "node:24"',
            "  variables:",
            ...yaml(use, "    "),
            ...gitlabInstall(version).variables,
            "  script:",
            ...gitlabInstall(version).script,
            "    - coffer run -- ./deploy.sh"
          )
        }
      ]
    case "Kubernetes":
      return [
        {
          what: "Store the key; the command reads it from standard input:",
          lines: text("kubectl create secret generic coffer --from-file=api-key=/dev/stdin")
        },
        image,
        {
          what: "In the pod:",
          lines: text(
            "spec:",
            "  containers:",
            "    - name: app",
            '      command: ["coffer", "run", "--", "./app"]',
            "      env:",
            ...settings(use).flatMap(([name, value]) => [
              `        - name: ${name}`,
              `          value: ${quoted(value)}`
            ]),
            "        - name: SERVICE_API_KEY",
            "          valueFrom:",
            "            secretKeyRef:",
            "              name: coffer",
            "              key: api-key"
          )
        }
      ]
    case "Docker":
      return [
        image,
        {
          what: "Put the key into a file that only you can read, deploy.key. In compose.yaml:",
          lines: text(
            "services:",
            "  app:",
            '    command: ["coffer", "run", "--", "./app"]',
            "    environment:",
            ...yaml(use, "      "),
            "      SERVICE_API_KEY_FILE: /run/secrets/coffer",
            "    secrets:",
            "      - coffer",
            "secrets:",
            "  coffer:",
            "    file: ./deploy.key"
          )
        }
      ]
    case "systemd":
      return [
        {
          what: "Install the executable of the release:",
          lines: text(
            `tar -xzf coffer-${version}-linux-x64.tar.gz`,
            `install -m 0755 coffer-${version}-linux-x64/coffer /usr/local/bin/coffer`
          )
        },
        {
          what: "Store the key, encrypted for this machine; the command reads it from standard input:",
          lines: text("systemd-creds encrypt --name=coffer - /etc/credstore.encrypted/coffer")
        },
        {
          what: "In the unit:",
          lines: text(
            "[Service]",
            "LoadCredentialEncrypted=coffer",
            "Environment=SERVICE_API_KEY_FILE=%d/coffer",
            ...settings(use).map(([name, value]) => `Environment=${name}=${value}`),
            "ExecStart=/usr/local/bin/coffer run -- /usr/local/bin/app"
          )
        }
      ]
    case "agent":
      return [
        {
          what: "Install coffer and coffer-mcp from the package of the release:",
          lines: text(`npm install --global ./coffer-${version}.tgz`)
        },
        {
          what: "Put the key into a file that only the agent can read. In the host's list of MCP servers:",
          lines: `${JSON.stringify(
            {
              mcpServers: {
                coffer: {
                  command: "coffer-mcp",
                  env: { ...Object.fromEntries(settings(use)), SERVICE_API_KEY_FILE: "/home/agent/coffer.key" }
                }
              }
            },
            null,
            2
          )}\n`
        }
      ]
  }
}
